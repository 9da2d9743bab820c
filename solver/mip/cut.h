// Cut relaxations: the integer program of Checkmate, looked at through a few *cuts* only.
//
// A cut is the moment when a node q runs for the first time. The schedules meant here run the nodes
// for the first time in the given order, and recompute what and when they like. K cuts make K + 1
// segments. For each cut k and each node i that ran before:
//
//     keep[k,i]   i is held when q_k has run (Checkmate's S, at stage q_k + 1)
//     run[k,i]    i is recomputed at least once in the segment after the cut (Checkmate's R,
//     summed)
//
//     needed:  keep[k,i] + run[k,i] >= 1           a first run in segment k reads i
//     inputs:  keep[k,j] + run[k,j] >= run[k,i]    i reads j
//     carry:   keep[k+1,i] <= keep[k,i] + run[k,i]
//     memory:  what runs and is read at q_k, and what is kept there, fits the budget
//
// Every schedule satisfies the rows whatever the cuts are, so the least cost is a lower bound. It
// needs only about 2 K n columns. With a cut at every node it is Checkmate's program without the
// peaks *between* first runs ("F3"). cut_realize turns a solution into a sequence; where that goes
// over the budget, another cut is due. When it fits, and costs what the program said, it is
// optimal.
//
// A node of zero bytes is held for ever once it has run: it has no columns. The tensors to be held
// at the end are read by a pretended last node, number n, of no cost and no bytes.
#pragma once

#include "solver/mip/cbc.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

struct cut_view {
    const struct problem *p;
    int32_t n_steps;   // nodes, and one for the pretended last node
    int64_t room;      // the budget without persistent_bytes
    int32_t n_keep;    // inputs of the pretended last node ...
    int32_t *keep;     // ... and which they are
    bool *always;      // zero bytes: held for ever
    double byte_scale; // powers of two that bring bytes and costs into the solver's range
    double cost_scale;
};

bool cut_view_make(const struct problem *p, int64_t budget_bytes, struct arena *a,
                   struct cut_view *out);

// What node t reads, t = n being the pretended last node.
static inline int32_t cut_inputs(const struct cut_view *v, int32_t t, const int32_t **in) {
    if (t == v->p->n) {
        *in = v->keep;
        return v->n_keep;
    }
    *in = v->p->in_of + v->p->in_start[t];
    return v->p->in_start[t + 1] - v->p->in_start[t];
}

// Does node t read node i?
static inline bool cut_reads(const struct cut_view *v, int32_t t, int32_t i) {
    const int32_t *in;
    int32_t n_in = cut_inputs(v, t, &in);
    for (int32_t e = 0; e < n_in; e++)
        if (in[e] == i)
            return true;
    return false;
}

int64_t cut_need(const struct cut_view *v, int32_t t); // bytes of t, its workspace and its inputs

// A set of cuts, ascending.
struct cuts {
    int32_t *at;
    int32_t n;
};

enum cut_flags {
    CUT_CONTINUOUS = 1, // the linear relaxation: no column is integer
    CUT_LATER = 2,      // columns that say "i runs again at some time after cut k"; they stop the
                        // relaxation from recomputing in small fractions here and there
    CUT_LEAST = 4,      // the room is a column, and the objective: the least budget, at any cost
};

// An extra row about one *stage*: the segment between two neighbouring first runs, stage - 1 and
// stage, when both are cuts. Over the columns of the stage it says sum of weight * column <= most.
enum cut_what {
    CUT_KEEP,  // keep at the cut stage - 1
    CUT_RUN,   // run in the stage
    CUT_NEXT,  // keep at the cut `stage`
    CUT_AGAIN, // the node runs at least twice in the stage; a column that exists only for such rows
    CUT_MORE,  // the same for three times; what is allowed to do that may run as often as it likes
};

struct cut_term {
    enum cut_what what;
    int32_t node;
    int64_t weight;
};

struct cut_row {
    int32_t stage;
    int64_t most;
    bool bytes; // weights are bytes, and `most` comes on top of the room
    VEC(struct cut_term) terms;
};

struct cut_rows {
    struct cut_row *at;
    size_t n, cap;
};

struct cut_again {
    enum cut_what what; // CUT_AGAIN or CUT_MORE
    int32_t stage, node, col;
};

struct cut_model {
    struct cbc_model program;
    struct cuts cuts;
    int32_t *keep_col; // [k * n + i], -1: no column
    int32_t *run_col;
    int32_t *later_col;
    VEC(struct cut_again) again;
    int32_t room_col; // CUT_LEAST; else -1
};

// False: no room.
bool cut_model_build(const struct cut_view *v, struct cuts cuts, const struct cut_rows *rows,
                     int flags, struct arena *a, struct cut_model *out);
int32_t cut_model_find(const struct cut_model *m, int32_t q); // the cut at node q, or -1
// The column of a term of a stage row; -1: none, its value is 0.
int32_t cut_model_column(const struct cut_view *v, const struct cut_model *m, int32_t stage,
                         enum cut_what what, int32_t node);

// The row about the peak while `node` runs again in `stage` that the point x violates most;
// *found says whether it violates one.
bool cut_peak_row(const struct cut_view *v, const struct cut_model *m, const double *x,
                  int32_t stage, int32_t node, struct arena *a, struct cut_row *out, bool *found);

// The point that a sequence (given order, in budget) is in the model.
bool cut_model_start(const struct cut_view *v, const struct cut_model *m, struct sequence s,
                     struct arena *a, double **x);

// The sequence that a point means: each recomputation as late as can be. Columns are on above
// `threshold`; what the point forgot is recomputed when it is needed.
bool cut_realize(const struct cut_view *v, const struct cut_model *m, const double *x,
                 double threshold, struct arena *a, struct sequence *out);

// Bytes held while each position of the sequence runs, when everything is freed as early as can be;
// `stage[p]` is the node whose first run is next or at p.
bool cut_profile(const struct cut_view *v, struct sequence s, struct arena *a, int64_t **held,
                 int32_t **stage);

// Integer lower bounds from a bound on a model's objective: on the cost of a schedule, and, with
// CUT_LEAST, on the budget (persistent_bytes included). `slack` is taken off first.
#define CUT_NO_SLACK  0.0  // for cbc_safe_bound, which is on the safe side by itself
#define CUT_MIP_SLACK 1e-7 // relative; for what the solver says of an integer program
int64_t cut_cost_bound(const struct cut_view *v, double objective, double slack);
int64_t cut_budget_bound(const struct cut_view *v, double objective, double slack);
