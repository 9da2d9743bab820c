// Initial solutions of the offset searches: greedy placements of one part.
#pragma once

#include "solver/offsets/offsets_model.h"

// Both offer their offsets to p. `order` lists the items by priority.
status offsets_skyline(struct offsets_part *p, const int32_t *order, struct offsets_work *work,
                       struct arena *a, struct diags *d); // not for parts with fixed items
status offsets_first_fit(struct offsets_part *p, const int32_t *order, struct offsets_work *work,
                         struct arena *a, struct diags *d);

// Orders to try: by length, area, size, the load of the busiest section that an item covers, and
// combinations. Kinds repeat after OFFSETS_ORDERS; from then on, the keys are perturbed.
#define OFFSETS_ORDERS 6
status offsets_order(const struct offsets_part *p, uint32_t kind, uint64_t seed, struct arena *a,
                     struct diags *d, int32_t *order);
