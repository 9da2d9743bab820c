// Puts a finished plan into a branch of an If: see wrap.c. The pass `wrap` does it in a pipeline.
#pragma once

#include "passes/pass.h"

// The last change of a model before it is written, after its weights were detached and its devices
// annotated. *is_wrapped (may be NULL) tells whether it was possible; if not, the model stays as it
// is: it has functions, training information or annotations that refer to names of its graph, no
// input that can be a token, or no output that a node computes.
status wrap_model(struct model *m, struct pass_context *c, bool *is_wrapped);
