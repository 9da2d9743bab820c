// Checkmate's integer program as published (Jain et al., MLSys 2020): stages that advance the
// frontier by one node, lower-triangular S (kept from stage to stage) and R (computed in a stage),
// FREE (freed after a computation), U (bytes in use), all in one program without lazy rows.
//
// It is the readable formulation and a cross-check on small graphs; ilp.h is the one to solve with.
// Its schedules run a node at most once per stage, in the order of the numbers. That is a class of
// its own: some problems have cheaper schedules outside of it.
#pragma once

#include "solver/mip/cbc.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

struct checkmate_result {
    bool proven;          // best is optimal among schedules of this class
    bool denied;          // the solver says that the class has no schedule within the budget
    int64_t cost;         // of best, or INT64_MAX
    int64_t bound;        // on the cost, within the class
    struct sequence best; // n = 0: none
    bool started;         // the start was used
    int32_t n_cols, n_rows;
};

enum checkmate_form {
    CHECKMATE_F0, // as published: all hazards of a FREE in one row
    CHECKMATE_F1, // a row for each hazard: larger, with a tighter linear relaxation
};

// `start` (n = 0: none) is used when it is of this class and fits. False: no room.
bool checkmate_solve(const struct problem *p, enum checkmate_form form, int64_t budget_bytes,
                     struct sequence start, const struct cbc_limits *limits, struct arena *a,
                     struct checkmate_result *out);

struct checkmate_relaxed {
    bool solved;      // the linear relaxation has an optimum
    int32_t n_stages; // n; one more when something is held at the end
    double *s;        // S[t,i] at [t * n + i]
    int64_t bound;    // on the cost, within the class
};

// The linear relaxation. False: no room.
bool checkmate_relax(const struct problem *p, int64_t budget_bytes, const struct cbc_limits *limits,
                     struct arena *a, struct checkmate_relaxed *out);
