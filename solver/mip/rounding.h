// Two-phase rounding (rounding.c) as a part of another method.
#pragma once

#include "solver/solve.h"

// The relaxations of the cut models for the budget and some smaller ones, rounded at several
// thresholds, in so many seconds (<= 0: no limit but the run's). Offers schedules, and bounds for
// the given order, to the run with letter 'R'.
status rounding_run(struct solve_run *r, double seconds);
