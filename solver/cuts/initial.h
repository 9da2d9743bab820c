// A start for the search, in about linear time: cut the order at its peak, let go across the cut
// what is cheapest to have again, and run it again when it is first needed (initial_cut.h). Several
// divisions of the order are tried, from none to very small ones. When no schedule fits, the best
// one so far is taken for an order of its own, in which every run is a node, and cut again at its
// peak: so come checkpoints within checkpoints.
//
// For training graphs the start is often within a fraction of a percent of the best schedule.
#pragma once

#include "ir/base/stop.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

// The cheapest sequence that was found to fit the budget, or, when none fits, the one that is over
// it the least. First runs come in the given order. `stop` may be NULL. False: no room.
bool initial_by_cuts(const struct problem *p, int64_t budget_bytes, const struct stop *stop,
                     struct arena *a, struct sequence *out);

// The sequence of least peak that was found to cost no more than that; at least the base cost.
bool initial_min_peak(const struct problem *p, int64_t max_cost, const struct stop *stop,
                      struct arena *a, struct sequence *out);
