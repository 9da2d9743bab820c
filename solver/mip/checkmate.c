// Builds and solves Checkmate's program (checkmate.h), with the names of the paper: for stage t and
// nodes i, k <= t, counted from 0,
//
//     min  sum of C_i R[t,i]
//     R[t,k] <= R[t,i] + S[t,i]                          k reads i
//     S[t,i] <= R[t-1,i] + S[t-1,i]
//     R[t,t] = 1
//     hazards(t,i,k) = (1 - R[t,k]) + S[t+1,i] + sum of R[t,j] over j > k that read i
//     1 - FREE[t,i,k] <= hazards <= max_hazards * (1 - FREE[t,i,k])      i is k, or read by k
//     (F1: instead of the upper bound, each single hazard <= 1 - FREE[t,i,k])
//     U[t,0] = sum of M_i S[t,i] + M_0 R[t,0]
//     U[t,k] = U[t,k-1] - sum of M_i FREE[t,i,k-1] + M_k R[t,k]
//     U[t,k] + workspace_k R[t,k] <= budget
//
// Tensors kept at the end add a last stage n, which computes no new node: there
// S[n,i] + R[n,i] >= 1 and S[n+1,i] = 1 for each kept i. A node that must run once has R[t,i] = 0
// for t > i.
#include "solver/mip/checkmate.h"

#include <assert.h>
#include <string.h>

#include "solver/mip/cut.h"

struct freed { // FREE[t,i,k]
    int32_t t, i, k, col;
};

struct program {
    const struct problem *p;
    enum checkmate_form form;
    struct cut_view v; // for its scales
    struct cbc_model m;
    int32_t n_stages; // n, or n + 1
    int32_t *r, *s;   // [t * n + i], -1: the value is 0
    int32_t *u;       // [t * n + k]
    VEC(struct freed) free;
};

static int32_t *cell(const struct program *g, int32_t *cols, int32_t t, int32_t i) {
    return &cols[(size_t)t * (size_t)g->p->n + (size_t)i];
}

// The last node that stage t may run.
static int32_t last_of(const struct program *g, int32_t t) {
    return t < g->p->n ? t : g->p->n - 1;
}

static void term(struct program *g, int32_t col, double value) {
    if (col >= 0)
        cbc_term(&g->m, col, value);
}

static void add_columns(struct program *g, bool integer) {
    const struct problem *p = g->p;
    for (int32_t t = 0; t < g->n_stages; t++)
        for (int32_t i = 0; i <= last_of(g, t); i++) {
            bool first = t == i;
            double cost = first ? 0 : (double)p->cost[i] * g->v.cost_scale;
            if (first || !p->once[i])
                *cell(g, g->r, t, i) = cbc_col(&g->m, first ? 1 : 0, 1, cost, integer);
            if (i < t)
                *cell(g, g->s, t, i) = cbc_col(&g->m, 0, 1, 0, integer);
            *cell(g, g->u, t, i) =
                cbc_col(&g->m, 0, (double)g->v.capacity * g->v.byte_scale, 0, false);
        }
}

static void add_dependencies(struct program *g, int32_t t) {
    const struct problem *p = g->p;
    for (int32_t k = 0; k <= last_of(g, t); k++) {
        for (int32_t e = p->in_start[k]; e < p->in_start[k + 1]; e++) {
            cbc_row(&g->m, 0, CBC_INF);
            term(g, *cell(g, g->r, t, p->in_of[e]), 1);
            term(g, *cell(g, g->s, t, p->in_of[e]), 1);
            term(g, *cell(g, g->r, t, k), -1);
        }
        if (t > k) {
            cbc_row(&g->m, 0, CBC_INF);
            term(g, *cell(g, g->r, t - 1, k), 1);
            term(g, *cell(g, g->s, t - 1, k), 1);
            term(g, *cell(g, g->s, t, k), -1);
        }
        if (t == p->n && p->keep[k]) {
            cbc_row(&g->m, 1, CBC_INF);
            term(g, *cell(g, g->r, t, k), 1);
            term(g, *cell(g, g->s, t, k), 1);
        }
    }
}

// Does j, which reads i, come after k in stage t?
static bool is_later(const struct program *g, int32_t t, int32_t k, int32_t j) {
    return j > k && j <= last_of(g, t);
}

