// Shared by the published baselines: the forward part, the candidates for segment ends, and trying
// out reversals.
#pragma once

#include "solver/baselines/reversal.h"
#include "solver/methods.h"

struct baseline {
    struct solve_run *run;
    int32_t n_forward;
    bool *may_end;       // per forward node: a unit may end here
    int32_t *candidates; // those nodes, as a list
    int32_t n_candidates;
};

// Candidates are all forward nodes (linear), or the articulation points of the forward part. If the
// problem does not mark the forward part, it is assumed to end at the peak of the given order, and
// a note reports that.
status baseline_open(struct solve_run *r, bool linear, struct baseline *out);

// Makes reversals with these unit ends, one per style, and offers them to the run. `states` is the
// number of stored states: in total for a binomial plan, per level for a multilevel one.
enum baseline_plan { BASELINE_MULTILEVEL, BASELINE_BINOMIAL };
status baseline_try(struct baseline *b, const bool *ends, enum baseline_plan plan, int32_t states);
