// The order in which ONNX Runtime runs the nodes of a written file. It does not follow the file:
// see ort_order.c. The rule is exact for what no optimization changes; where one fuses or merges
// nodes, only what data dependencies fix stays in its place, which is why passes/rewrite adds some.
#pragma once

#include "ir/graph.h"

struct ort_order {
    node_id *at; // nodes of the main graph, without Constant nodes, which become initializers
    size_t n;
};

// The graph must be in a topological order, which is taken as the order of the file.
status ort_order(const struct graph *g, struct arena *a, struct diags *d, struct ort_order *out);

// Has this operator no CPU kernel, so that ONNX Runtime replaces the node by the operator's
// definition, behind all other nodes?
bool ort_inlines(enum op op);
