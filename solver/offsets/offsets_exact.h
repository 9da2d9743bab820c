// Exact search for offsets of one part within a capacity.
#pragma once

#include "solver/offsets/offsets_model.h"

enum offsets_found {
    OFFSETS_FOUND,   // p->best fits the capacity
    OFFSETS_NONE,    // proved: nothing fits; p->bound was raised above the capacity
    OFFSETS_UNKNOWN, // out of work
};

#define OFFSETS_EXACT_ITEMS 2000

// `order` is the order in which items are tried where offsets tie. NULL arena room: ST_LIMIT.
// Needs p->near and at most OFFSETS_EXACT_ITEMS items.
status offsets_exact(struct offsets_part *p, int64_t capacity, const int32_t *order,
                     struct offsets_work *work, struct arena *a, struct diags *d,
                     enum offsets_found *found);
