// The parameters of a finished step, apart from it. Some runtimes cannot feed a new value for an
// initializer (ONNX Runtime's JavaScript bindings among them): for these the parameters become
// plain inputs, and a model of its own hands out what they start from.
#pragma once

#include "ir/graph.h"

// Writes a model without nodes whose outputs are the parameters (initializers that are inputs too),
// under their names: run once, it gives the values to feed first.
status weights_write(const struct model *m, const char *path, struct diags *d);

// Makes the parameters plain inputs.
void weights_detach(struct model *m);
