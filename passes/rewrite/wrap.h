// Puts a finished plan into a branch of an If: see wrap.c. The pass `wrap` does it in a pipeline.
#pragma once

#include "passes/pass.h"

// False for a model with functions, training information or annotations that refer to names of its
// graph, without an input that can be a token, or without an output that a node computes.
bool wrap_is_possible(const struct model *m);

// The last change of a model before it is written, after its weights were detached and its devices
// annotated. Where it is not possible, the model stays as it is.
status wrap_model(struct model *m, struct pass_context *c);
