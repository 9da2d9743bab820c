// --accumulate auto: into how many micro-batches a batch is divided, so that a sample takes the
// least time within the budget. The gradients of the micro-batches are added up, and a step of its
// own applies them (--update).
#pragma once

#include "frontend/pipeline.h"

// Tries divisors of the batch, from 1 on, each with a plan of its own, and puts the options of the
// best one into the context. Larger ones are not tried once a plan recomputes nothing. The model is
// read only. Errors are those of the plan of the whole batch.
status micro_batches_choose(struct pipeline *p);
