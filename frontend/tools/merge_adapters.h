// Low-rank adapters of a state (passes/adapt/lora.c) into the weights that they change.
#pragma once

#include "frontend/tools/training_state.h"

// Whether a tensor of a state is part of an adapter.
bool adapter_is_part(const char *name);

// W becomes W + scale · left · right for every adapter of the state. DIAG_STATE: the model does not
// have the weight, or the shapes do not fit.
status merge_adapters(struct model *m, const struct tensors *state, struct diags *d,
                      int64_t *n_merged);