// FREE <= 1 - column.
static void add_hazard(struct program *g, int32_t freed, int32_t col) {
    if (col < 0)
        return;
    cbc_row(&g->m, -CBC_INF, 1);
    term(g, freed, 1);
    term(g, col, 1);
}

// F1: one row per hazard. In the last stage S[t+1,i] is a constant.
static void add_hazards(struct program *g, struct freed f) {
    const struct problem *p = g->p;
    bool last = f.t + 1 == g->n_stages;
    cbc_row(&g->m, -CBC_INF, 0);
    term(g, f.col, 1);
    term(g, *cell(g, g->r, f.t, f.k), -1);
    if (!last)
        add_hazard(g, f.col, *cell(g, g->s, f.t + 1, f.i));
    if (last && p->keep[f.i]) {
        cbc_row(&g->m, -CBC_INF, 0);
        term(g, f.col, 1);
    }
    for (int32_t e = p->out_start[f.i]; e < p->out_start[f.i + 1]; e++)
        if (is_later(g, f.t, f.k, p->out_of[e]))
            add_hazard(g, f.col, *cell(g, g->r, f.t, p->out_of[e]));
}

// FREE[t,i,k] and its rows. In the last stage S[t+1,i] is a constant.
static int32_t add_free(struct program *g, int32_t t, int32_t i, int32_t k, bool integer) {
    const struct problem *p = g->p;
    bool last = t + 1 == g->n_stages;
    int32_t next = last ? -1 : *cell(g, g->s, t + 1, i);
    double constant = 1 + (last && p->keep[i] ? 1 : 0), max_hazards = constant + (last ? 0 : 1);
    int32_t freed = cbc_col(&g->m, 0, 1, 0, integer);
    struct freed name = {.t = t, .i = i, .k = k, .col = freed};
    if (!VEC_PUSH(g->m.arena, &g->free, name))
        g->m.out_of_memory = true;
    for (int32_t e = p->out_start[i]; e < p->out_start[i + 1]; e++)
        max_hazards += is_later(g, t, k, p->out_of[e]);
    for (int side = 0; side < (g->form == CHECKMATE_F0 ? 2 : 1); side++) {
        cbc_row(&g->m, side ? -CBC_INF : 1 - constant, side ? max_hazards - constant : CBC_INF);
        term(g, freed, side ? max_hazards : 1);
        term(g, *cell(g, g->r, t, k), -1);
        term(g, next, 1);
        for (int32_t e = p->out_start[i]; e < p->out_start[i + 1]; e++)
            if (is_later(g, t, k, p->out_of[e]))
                term(g, *cell(g, g->r, t, p->out_of[e]), 1);
    }
    if (g->form == CHECKMATE_F1)
        add_hazards(g, name);
    return freed;
}

// U[t,k] - U[t,k-1] + sum of M_i FREE[t,i,k-1] - M_k R[t,k] = 0, and the budget with workspace.
static void add_memory(struct program *g, int32_t t, bool integer) {
    const struct problem *p = g->p;
    double scale = g->v.byte_scale;
    VEC(int32_t) freed = {0};
    VEC(int32_t) of = {0};
    for (int32_t k = 0; k <= last_of(g, t); k++) {
        double bytes = (double)p->bytes[k] * scale;
        cbc_row(&g->m, 0, 0);
        term(g, *cell(g, g->u, t, k), 1);
        term(g, *cell(g, g->r, t, k), -bytes);
        if (k > 0)
            term(g, *cell(g, g->u, t, k - 1), -1);
        else
            for (int32_t i = 0; i < t && i < p->n; i++)
                term(g, *cell(g, g->s, t, i), -(double)p->bytes[i] * scale);
        for (size_t e = 0; e < freed.n; e++)
            term(g, freed.at[e], (double)p->bytes[of.at[e]] * scale);
        if (p->workspace[k] > 0) {
            cbc_row(&g->m, -CBC_INF, (double)g->v.capacity * scale);
            term(g, *cell(g, g->u, t, k), 1);
            term(g, *cell(g, g->r, t, k), (double)p->workspace[k] * scale);
        }
        freed.n = of.n = 0;
        for (int32_t e = p->in_start[k]; e <= p->in_start[k + 1] && k < last_of(g, t); e++) {
            int32_t i = e < p->in_start[k + 1] ? p->in_of[e] : k;
            int32_t col = add_free(g, t, i, k, integer);
            if (!VEC_PUSH(g->m.arena, &freed, col) || !VEC_PUSH(g->m.arena, &of, i))
                g->m.out_of_memory = true;
        }
    }
}

