// Polishing a strategy of the placement search: what one device does is planned anew by the
// rematerialization solver (solve.h: priced cuts, annealing, rounding and the integer program),
// while everything else stays: what it is sent and when it sends, and the order in which it runs
// each of its nodes for the first time. Only what it runs again, and when, changes.
#pragma once

#include "ir/base/stop.h"
#include "solver/place/mcmc.h"

struct polish_effort {
    const struct stop *stop;
    double seconds;        // for all devices together; 0: no limit
    int64_t work_per_node; // units of the solver's work
    double gap;            // how near to the bound is near enough
    uint64_t seed;
    const char *worker_path; // see solve.h
};

// One device after the other, as long as it makes the strategy better: fewer bytes over memory, or
// as many and a better objective. `s` must be right. *out is in the arena; false in *better: `s`
// stays as it is. ST_LIMIT: no room.
status place_polish(const struct placement *p, const struct mcmc_objective *objective,
                    const struct polish_effort *effort, struct strategy s, struct arena *a,
                    struct strategy *out, bool *better);
