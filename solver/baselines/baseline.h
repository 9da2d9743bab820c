// What the published baselines share: the forward part, the places where it may be cut, and trying
// out reversals.
#pragma once

#include "solver/baselines/reversal.h"
#include "solver/methods.h"

struct baseline {
    struct solve_run *run;
    int32_t n_forward;
    bool *may_end;       // per forward node: a unit may end here
    int32_t *candidates; // the same as a list
    int32_t n_candidates;
};

// Any node (linear), or the articulation points of the forward part. Without knowledge of the
// forward part, it is taken to end where the given order has its peak, and a note says so.
status baseline_open(struct solve_run *r, bool linear, struct baseline *out);

// Makes the reversal with these ends and offers it, in every style; binomial with `states` slots,
// or multilevel with `states` between parts.
enum baseline_plan { BASELINE_MULTILEVEL, BASELINE_BINOMIAL };
status baseline_try(struct baseline *b, const bool *ends, enum baseline_plan plan, int32_t states);
