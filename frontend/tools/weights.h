// The parameters of a finished step as a model of their own. Some runtimes, such as ONNX Runtime's
// JavaScript bindings, cannot feed a new value for an initializer: for these the parameters become
// plain inputs, and a second model provides their initial values.
#pragma once

#include "ir/base/file.h"
#include "ir/graph.h"

// Writes a model without nodes whose outputs are the parameters (initializers that are inputs too),
// with the same names: one run gives the initial values. It becomes visible with `together`.
status weights_write(const struct model *m, const char *path, struct outputs *together,
                     struct diags *d);

// Makes the parameters plain inputs.
void weights_detach(struct model *m);
