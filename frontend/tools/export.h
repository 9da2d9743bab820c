// From the state of a training step back to a model for inference: the model that the step was made
// from, with its trained parameters and running statistics, and training mode off.
#pragma once

#include "frontend/tools/training_state.h"
#include "passes/pass.h"

struct exported {
    int64_t n_replaced;     // tensors of the state that are in the model
    int64_t n_changed;      // of these, with other types: converted
    int64_t n_merged;       // weights that an adapter of the state has changed
    int64_t n_left;         // tensors of the state that are the optimizer's
    int64_t n_untouched;    // float initializers of the model that the state does not have
    struct tensors trained; // the state without the optimizer's: what goes on top of the model
};

// Changes the model in place; it then refers to the files of the state. DIAG_STATE: a tensor of the
// state is not in the model, or has another shape.
status export_model(struct model *m, const struct tensors *state, struct pass_context *c,
                    struct exported *out);
