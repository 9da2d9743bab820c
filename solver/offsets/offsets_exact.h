// Exact search for offsets of one part within a capacity.
#pragma once

#include "solver/offsets/offsets_model.h"

#define OFFSETS_EXACT_ITEMS 2000

// Offers what it finds to p; raises p->bound above the capacity when it proves that nothing fits.
// `order` is the order in which items are tried where offsets tie. Needs p->near and at most
// OFFSETS_EXACT_ITEMS items.
status offsets_exact(struct offsets_part *p, int64_t capacity, const int32_t *order,
                     struct offsets_work *work, struct arena *a, struct diags *d);
