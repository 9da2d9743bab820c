// Proves that data dependencies enforce the order of a plan: every topological order of the graph,
// and so every runtime, executes the nodes with large tensors in the planned order. Checks the
// control dependencies of a plan, independently of passes/rewrite, which inserts them. Relies on
// g->order being topological and on the storages.
#pragma once

#include "ir/storage.h"

// A node is heavy when it writes or reads a storage of more than light_bytes; views are never
// heavy, they allocate nothing. light_bytes is the smallest limit for which the heavy nodes have
// only one topological order. Then the lifetimes of storages above light_bytes are the same in
// every execution order, and the other storages change the peak by at most loose_bytes.
struct forced {
    int64_t light_bytes;
    int64_t loose_bytes; // sum of all storages of at most light_bytes, without persistent ones
    size_t n_heavy;
    node_id before, after; // heavy at the next smaller limit, and not ordered; none: limit is 0
};

status forced_order(const struct graph *g, const struct storage *s, struct arena *a,
                    struct diags *d, struct forced *out);
