// Initial solutions for the search, in about linear time: cut the order at its peak, evict across
// the cut the tensors that are cheapest to recompute, and recompute each before its first use
// (initial_cut.h). Several divisions of the order are tried, from none to very fine ones. If no
// schedule fits, the best sequence becomes an order of its own, in which every run is a node, and
// is cut again at its peak: this nests checkpoints within checkpoints.
//
// For training graphs the initial solution is often within a fraction of a percent of the best
// known schedule.
#pragma once

#include "ir/base/stop.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

// The cheapest sequence found within the budget, or, if none fits, the one that exceeds it least.
// First runs follow the given order. `stop` may be NULL. False: out of memory.
bool initial_by_cuts(const struct problem *p, int64_t budget_bytes, const struct stop *stop,
                     struct arena *a, struct sequence *out);

// The sequence of smallest peak found that costs at most max_cost, which is at least the base cost.
// False: out of memory.
bool initial_min_peak(const struct problem *p, int64_t max_cost, const struct stop *stop,
                      struct arena *a, struct sequence *out);
