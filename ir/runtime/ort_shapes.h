// Which shapes ONNX Runtime knows before it runs a written file. Its planner uses a dying buffer
// for a new tensor only when it knows both shapes; where it knows none, every tensor has a buffer
// of its own, from the node that makes it to the last one that reads it.
#pragma once

#include "ir/graph.h"

// What a file says of itself: inputs, initializers, outputs and value_info.
bool ort_shapes_declared(const struct graph *g, value_id v);

// Whether shape inference finds the shapes of a node's outputs, given known[v] for all its inputs.
// Ids from n_known on are not known.
bool ort_shapes_inferred(const struct graph *g, node_id n, const bool *known, size_t n_known);

// The operand to hide when the shapes of the outputs should not be found; n_in: there is none.
uint32_t ort_shapes_operand(const struct graph *g, node_id n);

// known[v] for every value of the graph, in topological order; NULL: no room.
bool *ort_shapes_known(const struct graph *g, struct arena *a);
