// The option --accumulate: the number of steps whose gradients are added before an update.
#pragma once

#include "ir/base/options.h"

#define ACCUMULATE_AUTO 0 // the planner chooses (frontend/micro_batches.h)
#define MAX_ACCUMULATE  1000000

// From 1 on, or ACCUMULATE_AUTO; -1: the value is neither.
int64_t accumulate_steps(const struct options *o);
