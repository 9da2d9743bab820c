// What the files of the layout share beyond layout.h.
#pragma once

#include "passes/layout.h"

// Storages on their way to buffers (layout_buffers.c).
struct layout_groups {
    const struct graph *g;
    struct storage s;
    struct liveness live;
    uint32_t *group;     // per storage: the first of those that share its buffer
    uint32_t *buffer;    // per storage: its buffer, once made
    uint32_t *n_readers; // per storage: nodes that read it, views apart
    node_id *reader;     // the latest of them
    size_t n_in_place;
};

// Buffers without offsets; out->stream must be set.
status layout_buffers(const struct graph *g, bool in_place, struct arena *a, struct diags *d,
                      struct layout *out);

// What a dynamic pool takes from the system (layout_pool.c).
status layout_pool_bytes(const struct graph *g, bool by_class, struct arena *a, struct diags *d,
                         int64_t *out);
