// The search for pipelines of stages: a problem with modes in, checked stages out.
//
// Simulated annealing over states that are simple to change: an order of the nodes, and for each
// node a mode, a first device and a number of replicas (stage_state.h). Consecutive nodes on the
// same devices are a stage. Cycles of annealing start from the incumbent, or from the best
// contiguous split of some order (stage_split.c): the dynamic program of PipeDream and Piper, with
// the modes of each stage chosen greedily as in a knapsack. Small problems are enumerated
// (stage_exact.c). One thread; the result depends on the
// seed and the work alone.
#pragma once

#include "ir/base/stop.h"
#include "solver/modal/stages.h"
#include "solver/place/mcmc.h"

struct stage_options {
    struct mcmc_objective objective;
    int64_t n_samples; // in a step; 0: an endless stream
    double seconds;    // <= 0: no limit
    int64_t work;      // proposals; <= 0: no limit
    uint64_t seed;
    const struct stages *initial; // or NULL
};

struct stage_result {
    struct stages best; // best.n = 0: none within memory was found
    struct stages_facts facts;
    double value;
    double bound; // no stages have a lower value; -INFINITY: no bound is known
    int64_t n_proposals;
    int64_t min_excess_bytes; // of a state that was seen
};

// ST_OK: stages within memory. ST_NO_PLAN: none were found. Any other status comes with a
// diagnostic.
status stage_search(const struct modal *p, const struct stage_options *o, const struct stop *stop,
                    struct arena *a, struct diags *d, struct stage_result *out);
