// A start for the search, in O(m log n): look at the peak of the given order only, let go of the
// tensors that wait across it and are cheapest to compute again per byte, as many as it takes, and
// run them again when they are first needed after the peak. It is a knapsack solved greedily; for a
// training graph it is often within a few percent of the best schedule, and it costs next to
// nothing on graphs of any size.
#pragma once

#include "solver/problem.h"
#include "solver/sequence.h"

// The sequence that fits the budget with the fewest tensors let go, or the one of least peak when
// none fits. First runs come in the given order. False: no room.
bool start_greedy(const struct problem *p, int64_t budget_bytes, struct arena *a,
                  struct sequence *out);
