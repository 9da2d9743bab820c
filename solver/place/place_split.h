// Contiguous splits of least largest load, transfers included (place_split.c).
#pragma once

#include "solver/model/placement.h"

// Splits the groups in this order over the devices in theirs. Fills the device of each group;
// *load = INT64_MAX: there is no split, and no device is filled in. False: out of memory.
bool place_split(const struct placement *p, const int32_t *order, struct arena *scratch,
                 int32_t *device, int64_t *load);
