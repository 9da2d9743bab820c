// What the files of the layout share beyond layout.h.
#pragma once

#include "passes/layout/layout.h"
#include "solver/offsets.h"

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

// Offsets for buffers (layout_offsets.c); `work` as in layout_options.
status layout_place(const struct buffer *list, size_t n, int64_t work, struct arena *a,
                    struct diags *d, const struct stop *stop, int64_t *offset, int64_t *arena_bytes,
                    int64_t *bound);

// What a dynamic pool takes from the system (layout_pool.c).
status layout_pool_bytes(const struct graph *g, bool by_class, struct arena *a, struct diags *d,
                         int64_t *out);
