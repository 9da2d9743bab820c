// Calls Clp for linear programs and CBC for mixed-integer programs, through their C interfaces. The
// row-wise matrix is transposed, since both expect columns. Logging is off. Fixed choices:
//
//   dual simplex: costs are not negative, so the slack basis is dual feasible;
//   wall-clock time, not CPU time;
//   one thread, so that a run with a node limit is repeatable;
//   no primal heuristics of CBC: they solve sub-MIPs that ignore the limits, and mfc finds
//   schedules by other methods.
#include "solver/mip/cbc.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>

#include "solver/mip/cbc_guard.h"
#include "solver/mip/worker.h"

// Simplex iterations between two checks of the clock: LP_CHUNK / (rows + columns), since iterations
// on larger programs take longer, but at least LP_CHUNK_MIN.
#define LP_CHUNK     ((int64_t)20000000)
#define LP_CHUNK_MIN 200

#define MIN_SECONDS 0.01

double cbc_seconds(double left) {
    return isinf(left) ? 0 : fmax(left, MIN_SECONDS);
}

struct columns {
    CoinBigIndex *start;
    int *row;
    double *value;
};

static bool transpose(const struct cbc_model *m, struct arena *a, struct columns *out) {
    size_t n_cols = m->col_cost.n, n_terms = m->term_col.n;
    out->start = ARENA_ARRAY(a, CoinBigIndex, n_cols + 1);
    out->row = ARENA_ARRAY(a, int, n_terms);
    out->value = ARENA_ARRAY(a, double, n_terms);
    CoinBigIndex *next = ARENA_ARRAY(a, CoinBigIndex, n_cols + 1);
    if (!out->start || !out->row || !out->value || !next)
        return false;
    for (size_t k = 0; k < n_terms; k++)
        out->start[m->term_col.at[k] + 1]++;
    for (size_t j = 0; j < n_cols; j++)
        next[j + 1] = out->start[j + 1] += out->start[j];
    size_t row = 0;
    for (size_t k = 0; k < n_terms; k++) {
        while (row + 1 < m->row_start.n && (size_t)m->row_start.at[row + 1] <= k)
            row++;
        CoinBigIndex at = next[m->term_col.at[k]]++;
        out->row[at] = (int)row;
        out->value[at] = m->term_value.at[k];
    }
    return true;
}

static bool read_lp(Clp_Simplex *lp, const struct cbc_model *m, struct arena *a,
                    struct cbc_answer *out) {
    int state = Clp_status(lp);
    out->n_iterations = Clp_getIterationCount(lp);
    out->result = state == 0   ? CBC_OPTIMAL
                  : state == 1 ? CBC_INFEASIBLE
                  : state == 3 ? CBC_FEASIBLE
                               : CBC_UNKNOWN;
    if (out->result == CBC_FEASIBLE && !Clp_primalFeasible(lp))
        out->result = CBC_UNKNOWN;
    out->objective = Clp_getObjValue(lp);
    out->x = arena_copy(a, Clp_getColSolution(lp), m->col_cost.n * sizeof(double));
    out->price = arena_copy(a, Clp_getRowPrice(lp), m->row_lower.n * sizeof(double));
    if (out->result == CBC_OPTIMAL)
        out->bound = out->objective;
    return out->x && out->price;
}

// Runs the dual simplex method in chunks of iterations, since Clp cannot be stopped from outside;
// each chunk continues from the last basis. (Clp_initialSolve would install a SIGINT handler.)
static void run_dual(Clp_Simplex *lp, const struct cbc_limits *limits) {
    int64_t size = 1 + (int64_t)Clp_numberRows(lp) + Clp_numberColumns(lp);
    int chunk = LP_CHUNK / size > LP_CHUNK_MIN ? (int)(LP_CHUNK / size) : LP_CHUNK_MIN;
    int64_t end_ns = STOP_NEVER;
    if (limits->seconds > 0 && limits->seconds < 1e9)
        end_ns = stop_clock_ns() + (int64_t)(limits->seconds * 1e9);
    for (int done = chunk; done <= INT32_MAX - chunk; done += chunk) {
        Clp_setMaximumIterations(lp, done);
        Clp_dual(lp, 0);
        bool out_of_time = stop_clock_ns() >= end_ns || (limits->stop && stop_now(limits->stop));
        if (Clp_status(lp) != 3 || out_of_time)
            return;
    }
}

struct lp_call {
    const struct cbc_model *m;
    const struct cbc_limits *limits;
    const struct columns *columns;
    struct arena *a;
    struct cbc_answer *out;
    Clp_Simplex *lp;
    bool ok;
};

static void call_lp(void *context) {
    struct lp_call *x = context;
    const struct cbc_model *m = x->m;
    const struct columns *c = x->columns;
    Clp_Simplex *lp = x->lp = Clp_newModel();
    Clp_setLogLevel(lp, 0);
    Clp_loadProblem(lp, cbc_n_cols(m), cbc_n_rows(m), c->start, c->row, c->value, m->col_lower.at,
                    m->col_upper.at, m->col_cost.at, m->row_lower.at, m->row_upper.at);
    run_dual(lp, x->limits);
    x->ok = read_lp(lp, m, x->a, x->out);
}

static void delete_lp(void *context) {
    struct lp_call *x = context;
    if (x->lp)
        Clp_deleteModel(x->lp);
}

