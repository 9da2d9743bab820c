// Low-rank adapters (Hu et al. 2021): a weight W stays as it is, and left · right is added to it,
// two matrices of few columns and rows, which alone are trained.
#pragma once

#include "passes/pass.h"

// Of the values chosen for training, keeps the adapters, those that --train names, and inputs.
// Without --lora: all.
void lora_restrict(const struct graph *g, const struct options *o, bool *trained);
