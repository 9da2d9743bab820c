// Lower bounds for every plan of a step: single nodes recomputed, in any order, as written for the
// runtime. They come from a relaxation (passes/remat/remat_relax.c), never from the problem that
// the search works on: that one runs whole clusters, and charges more memory than a plan may need.
#pragma once

#include "passes/pass.h"
#include "passes/remat/remat.h"
#include "solver/solve.h"

struct plan_bounds {
    struct remat_relaxed relaxed;
    struct pass_context *c;
    bool is_known; // false: there is nothing to bound
};

// `units` are those of the step; the runtime is that of --runtime, with or without the session in
// all peaks.
status plan_bounds_make(const struct graph *step, const struct remat_units *units,
                        bool counts_session, struct pass_context *c, struct plan_bounds *out);

struct plan_limit {
    int64_t budget_bytes;
    int64_t cost;   // of a plan within it: no bound is above; < 0: none is known
    double seconds; // <= 0: no limit, so that the bound is the same in every run
};

struct plan_bound {
    int64_t cost;           // no plan within the budget costs less; BOUND_NONE: none is known
    int64_t min_bytes;      // no plan has a lower peak, at any cost; 0: none is known
    const int32_t *forcing; // nodes of the relaxation that are in memory together at that peak
    int32_t n_forcing;
};

status plan_bounds_within(const struct plan_bounds *b, const struct plan_limit *limit,
                          struct plan_bound *out);

// No plan that costs at most max_cost has a lower peak; 0: no bound is known.
status plan_bounds_min_bytes(const struct plan_bounds *b, int64_t max_cost, int64_t *min_bytes);
