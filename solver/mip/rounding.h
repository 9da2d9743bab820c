// Two-phase rounding of LP relaxations (rounding.c), for other methods.
#pragma once

#include "solver/solve.h"

// Solves the LP relaxations of the cut models for the budget and some smaller ones, and rounds them
// at several thresholds, in at most `seconds` (<= 0: no limit but the run's). Offers schedules, and
// bounds for the given order, to the run with letter 'R'.
status rounding_run(struct solve_run *r, double seconds);
