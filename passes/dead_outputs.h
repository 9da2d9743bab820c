// Drops dead outputs of a node, such as the indices of a MaxPool whose recomputation feeds the
// backward pass. ONNX Runtime computes them, and since it frees a tensor after its last reader, it
// never frees them. Only optional outputs are dropped; not the mask of a Dropout, which keeps the
// node random (rewrite_masks.c), nor where the number of outputs selects what the operator does.
#pragma once

#include "ir/graph.h"

// Whether output k is dropped when it is dead.
bool dead_outputs_may_drop(const struct node *n, uint32_t k);

// `is_live` is per value.
void dead_outputs_drop(struct graph *g, struct node *n, const bool *is_live);
