// Polishing a strategy of the placement search: the rematerialization solver (solve.h) plans the
// recomputations of one device anew. Transfers to and from the device, and the order of the first
// runs of its nodes, stay.
#pragma once

#include "ir/base/stop.h"
#include "solver/place/mcmc.h"

struct polish_effort {
    const struct stop *stop;
    double seconds;        // for all devices together; 0: no limit
    int64_t work_per_node; // units of the solver's work
    double gap;            // optimality gap at which the solver stops
    uint64_t seed;
    const char *worker_path; // see solve.h
};

// Polishes one device after the other. A result is taken if it has less excess over memory, or the
// same and a better objective. `s` must be valid. *out is in the arena; out->n = 0: there is no
// improvement. ST_LIMIT: out of memory.
status place_polish(const struct placement *p, const struct mcmc_objective *objective,
                    const struct polish_effort *effort, struct strategy s, struct arena *a,
                    struct strategy *out);
