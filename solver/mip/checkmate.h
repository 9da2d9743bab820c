// Checkmate's integer program as published (Jain et al., MLSys 2020): stages that advance the
// frontier by one node, lower-triangular S (kept from stage to stage) and R (computed in a stage),
// FREE (freed after a computation), U (bytes in use), all in one program without lazy rows.
//
// Serves as a reference formulation and a cross-check on small graphs; ilp.h scales further. Its
// schedules run a node at most once per stage, in topological order. Some problems have cheaper
// schedules outside this class.
#pragma once

#include "solver/mip/cbc.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

struct checkmate_result {
    bool proven;             // best is optimal within the class
    bool claimed_infeasible; // CBC claims that no schedule of the class fits the budget
    int64_t cost;            // of best, or INT64_MAX
    int64_t bound;           // lower bound on the cost, within the class
    struct sequence best;    // n = 0: none
    bool initial_used;       // the initial solution was used
    int32_t n_cols, n_rows;
};

enum checkmate_form {
    CHECKMATE_F0, // as published: one row for all hazards of a FREE
    CHECKMATE_F1, // one row per hazard: larger, with a tighter LP relaxation
};

struct checkmate_task {
    const struct problem *p;
    enum checkmate_form form;
    int64_t budget_bytes;    // includes persistent_bytes
    struct sequence initial; // used if it is of the class and within the budget; n = 0: none
    struct cbc_limits limits;
};

// False: out of memory.
bool checkmate_solve(const struct checkmate_task *task, struct arena *a,
                     struct checkmate_result *out);

struct checkmate_relaxed {
    bool solved;      // the LP relaxation was solved to optimality
    int32_t n_stages; // n, or n + 1 when some tensors are kept at the end
    double *s;        // S[t,i] at [t * n + i]
    int64_t bound;    // lower bound on the cost, within the class
};

// Solves the LP relaxation. False: out of memory.
bool checkmate_relax(const struct problem *p, int64_t budget_bytes, const struct cbc_limits *limits,
                     struct arena *a, struct checkmate_relaxed *out);
