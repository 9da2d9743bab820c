// How much of an order is forced: which nodes of a graph run one after the other whatever order a
// runtime takes, because each needs the one before. The check of the control dependencies in a
// plan; it knows nothing of how they are made.
#pragma once

#include "ir/storage.h"

// A node is heavy when it makes or reads a storage of more than light_bytes (views excepted, for
// they hold nothing). The smallest light_bytes is found for which the heavy nodes are forced into
// the order that they have in `order`: then no order that a runtime may take changes when storages
// above it live, and the others together can move the peak by at most loose_bytes.
struct forced {
    int64_t light_bytes;
    int64_t loose_bytes; // all storages of at most light_bytes together, but for the fixed ones
    size_t n_heavy;
    node_id before, after; // heavy nodes of the next smaller light_bytes that are not in order
};

status forced_order(const struct graph *g, const struct storage *s, struct arena *a,
                    struct diags *d, struct forced *out);
