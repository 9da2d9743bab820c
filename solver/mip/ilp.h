// The integer program with lazy cuts: the least cost for a budget, given the order of first runs.
//
// It starts with one cut, at the peak (cut.h), and adds a cut, or a row about one stage, wherever
// the schedule that the program means goes over the budget. So the programs stay small, each gives
// a valid bound, and the first schedule that fits and costs what the program says is optimal.
#pragma once

#include "solver/mip/cbc.h"
#include "solver/mip/cut.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

enum ilp_kind {
    ILP_LAZY,       // one cut, and more where they are needed
    ILP_F3,         // a cut at every node from the start: all of Checkmate's S and R
    ILP_F3Z,        // ... with the columns "runs again later"
    ILP_RELAX,      // lazy cuts; linear programs only: a bound, and schedules by rounding
    ILP_MIN_BUDGET, // lazy cuts; the least budget at any cost, instead of the least cost
};

struct ilp_task {
    const struct problem *p; // first runs come in the order of its numbers
    int64_t budget_bytes;    // includes persistent_bytes; for ILP_MIN_BUDGET: known to suffice
    enum ilp_kind kind;
    struct sequence initial;  // a schedule within the budget, in the given order; n = 0: none
    const bool *fixed;        // or NULL. Per node: kept and run again as in `start`, which must be
                              // there. All bounds are then of this neighbourhood alone
    struct cbc_limits limits; // seconds and stop are for the whole task, n_nodes for each program;
                              // the gap is set by the task
    double gap;               // end when (cost - bound) / cost is at most this; 0: exact
    int32_t n_rounds;         // programs to solve at most; 0: as many as it takes
    // Called with every sequence that the programs mean, in budget or not, and with every better
    // bound (a budget for ILP_MIN_BUDGET). Either may be NULL.
    void (*found)(void *context, struct sequence s);
    void (*bounded)(void *context, int64_t bound);
    void *context;
};

struct ilp_result {
    bool proven;             // best is optimal
    bool claimed_infeasible; // the solver says that there is no schedule; ILP_MIN_BUDGET proves it
    struct sequence best;    // n = 0: none that fits
    int64_t cost;            // of best, or INT64_MAX
    int64_t bound;           // on the cost, for the given order; the base cost at least
    int64_t min_bytes;       // ILP_MIN_BUDGET: no schedule of this order fits a smaller budget
    int64_t known_bytes;     // the least peak of a sequence that was found
    int32_t n_rounds, n_cuts, n_rows;
};

// False: no room.
bool ilp_solve(const struct ilp_task *task, struct arena *a, struct ilp_result *out);

// What a run (solve.h) asks of it. Each offers what it finds to the run, with letter 'C', and ends
// with the run; `seconds` <= 0 and `n_nodes` = 0 leave it to the run's own limits.
struct ilp_effort {
    enum ilp_kind kind;
    double seconds;
    int32_t n_nodes;  // per program, for repeatable runs
    int32_t n_rounds; // 0: as many as it takes
};

struct solve_run;
// The program for the run's budget and the given order; starts from the run's incumbent when that
// follows the order. When the solver denies that a schedule exists, the least budget is bounded.
status ilp_run(struct solve_run *r, const struct ilp_effort *effort);
