// The door to CBC and Clp: build a model from columns and sparse rows, then solve its linear
// relaxation or the mixed-integer program. No files are written, nothing is printed.
//
//     struct cbc_model m;
//     cbc_open(&m, arena);
//     int32_t x = cbc_col(&m, 0, 1, 5.0, true);       // bounds, cost, integer
//     cbc_row(&m, -CBC_INF, 3.0);                     // lower <= terms <= upper
//     cbc_term(&m, x, 2.0);                           // belongs to the row opened last
//     if (m.out_of_memory) return diag_out_of_memory(d);          // asked once, after building
//     cbc_mip(&m, NULL, &limits, arena, &answer);
//
// Everything in here is floating point. What comes out is a proposal: callers replay it in exact
// integers (solver/check), and read bounds through cbc_safe_bound or cbc_floor_bound.
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "ir/base/mem.h"
#include "ir/base/stop.h"

#define CBC_INF HUGE_VAL

struct cbc_model {
    struct arena *arena;
    bool out_of_memory; // an allocation failed while building; the model is useless
    VEC(double) col_lower;
    VEC(double) col_upper;
    VEC(double) col_cost;
    VEC(char) col_integer;
    VEC(double) row_lower;
    VEC(double) row_upper;
    VEC(int32_t) row_start; // of each row in the terms
    VEC(int32_t) term_col;
    VEC(double) term_value;
};

struct cbc_limits {
    double seconds;          // by the clock; <= 0: none
    int32_t n_nodes;         // of the search tree, for repeatable runs; 0: none
    double gap;              // stop when best - bound is at most this
    const struct stop *stop; // NULL, or: ends the worker as soon as it is raised or past
    const char *worker_path; // the mfc executable for a worker process; NULL: solve in this process
};

enum cbc_result {
    CBC_UNKNOWN,    // no point, no proof
    CBC_OPTIMAL,    // x is a point, and optimal (within the gap)
    CBC_FEASIBLE,   // x is a point; a limit was reached
    CBC_INFEASIBLE, // there is no point
};

struct cbc_answer {
    enum cbc_result result;
    double objective; // of x
    double bound;     // the solver's own claim; -CBC_INF: none
    int32_t n_nodes, n_iterations;
    double *x;     // per column, or NULL
    double *price; // per row, linear programs only, or NULL
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

// The linear relaxation, by the dual simplex method. False: no room.
bool cbc_lp(const struct cbc_model *m, const struct cbc_limits *limits, struct arena *a,
            struct cbc_answer *out);

// The mixed-integer program; `start` is a point (per column) or NULL. Runs in a worker process if
// the limits name one, else in this process. False: no room. A worker that dies, hangs or talks
// nonsense gives CBC_UNKNOWN.
bool cbc_mip(const struct cbc_model *m, const double *start, const struct cbc_limits *limits,
             struct arena *a, struct cbc_answer *out);

// The same, always in this process.
bool cbc_mip_here(const struct cbc_model *m, const double *start, const struct cbc_limits *limits,
                  struct arena *a, struct cbc_answer *out);

// A lower bound on the linear program that holds whatever the quality of the prices: any prices
// make a weak-duality bound when all columns are boxed (Neumaier and Shcherbina, 2004). The sum is
// done with an account of its rounding errors. -CBC_INF when a free column has no right sign.
double cbc_safe_bound(const struct cbc_model *m, const double *price);

// Whether all integer columns are integers at x, but for roundings.
bool cbc_integral(const struct cbc_model *m, const double *x);

// The largest violation of a row, bound or integrality by x. Rows are scaled by their largest
// coefficient.
double cbc_violation(const struct cbc_model *m, const double *x);
