// Cut relaxations: Checkmate's integer program restricted to a few *cuts*.
//
// A cut is the first run of a node q. The schedules considered run every node for the first time in
// the given order, and may recompute any node at any time. K cuts divide a schedule into segments.
// For each cut k and each node i that ran before it:
//
//     keep[k,i]   i is in memory after q_k has run (Checkmate's S, at stage q_k + 1)
//     run[k,i]    i is recomputed in the segment after the cut (Checkmate's R, summed)
//
//     needed:  keep[k,i] + run[k,i] >= 1           a first run in segment k reads i
//     inputs:  keep[k,j] + run[k,j] >= run[k,i]    i reads j
//     carry:   keep[k+1,i] <= keep[k,i] + run[k,i]
//     memory:  the working set of q_k and the tensors kept across it fit the budget
//
// Every schedule satisfies these rows for any set of cuts, so the optimum is a lower bound on its
// cost. The program has about 2 K n columns. With a cut at every node it is Checkmate's program
// without the peaks *between* first runs ("F3"). cut_realize turns a solution into a sequence.
// Where that exceeds the budget, a cut is added; a sequence within the budget that costs as much as
// the optimum of the program is optimal.
//
// A tensor of zero bytes stays in memory after its first run and has no columns. A sink, node n
// with no cost and no bytes, reads the tensors that are kept at the end.
#pragma once

#include "solver/mip/cbc.h"
#include "solver/model/problem.h"
#include "solver/model/sequence.h"

struct cut_view {
    const struct problem *p;
    int32_t n_steps;   // nodes, and the sink
    int64_t capacity;  // bytes: the budget without persistent_bytes
    int32_t n_keep;    // inputs of the sink ...
    int32_t *keep;     // ... and which they are
    bool *zero_size;   // per node: zero bytes, never evicted
    double byte_scale; // powers of two that scale bytes and costs for the solver
    double cost_scale;
};

bool cut_view_make(const struct problem *p, int64_t budget_bytes, struct arena *a,
                   struct cut_view *out);

// The inputs of node t; t = n is the sink.
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

// Bytes of t, its workspace and its inputs.
int64_t cut_working_set(const struct cut_view *v, int32_t t);

// A set of cuts, ascending.
struct cuts {
    int32_t *at;
    int32_t n;
};

enum cut_flags {
    CUT_CONTINUOUS = 1, // the LP relaxation: no column is integer
    CUT_LATER = 2,      // columns "i is recomputed at some time after cut k", which tighten the
                        // relaxation: it cannot recompute small fractions in many segments
    CUT_MIN_BUDGET =
        4, // the capacity is a column and the objective: the minimum budget, at any cost
};

// A lazy row about one *stage*: the segment between two consecutive first runs, stage - 1 and
// stage, when both are cuts. It reads: sum of weight * column <= upper, over columns of the stage.
enum cut_kind {
    CUT_KEEP,   // keep at the cut stage - 1
    CUT_RUN,    // run in the stage
    CUT_NEXT,   // keep at the cut `stage`
    CUT_TWICE,  // the node runs at least twice in the stage; a column created for such rows only
    CUT_THRICE, // the node runs at least three times; without limit then
};

struct cut_term {
    enum cut_kind kind;
    int32_t node;
    int64_t weight;
};

struct cut_row {
    int32_t stage;
    int64_t upper;
    bool bytes; // weights are bytes, and `upper` is added to the capacity
    VEC(struct cut_term) terms;
};

struct cut_rows {
    struct cut_row *at;
    size_t n, cap;
};

struct cut_repeat {
    enum cut_kind kind; // CUT_TWICE or CUT_THRICE
    int32_t stage, node, col;
};

// The columns of a program of cuts, of which there are n_cuts, over n nodes.
struct cut_columns {
    int32_t n_cuts, n;
    int32_t *keep, *run, *later; // [k * n + i], -1: no column
};

// The column of node i at cut k in one of the three arrays, or one of the same size.
static inline int32_t *cut_column(const struct cut_columns *c, int32_t *cols, int32_t k,
                                  int32_t i) {
    return &cols[(size_t)k * (size_t)c->n + (size_t)i];
}

int32_t *cut_columns_none(struct arena *a, int32_t n_cuts, int32_t n); // NULL: out of memory
bool cut_columns_make(struct cut_columns *c, int32_t n_cuts, int32_t n, struct arena *a);
// Adds the columns of cut k, for the nodes that are live across it. Flags: enum cut_flags.
void cut_columns_add(struct cut_columns *c, const struct cut_view *v, int32_t k, const bool *live,
                     int flags, struct cbc_model *to);
// Adds to the open row the bytes kept across cut k, the first run of q, beside its working set. The
// working set includes q itself.
void cut_columns_add_kept(const struct cut_columns *c, const struct cut_view *v, int32_t k,
                          int32_t q, struct cbc_model *to);
// Adds the row: later[k,i] <= the sum of run[l,i] over the segments from k on.
void cut_columns_add_later(const struct cut_columns *c, int32_t k, int32_t i, struct cbc_model *to);

struct cut_model {
    struct cbc_model program;
    struct cuts cuts;
    struct cut_columns cols;
    VEC(struct cut_repeat) repeats;
    int32_t capacity_col; // CUT_MIN_BUDGET; else -1
};

// `rows` may be NULL; rows whose stage is not enclosed by two cuts are skipped. False: out of
// memory, as for all functions below.
bool cut_model_build(const struct cut_view *v, struct cuts cuts, const struct cut_rows *rows,
                     int flags, struct arena *a, struct cut_model *out);
int32_t cut_model_find(const struct cut_model *m, int32_t q); // index of the cut at node q, or -1
// The column of a term of a stage row; -1: there is none, its value is 0.
int32_t cut_model_column(const struct cut_view *v, const struct cut_model *m, int32_t stage,
                         enum cut_kind kind, int32_t node);

// A solution of a cut model: the values of its columns.
struct cut_solution {
    const struct cut_view *v;
    const struct cut_model *m;
    const double *x;
};

// Separation: the row on the peak while `node` is recomputed in `stage` that the solution violates
// most. *found: it violates that row.
bool cut_peak_row(const struct cut_solution *at, int32_t stage, int32_t node, struct arena *a,
                  struct cut_row *out, bool *found);

// The solution of the model that a sequence (in the given order, within the budget) corresponds to.
bool cut_model_point(const struct cut_view *v, const struct cut_model *m, struct sequence s,
                     struct arena *a, double **x);

// The sequence of a solution: every recomputation as late as possible. A column counts as 1 above
// `threshold`; missing recomputations are added.
bool cut_realize(const struct cut_view *v, const struct cut_model *m, const double *x,
                 double threshold, struct arena *a, struct sequence *out);

// Memory profile of a sequence: bytes in use at each position, with every tensor freed after its
// last use. `stage[p]` is the node whose first run is at p or next after it.
bool cut_profile(const struct cut_view *v, struct sequence s, struct arena *a, int64_t **held,
                 int32_t **stage);

// Integer lower bounds from a bound on the objective of a model: on the cost of a schedule, or,
// with CUT_MIN_BUDGET, on the budget (persistent_bytes included). The tolerance `slack` is
// subtracted.
#define CUT_NO_SLACK  0.0  // for cbc_safe_bound, which accounts for rounding
#define CUT_MIP_SLACK 1e-7 // relative; for bounds of integer programs, as claimed by CBC
int64_t cut_cost_bound(const struct cut_view *v, double objective, double slack);
int64_t cut_budget_bound(const struct cut_view *v, double objective, double slack);