static bool build(const struct problem *p, enum checkmate_form form, int64_t budget_bytes,
                  bool integer, struct arena *a, struct program *g) {
    *g = (struct program){.p = p, .form = form};
    if (!cut_view_make(p, budget_bytes, a, &g->v))
        return false;
    cbc_open(&g->m, a);
    g->n_stages = p->n + (g->v.n_keep > 0 ? 1 : 0);
    size_t n = (size_t)g->n_stages * (size_t)p->n;
    g->r = ARENA_ARRAY(a, int32_t, n);
    g->s = ARENA_ARRAY(a, int32_t, n);
    g->u = ARENA_ARRAY(a, int32_t, n);
    if (!g->r || !g->s || !g->u)
        return false;
    memset(g->r, -1, n * sizeof *g->r);
    memset(g->s, -1, n * sizeof *g->s);
    memset(g->u, -1, n * sizeof *g->u);
    add_columns(g, integer);
    for (int32_t t = 0; t < g->n_stages && !g->m.out_of_memory; t++) {
        add_dependencies(g, t);
        add_memory(g, t, integer);
    }
    return !g->m.out_of_memory;
}

// Concatenates the stages, each in topological order.
static bool read_sequence(const struct program *g, const double *x, struct arena *a,
                          struct sequence *out) {
    VEC(int32_t) list = {0};
    for (int32_t t = 0; t < g->n_stages; t++)
        for (int32_t i = 0; i <= last_of(g, t); i++) {
            int32_t col = *cell(g, g->r, t, i);
            if (col >= 0 && x[col] > 0.5 && !VEC_PUSH(a, &list, i))
                return false;
        }
    *out = (struct sequence){.at = list.at, .n = (int32_t)list.n};
    return true;
}

// Sets R and S to the values of the sequence. False: the sequence is not of the class (a node runs
// twice in a stage, or not in topological order).
static bool initial_matrices(const struct program *g, struct sequence q, int32_t *instance,
                             double *x) {
    const struct problem *p = g->p;
    int32_t t = 0, before = -1; // current stage, and the previous node in it
    for (int32_t i = 0; i < p->n; i++)
        instance[i] = -1; // the stage of the latest run
    for (int32_t at = 0; at < q.n; at++) {
        int32_t i = q.at[at];
        if (t >= g->n_stages || i <= before || i > t)
            return false;
        for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++)
            for (int32_t l = instance[p->in_of[e]] + 1; l <= t; l++)
                x[*cell(g, g->s, l, p->in_of[e])] = 1;
        x[*cell(g, g->r, t, i)] = 1;
        instance[i] = t;
        before = i == t ? -1 : i;
        t += i == t;
    }
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t l = instance[i] + 1; p->keep[i] && l < g->n_stages; l++)
            x[*cell(g, g->s, l, i)] = 1;
    return t >= p->n;
}

static double value(const struct program *g, int32_t *cols, int32_t t, int32_t i, const double *x) {
    int32_t col = *cell(g, cols, t, i);
    return col >= 0 ? x[col] : 0;
}

// Computes FREE and U from R and S by their definitions.
static void initial_memory(struct program *g, double *x) {
    const struct problem *p = g->p;
    double *u = x, scale = g->v.byte_scale;
    for (size_t e = 0; e < g->free.n; e++) {
        struct freed f = g->free.at[e];
        bool last = f.t + 1 == g->n_stages;
        bool hazard = value(g, g->r, f.t, f.k, x) < 0.5 ||
                      (last ? p->keep[f.i] : value(g, g->s, f.t + 1, f.i, x) > 0.5);
        for (int32_t o = p->out_start[f.i]; o < p->out_start[f.i + 1]; o++)
            if (p->out_of[o] > f.k && p->out_of[o] <= last_of(g, f.t))
                hazard = hazard || value(g, g->r, f.t, p->out_of[o], x) > 0.5;
        x[f.col] = hazard ? 0 : 1;
    }
    size_t e = 0; // FREE columns are sorted by (t, k)
    for (int32_t t = 0; t < g->n_stages; t++)
        for (int32_t k = 0; k <= last_of(g, t); k++) {
            double now = value(g, g->r, t, k, x) * (double)p->bytes[k] * scale;
            for (int32_t i = 0; k == 0 && i < t && i < p->n; i++)
                now += value(g, g->s, t, i, x) * (double)p->bytes[i] * scale;
            if (k > 0)
                now += u[*cell(g, g->u, t, k - 1)];
            for (; k > 0 && e < g->free.n && g->free.at[e].t == t && g->free.at[e].k == k - 1; e++)
                now -= x[g->free.at[e].col] * (double)p->bytes[g->free.at[e].i] * scale;
            u[*cell(g, g->u, t, k)] = now;
        }
}

