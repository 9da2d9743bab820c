// Interface to CBC and Clp: build a model from columns and sparse rows, then solve its LP
// relaxation or the mixed-integer program. Writes no files and prints nothing.
//
//     struct cbc_model m;
//     cbc_open(&m, arena);
//     int32_t x = cbc_col(&m, 0, 1, 5.0, true);       // bounds, cost, integer
//     cbc_row(&m, -CBC_INF, 3.0);                     // lower <= terms <= upper
//     cbc_term(&m, x, 2.0);                           // a term of the last row
//     if (m.out_of_memory) return diag_out_of_memory(d);          // test once, after building
//     cbc_mip(&m, NULL, &limits, arena, &answer);
//
// All values are floating point, so a solution is a proposal: callers replay it in exact integers
// (solver/check). Bounds of LP relaxations come from cbc_safe_bound; bounds of integer programs are
// claims of CBC and are rounded with a tolerance (cut_cost_bound).
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/mem.h"
#include "ir/base/stop.h"

#define CBC_INF HUGE_VAL

struct cbc_model {
    struct arena *arena;
    bool out_of_memory; // an allocation failed while building; the model is unusable
    VEC(double) col_lower;
    VEC(double) col_upper;
    VEC(double) col_cost;
    VEC(char) col_integer;
    VEC(double) row_lower;
    VEC(double) row_upper;
    VEC(int32_t) row_start; // per row: index of its first term
    VEC(int32_t) term_col;
    VEC(double) term_value;
};

struct cbc_limits {
    double seconds;          // wall-clock time; <= 0: no limit
    int32_t n_nodes;         // branch-and-bound nodes, for repeatable runs; 0: no limit
    double gap;              // absolute: end when incumbent - bound is at most this
    const struct stop *stop; // or NULL
    const char *worker_path; // mfc executable for a worker process; NULL: solve in this process
};

// `left` seconds as a limit: INFINITY is no limit, and no time left is a short one.
double cbc_seconds(double left);

enum cbc_result {
    CBC_UNKNOWN,    // no solution, no proof
    CBC_OPTIMAL,    // x is optimal (within the gap)
    CBC_FEASIBLE,   // x is feasible; a limit was reached
    CBC_INFEASIBLE, // there is no feasible point
};

struct cbc_answer {
    enum cbc_result result;
    double objective; // of x
    double bound;     // lower bound, as claimed by the solver; -CBC_INF: none
    int32_t n_nodes, n_iterations;
    double *x;     // per column, or NULL
    double *price; // dual value per row, linear programs only, or NULL
};

void cbc_open(struct cbc_model *m, struct arena *a);
int32_t cbc_col(struct cbc_model *m, double lower, double upper, double cost, bool integer);
void cbc_row(struct cbc_model *m, double lower, double upper);
void cbc_term(struct cbc_model *m, int32_t col, double value);

static inline int32_t cbc_n_cols(const struct cbc_model *m) {
    return (int32_t)m->col_cost.n;
}
static inline int32_t cbc_n_rows(const struct cbc_model *m) {
    return (int32_t)m->row_lower.n;
}

// Solves the LP relaxation by the dual simplex method. False: out of memory.
bool cbc_lp(const struct cbc_model *m, const struct cbc_limits *limits, struct arena *a,
            struct cbc_answer *out);

// Solves the mixed-integer program. `initial` is an initial solution (per column) or NULL. Runs in
// a worker process if limits->worker_path is set, else in this process. A worker that crashes,
// hangs or sends a malformed answer gives CBC_UNKNOWN. False: out of memory.
bool cbc_mip(const struct cbc_model *m, const double *initial, const struct cbc_limits *limits,
             struct arena *a, struct cbc_answer *out);

// The same, always in this process.
bool cbc_mip_here(const struct cbc_model *m, const double *initial, const struct cbc_limits *limits,
                  struct arena *a, struct cbc_answer *out);

// A safe lower bound on the linear program (Neumaier and Shcherbina, 2004): any dual values `price`
// give a weak-duality bound when all columns have finite bounds. Rounding errors of the sum are
// subtracted. -CBC_INF: no bound, since a column without a finite bound contributes.
double cbc_safe_bound(const struct cbc_model *m, const double *price);

// Are all integer columns integral at x, within 1e-7?
bool cbc_integral(const struct cbc_model *m, const double *x);

// The largest violation of a row, a bound or integrality at x. Rows are scaled by their largest
// coefficient.
double cbc_violation(const struct cbc_model *m, const double *x);
