// Large neighbourhoods: the best schedule so far, improved window by window. Most of it stays as it
// is; for the nodes of a window, neighbours in the order of first executions, an integer program
// chooses anew what is kept and what runs again. The order is that of the schedule, so whatever
// order a search has found is improved further, and graphs of any size fall into small programs.
#pragma once

#include "solver/solve.h"

struct lns_effort {
    double seconds;  // for all windows together; <= 0: only the run's own limits
    int32_t n_nodes; // of each search tree, for repeatable runs; 0: no limit
};

// One pass over the order. Offers what it finds to the run, with letter 'W'; without an incumbent
// there is nothing to do.
status lns_run(struct solve_run *r, const struct lns_effort *effort);
