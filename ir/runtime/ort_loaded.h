// What a session of ONNX Runtime holds before its first run, beside the library itself: its
// registries, the nodes, values and names of the graph, and the initializers.
//
//     total after run i = ort_loaded_bytes(m, is_wrapped) + session.run_bytes[i]    (ort_session.h)
//
// Initializers are held once. The rest is a sum over counts of the written graph; ort_loaded.c has
// the weights and their error.
#pragma once

#include "ir/graph.h"

// Bytes of a session of the model as it is written. `is_wrapped`: in a branch of an If
// (passes/rewrite/wrap.c).
int64_t ort_loaded_bytes(const struct graph *g, bool is_wrapped);

// The same without the initializers, but with what kernels make of them.
int64_t ort_loaded_graph_bytes(const struct graph *g, bool is_wrapped);

// Whether the kernel of a product packs its second operand, a constant matrix, when the session is
// made, and how much that takes. Each node makes a copy of its own.
bool ort_packs(const struct graph *g, const struct node *n, int64_t *n_bytes);

// Less than ort_loaded_graph_bytes of any graph with these inputs and outputs.
int64_t ort_loaded_least_bytes(const struct graph *g);
