// What the files of the layout share beyond layout.h.
#pragma once

#include "passes/layout/layout.h"
#include "solver/offsets.h"

// Buffers without offsets (layout_buffers.c); out->stream must be set.
status layout_buffers(const struct graph *g, bool in_place, struct arena *a, struct diags *d,
                      struct layout *out);

// Offsets for buffers (layout_offsets.c).
struct layout_task {
    const struct buffer *list;
    size_t n;
    int64_t work; // as in layout_options
    struct arena *a;
    struct diags *d;
    const struct stop *stop;
};

struct layout_offsets {
    int64_t *offset; // per buffer
    int64_t arena_bytes;
    int64_t bound_bytes; // no arena for these buffers is smaller
};

status layout_offsets_find(const struct layout_task *t, struct layout_offsets *out);

// The bytes that a dynamic pool takes from the system (layout_pool.c).
status layout_pool_bytes(const struct graph *g, bool by_class, struct arena *a, struct diags *d,
                         int64_t *out);
