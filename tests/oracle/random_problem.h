// Random problems for tests: a function of (seed, index) alone.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "solver/model/problem.h"

struct random_spec {
    uint64_t seed, index;
    int32_t max_nodes;
    bool plain;
};

// 2 .. max_nodes nodes of several kinds (sparse and dense DAGs, chains with a mirrored backward
// part), sizes and costs of several spreads, sometimes with kept nodes, workspaces, `once` nodes
// and persistent memory (`plain` leaves these four out).
status random_problem(struct arena *a, struct diags *d, struct random_spec spec,
                      struct problem *out);

// A chain of `layers` forward nodes and as many backward ones, where backward node i reads the
// backward node before it and the forward nodes i and i - 1: what training makes of a network. All
// of the same size and cost.
status random_problem_chain(struct arena *a, struct diags *d, int32_t layers, int64_t bytes,
                            int64_t cost, struct problem *out);
