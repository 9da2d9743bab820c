// The functions that methods.def names.
#pragma once

#include "solver/solve.h"

#define METHOD(name, function, baseline, summary) status function(struct solve_run *r);
#include "solver/methods.def"
#undef METHOD
