// Local search for offsets of one part within a capacity, by ejection chains.
#pragma once

#include "solver/offsets/offsets_model.h"

// Starts from p->best, which must be valid, and improves it when it finds offsets that fit.
status offsets_eject(struct offsets_part *p, int64_t capacity, uint64_t seed,
                     struct offsets_work *work, struct arena *a, struct diags *d);
