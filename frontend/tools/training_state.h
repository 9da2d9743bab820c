// The state of a training step: parameters, running statistics, and the state of the optimizer. It
// is what a training loop feeds back: every output next(NAME) is the input NAME of the next step.
// The file of the starting state and a checkpoint are the same: named tensors, as safetensors or as
// an ONNX model of constants.
#pragma once

#include "ir/graph.h"
#include "ir/state/tensors.h"

// The models that a starting state is made of: a step, also the step that applies accumulated
// gradients, and, if the steps do not hold their weights, the model that they were made from.
struct state_sources {
    const struct model *step[2]; // the second may be NULL
    const struct model *model;   // may be NULL
};

// The starting state of the steps together.
status state_start(const struct state_sources *from, struct arena *a, struct diags *d,
                   struct tensors *out);

// An error if there is none.
status state_require(const struct tensors *start, const struct model *step, struct diags *d);

// Writes safetensors, unless the path ends with .onnx: then a model without nodes, whose outputs
// are the tensors. `like` gives its operator set. `together`: the file becomes visible with these;
// NULL: at once.
status state_write(const struct tensors *t, const struct model *like, const char *path,
                   struct outputs *together, struct diags *d);

// Reads either form. The tensors refer to the file: keep both open. Only one of `*source` and
// `*model` is set; the caller closes it.
struct state_file {
    struct tensors tensors;
    struct source *source;
    struct model *model;
};
status state_read(const char *path, struct arena *a, struct pool *names, struct diags *d,
                  struct state_file *out);
void state_close(struct state_file *f);

// The value of the model that a tensor of the state stands for: an initializer, the result of a
// Constant or ConstantOfShape, or an input. VALUE_NONE: there is none.
value_id state_find(const struct graph *g, const char *name);
// Its tensor: the initializer, or that of the Constant node; NULL: it has none.
const struct tensor *state_constant(const struct graph *g, value_id v);
// Gives it another tensor, of the same type and shape. What had no value becomes an initializer.
status state_put(struct model *m, value_id v, struct tensor *t, struct diags *d);