bool cbc_lp(const struct cbc_model *m, const struct cbc_limits *limits, struct arena *a,
            struct cbc_answer *out) {
    assert(m && limits && a && out);
    *out = (struct cbc_answer){.bound = -CBC_INF};
    struct arena scratch = arena_make(a->mem);
    struct columns c;
    struct lp_call call = {
        .m = m, .limits = limits, .columns = &c, .a = a, .out = out, .lp = NULL, .ok = false};
    bool ok = !m->out_of_memory && transpose(m, &scratch, &c) && cbc_guard(call_lp, &call);
    ok = cbc_guard(delete_lp, &call) && ok;
    arena_free(&scratch);
    return ok && call.ok;
}

static void set_number(Cbc_Model *cbc, const char *name, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    Cbc_setParameter(cbc, name, text);
}

static bool set_initial(Cbc_Model *cbc, const struct cbc_model *m, const double *initial,
                        struct arena *scratch) {
    int n = cbc_n_cols(m);
    int *index = ARENA_ARRAY(scratch, int, n);
    if (!index)
        return false;
    for (int j = 0; j < n; j++)
        index[j] = j;
    Cbc_setMIPStartI(cbc, n, index, initial);
    return true;
}

static bool read_mip(Cbc_Model *cbc, const struct cbc_model *m, struct arena *a,
                     struct cbc_answer *out) {
    out->n_nodes = Cbc_getNodeCount(cbc);
    out->n_iterations = Cbc_getIterationCount(cbc);
    out->bound = Cbc_getBestPossibleObjValue(cbc);
    if (Cbc_isProvenInfeasible(cbc)) {
        out->result = CBC_INFEASIBLE;
        out->bound = CBC_INF;
        return true;
    }
    const double *x = Cbc_bestSolution(cbc);
    if (!x || Cbc_isAbandoned(cbc)) {
        out->result = CBC_UNKNOWN;
        return true;
    }
    out->result = Cbc_isProvenOptimal(cbc) ? CBC_OPTIMAL : CBC_FEASIBLE;
    out->objective = Cbc_getObjValue(cbc);
    out->x = arena_copy(a, x, m->col_cost.n * sizeof(double));
    return out->x != NULL;
}

struct mip_call {
    const struct cbc_model *m;
    const double *initial;
    const struct cbc_limits *limits;
    const struct columns *columns;
    struct arena *a, *scratch;
    struct cbc_answer *out;
    Cbc_Model *cbc;
    bool ok;
};

static void load_mip(Cbc_Model *cbc, const struct mip_call *x) {
    const struct cbc_model *m = x->m;
    const struct columns *c = x->columns;
    Cbc_setLogLevel(cbc, 0);
    Cbc_setParameter(cbc, "log", "0");
    Cbc_loadProblem(cbc, cbc_n_cols(m), cbc_n_rows(m), c->start, c->row, c->value, m->col_lower.at,
                    m->col_upper.at, m->col_cost.at, m->row_lower.at, m->row_upper.at);
    for (int j = 0; j < cbc_n_cols(m); j++)
        if (m->col_integer.at[j])
            Cbc_setInteger(cbc, j);
    Cbc_setParameter(cbc, "timeMode", "elapsed");
    if (x->limits->seconds > 0)
        set_number(cbc, "seconds", x->limits->seconds);
    if (x->limits->n_nodes > 0)
        set_number(cbc, "maxNodes", x->limits->n_nodes);
    set_number(cbc, "allowableGap", x->limits->gap);
    set_number(cbc, "ratioGap", 0);
    Cbc_setParameter(cbc, "heuristicsOnOff", "off");
}

static void call_mip(void *context) {
    struct mip_call *x = context;
    int64_t began_ns = stop_clock_ns();
    double seconds = x->limits->seconds;
    Cbc_Model *cbc = x->cbc = Cbc_newModel();
    load_mip(cbc, x);
    if (x->initial && !set_initial(cbc, x->m, x->initial, x->scratch))
        return;
    Cbc_solve(cbc);
    x->ok = read_mip(cbc, x->m, x->a, x->out);
    // CBC's presolve can lose the only feasible points of a small program, so a claim of
    // infeasibility is confirmed without presolve.
    double left = seconds - (double)(stop_clock_ns() - began_ns) * 1e-9;
    if (x->ok && x->out->result == CBC_INFEASIBLE && (seconds <= 0 || left > 0)) {
        x->ok = false;
        if (seconds > 0)
            set_number(cbc, "seconds", left);
        Cbc_setParameter(cbc, "preprocess", "off");
        Cbc_solve(cbc);
        x->ok = read_mip(cbc, x->m, x->a, x->out);
    }
}

static void delete_mip(void *context) {
    struct mip_call *x = context;
    if (x->cbc)
        Cbc_deleteModel(x->cbc);
}

bool cbc_mip_here(const struct cbc_model *m, const double *initial, const struct cbc_limits *limits,
                  struct arena *a, struct cbc_answer *out) {
    assert(m && limits && a && out);
    *out = (struct cbc_answer){.bound = -CBC_INF};
    struct arena scratch = arena_make(a->mem);
    struct columns c;
    struct mip_call call = {.m = m,
                            .initial = initial,
                            .limits = limits,
                            .columns = &c,
                            .a = a,
                            .scratch = &scratch,
                            .out = out,
                            .cbc = NULL,
                            .ok = false};
    bool ok = !m->out_of_memory && transpose(m, &scratch, &c) && cbc_guard(call_mip, &call);
    ok = cbc_guard(delete_mip, &call) && ok;
    arena_free(&scratch);
    return ok && call.ok;
}

bool cbc_mip(const struct cbc_model *m, const double *initial, const struct cbc_limits *limits,
             struct arena *a, struct cbc_answer *out) {
    assert(m && limits && a && out);
    assert(limits->gap >= 0);
    return limits->worker_path ? worker_mip(m, initial, limits, a, out)
                               : cbc_mip_here(m, initial, limits, a, out);
}
