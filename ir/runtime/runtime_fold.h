// Constant folding by ONNX Runtime's optimization levels from basic on: see runtime_fold.c.
#pragma once

#include "ir/graph.h"

// Whether those levels fold a node of the graph.
bool runtime_folds(const struct graph *g);

// Turns the nodes that are folded into Constants, whose results are persistent. The result is for
// analysis only: a folded node has no payload.
void runtime_fold(struct graph *g);
