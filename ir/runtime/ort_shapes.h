// Which shapes ONNX Runtime knows before it executes a written file. Its memory planner reuses a
// dead buffer for a new tensor only when both shapes are known. A tensor of unknown shape gets a
// buffer of its own, allocated at its producer and freed after its last reader.
#pragma once

#include "ir/graph.h"

// Whether the file declares the shape: an input, initializer, output or value_info with static
// dimensions.
bool ort_shapes_declared(const struct graph *g, value_id v);

// Whether shape inference finds the output shapes of a node, given known[v] for its inputs. Values
// with ids of n_known or more count as unknown.
bool ort_shapes_inferred(const struct graph *g, node_id n, const bool *known, size_t n_known);

// The operand to hide so that inference does not find the output shapes; n_in: there is none.
uint32_t ort_shapes_operand(const struct graph *g, node_id n);

// known[v] for every value of the graph, whose order must be topological; NULL: out of memory.
// `is_wrapped`: the graph is a branch, whose outputs are not declared (passes/rewrite/wrap.c).
bool *ort_shapes_known(const struct graph *g, bool is_wrapped, struct arena *a);
