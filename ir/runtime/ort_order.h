// The order in which ONNX Runtime executes the nodes of a written file, which is not the order in
// the file: ort_order.c has the algorithm. The model is exact for a graph that ONNX Runtime's
// optimizer leaves unchanged. Where the optimizer fuses or merges nodes, only data dependencies fix
// the order; therefore passes/rewrite adds control dependencies.
#pragma once

#include "ir/graph.h"

struct ort_order {
    node_id *at; // nodes of the main graph except Constant nodes, which become initializers
    size_t n;
};

// g->order must be a topological order; it is taken as the file order. `out->at` is allocated in
// `a`.
status ort_order(const struct graph *g, struct arena *a, struct diags *d, struct ort_order *out);
