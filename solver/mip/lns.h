// Large neighbourhood search (Shaw, 1998): improves the incumbent window by window. A window is a
// range of nodes in the incumbent's order of first runs. An integer program decides anew which of
// its tensors are kept and recomputed; the rest of the schedule is fixed. The order of the
// incumbent stays, so this improves the result of any search, and the programs are small for any
// graph.
#pragma once

#include "solver/solve.h"

struct lns_effort {
    double seconds;  // for all windows together; <= 0: no limit but the run's
    int32_t n_nodes; // branch-and-bound nodes per window, for repeatable runs; 0: no limit
};

// One pass over the order. Offers schedules to the run with letter 'W'. Does nothing without an
// incumbent.
status lns_run(struct solve_run *r, const struct lns_effort *effort);
