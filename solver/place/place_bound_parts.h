// Lower bounds of placements, by part (place_bound.c puts them together, place.h is the door).
#pragma once

#include "solver/model/placement.h"

// Raises *bound, a proven lower bound on the largest load of any strategy, by packing
// (place_pack.c). False: out of memory.
bool place_bound_pack(const struct placement *p, struct mem *mem, int64_t *bound);

// The least largest load of any strategy, for few nodes on two devices (place_least.c); without
// `duplicates`, of those where every node runs on one device. `on`, unless NULL: of each node the
// devices in a strategy of that load, the k-th bit for device k. 0: nothing is proven.
int64_t place_bound_least(const struct placement *p, bool duplicates, int32_t *on);

enum { PLACE_LEAST_MAX_NODES = 10 };
