// The integer program with lazy cuts: the minimum cost for a budget and a given order of first
// runs.
//
// It starts with one cut at the peak (cut.h). Wherever the schedule of an optimal solution exceeds
// the budget, it adds a cut, or a row about one stage, and solves again. The programs stay small,
// each gives a valid lower bound, and the first schedule within the budget whose cost equals the
// bound is optimal.
#pragma once

#include "solver/mip/cbc.h"
#include "solver/mip/cut.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

enum ilp_kind {
    ILP_LAZY,       // one cut, more where the schedule exceeds the budget
    ILP_F3,         // a cut at every node: all of Checkmate's S and R
    ILP_F3Z,        // the same with the columns of CUT_LATER
    ILP_RELAX,      // lazy cuts, LP relaxations only: a lower bound, and schedules by rounding
    ILP_MIN_BUDGET, // lazy cuts; minimizes the budget, at any cost
};

struct ilp_task {
    const struct problem *p; // first runs follow the order of its numbers
    int64_t budget_bytes;    // includes persistent_bytes; for ILP_MIN_BUDGET: known to be feasible
    enum ilp_kind kind;
    struct sequence initial;  // a schedule within the budget, in the given order; n = 0: none
    const bool *fixed;        // or NULL. Per node: keep and run columns are fixed to the values of
                              // `initial`, which must be given; bounds then hold for this
                              // neighbourhood alone
    struct cbc_limits limits; // seconds and stop hold for the task, n_nodes for each program; gap
                              // is ignored
    double gap;               // relative: end when (cost - bound) / cost is at most this; 0: exact
    int32_t n_rounds;         // maximum number of programs; 0: no limit
    // Called with the sequence of every solution, within the budget or not, and with every better
    // bound (on the budget for ILP_MIN_BUDGET). Either may be NULL.
    void (*found)(void *context, struct sequence s);
    void (*bounded)(void *context, int64_t bound);
    void *context;
};

struct ilp_result {
    bool proven;             // best is optimal
    bool claimed_infeasible; // CBC claims that no schedule exists; ILP_MIN_BUDGET proves it
    struct sequence best;    // within the budget; n = 0: none
    int64_t cost;            // of best, or INT64_MAX
    int64_t bound;           // lower bound on the cost for the given order; at least the base cost
    int64_t min_bytes;       // ILP_MIN_BUDGET: lower bound on the budget for the given order
    int64_t known_bytes;     // the smallest peak of a sequence found
    int32_t n_rounds, n_cuts, n_rows;
};

// False: out of memory.
bool ilp_solve(const struct ilp_task *task, struct arena *a, struct ilp_result *out);

// Limits for a run (solve.h), besides the run's own; `seconds` <= 0 and `n_nodes` = 0: no limit.
struct ilp_effort {
    enum ilp_kind kind;
    double seconds;
    int32_t n_nodes;  // branch-and-bound nodes per program, for repeatable runs
    int32_t n_rounds; // maximum number of programs; 0: no limit
};

struct solve_run;
// Solves for the run's budget and the given order, and offers schedules and bounds to the run with
// letter 'C'. The run's incumbent is the initial solution if it follows the order. If CBC claims
// infeasibility, the minimum budget is bounded.
status ilp_run(struct solve_run *r, const struct ilp_effort *effort);