// The solution of a sequence; *x stays NULL if the sequence is not of the class or over the budget.
static bool initial_point(struct program *g, struct sequence q, struct arena *a, double **x) {
    double *point = ARENA_ARRAY(a, double, cbc_n_cols(&g->m));
    int32_t *instance = ARENA_ARRAY(a, int32_t, g->p->n);
    if (!point || !instance)
        return false;
    if (initial_matrices(g, q, instance, point)) {
        initial_memory(g, point);
        if (cbc_violation(&g->m, point) < 1e-6)
            *x = point;
    }
    return true;
}

bool checkmate_solve(const struct checkmate_task *task, struct arena *a,
                     struct checkmate_result *out) {
    assert(task && task->p && a && out);
    const struct problem *p = task->p;
    struct arena scratch = arena_make(a->mem);
    struct program g;
    struct cbc_answer answer;
    *out = (struct checkmate_result){.cost = INT64_MAX, .bound = problem_base_cost(p)};
    double *x = NULL;
    bool ok = build(p, task->form, task->budget_bytes, true, &scratch, &g) &&
              (task->initial.n == 0 || initial_point(&g, task->initial, &scratch, &x)) &&
              cbc_mip(&g.m, x, &task->limits, &scratch, &answer);
    if (ok) {
        out->initial_used = x != NULL;
        out->n_cols = cbc_n_cols(&g.m);
        out->n_rows = cbc_n_rows(&g.m);
        out->claimed_infeasible = answer.result == CBC_INFEASIBLE;
    }
    if (ok && !out->claimed_infeasible)
        out->bound = cut_cost_bound(
            &g.v, answer.x ? fmin(answer.bound, answer.objective - task->limits.gap) : answer.bound,
            CUT_MIP_SLACK);
    struct sequence_facts facts;
    struct sequence found;
    if (ok && answer.x) {
        ok = read_sequence(&g, answer.x, a, &found) && sequence_measure(p, found, &scratch, &facts);
        if (ok && facts.wrong_at < 0 && facts.peak_bytes <= task->budget_bytes) {
            out->best = found;
            out->cost = facts.cost;
            out->proven = facts.cost <= out->bound;
        }
    }
    arena_free(&scratch);
    return ok;
}

bool checkmate_relax(const struct problem *p, int64_t budget_bytes, const struct cbc_limits *limits,
                     struct arena *a, struct checkmate_relaxed *out) {
    assert(p && limits && a && out);
    struct arena scratch = arena_make(a->mem);
    struct program g;
    struct cbc_answer answer;
    *out = (struct checkmate_relaxed){.n_stages = p->n, .bound = problem_base_cost(p)};
    bool ok = build(p, CHECKMATE_F0, budget_bytes, false, &scratch, &g) &&
              cbc_lp(&g.m, limits, &scratch, &answer);
    out->s = ok ? ARENA_ARRAY(a, double, (size_t)g.n_stages *(size_t)p->n) : NULL;
    ok = ok && out->s;
    if (ok && answer.result == CBC_OPTIMAL) {
        out->solved = true;
        out->n_stages = g.n_stages;
        out->bound = cut_cost_bound(
            &g.v, answer.x ? fmin(answer.bound, answer.objective - limits->gap) : answer.bound,
            CUT_MIP_SLACK);
        for (size_t k = 0; k < (size_t)g.n_stages * (size_t)p->n; k++)
            out->s[k] = g.s[k] >= 0 ? answer.x[g.s[k]] : 0;
    }
    arena_free(&scratch);
    return ok;
}
