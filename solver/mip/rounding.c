// Two-phase rounding (Checkmate, section 5). The LP relaxation gives a fractional S: how much of
// each tensor is kept from stage to stage. Phase one rounds S. Phase two computes the minimal R for
// it: each stage recomputes its missing inputs, ancestors first.
//
// A rounded schedule may exceed the budget. Hence the relaxation is solved for smaller budgets
// (1 - eps), S is rounded at many thresholds and at random, and only schedules within the budget
// are kept. Two relaxations are used: Checkmate's as published, on small problems, and the tighter
// ones of the cut models (cut.h), on problems of any size.
#include <math.h>
#include <string.h>

#include "ir/base/rng.h"
#include "solver/methods.h"
#include "solver/mip/checkmate.h"
#include "solver/mip/ilp.h"
#include "solver/mip/rounding.h"
#include "solver/solve.h"

#define PUBLISHED_CELLS 20000 // max stages x (nodes + edges) of the published program
#define RANDOM_DRAWS    24

static const double shrinks[] = {0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5};

static int64_t shrunk(const struct solve_run *r, double eps) {
    int64_t capacity = r->options->budget_bytes - r->p->persistent_bytes;
    return r->p->persistent_bytes + (int64_t)((double)capacity * (1 - eps));
}

static void offer(void *context, struct sequence s) {
    solve_offer(context, s, 'R');
}

static void bounded(void *context, int64_t bound) {
    solve_bound_given(context, bound, 'R');
}

static struct ilp_task relaxation(struct solve_run *r, double eps) {
    struct ilp_task task = {.p = r->p,
                            .budget_bytes = shrunk(r, eps),
                            .kind = ILP_RELAX,
                            .gap = r->options->gap,
                            .found = offer,
                            .bounded = eps == 0 ? bounded : NULL,
                            .context = r};
    task.limits.stop = r->stop;
    task.n_rounds = r->p->n > 1000 ? 2 : 6;
    return task;
}

// A model with a cut at every node and the cells of S as columns: cut_realize gives the minimal R.
static bool model_of_s(const struct cut_view *v, const struct checkmate_relaxed *relaxed,
                       struct arena *a, struct cut_model *m, double **x) {
    int32_t n = v->p->n, n_cuts = relaxed->n_stages - 1;
    size_t n_cells = (size_t)n_cuts * (size_t)n;
    *m = (struct cut_model){.cols = {.n_cuts = n_cuts, .n = n}, .capacity_col = -1};
    m->cuts.at = ARENA_ARRAY(a, int32_t, n_cuts);
    m->cols.keep = ARENA_ARRAY(a, int32_t, n_cells);
    *x = ARENA_ARRAY(a, double, n_cells);
    if (!m->cuts.at || !m->cols.keep || !*x)
        return false;
    for (int32_t k = 0; k < n_cuts; k++)
        m->cuts.at[m->cuts.n++] = k;
    for (size_t c = 0; c < n_cells; c++) {
        m->cols.keep[c] = (int32_t)c;
        (*x)[c] = relaxed->s[c + (size_t)n];
    }
    return true;
}

// One random rounding. A tensor has one threshold for all stages, so that its lifetime stays in one
// piece.
static void draw(const double *x, int32_t n, size_t n_cells, struct rng *rng, double *level,
                 double *out) {
    for (int32_t i = 0; i < n; i++)
        level[i] = rng_unit(rng);
    for (size_t c = 0; c < n_cells; c++)
        out[c] = x[c] > level[c % (size_t)n] ? 1 : 0;
}

static bool round_at(struct solve_run *r, const struct cut_view *v, const struct cut_model *m,
                     const double *x, double threshold) {
    struct arena scratch = arena_make(r->arena->mem);
    struct sequence q;
    bool ok = cut_realize(v, m, x, threshold, &scratch, &q) && sequence_prune(r->p, &q, &scratch);
    if (ok)
        solve_offer(r, q, 'R');
    arena_free(&scratch);
    return ok;
}

static bool round_all(struct solve_run *r, const struct cut_view *v, const struct cut_model *m,
                      const double *x, struct rng *rng, struct arena *a) {
    size_t n_cells = (size_t)m->cuts.n * (size_t)v->p->n;
    double *level = ARENA_ARRAY(a, double, v->p->n), *drawn = ARENA_ARRAY(a, double, n_cells);
    bool ok = level && drawn && round_at(r, v, m, x, 0.5);
    for (int k = 1; ok && k < 20 && !solve_over(r); k++)
        ok = round_at(r, v, m, x, k / 20.0);
    for (int k = 0; ok && k < RANDOM_DRAWS && !solve_over(r); k++) {
        draw(x, v->p->n, n_cells, rng, level, drawn);
        ok = round_at(r, v, m, drawn, 0.5);
    }
    return ok;
}

// Rounds the published relaxation for (1 - eps) of the budget.
static bool round_published(struct solve_run *r, double eps, struct rng *rng) {
    struct arena scratch = arena_make(r->arena->mem);
    struct cut_view v;
    struct cut_model m;
    struct checkmate_relaxed relaxed;
    double *x;
    struct cbc_limits limits = {.stop = r->stop,
                                .seconds = cbc_seconds(stop_seconds_left(r->stop))};
    bool ok = checkmate_relax(r->p, shrunk(r, eps), &limits, &scratch, &relaxed);
    if (ok && relaxed.solved)
        ok = cut_view_make(r->p, r->options->budget_bytes, &scratch, &v) &&
             model_of_s(&v, &relaxed, &scratch, &m, &x) && round_all(r, &v, &m, x, rng, &scratch);
    arena_free(&scratch);
    return ok;
}

static bool round_cuts(struct solve_run *r, double eps, double seconds) {
    struct arena scratch = arena_make(r->arena->mem);
    struct ilp_task task = relaxation(r, eps);
    task.limits.seconds = seconds;
    struct ilp_result result;
    bool ok = ilp_solve(&task, &scratch, &result);
    arena_free(&scratch);
    return ok;
}

status rounding_run(struct solve_run *r, double seconds) {
    static const double few[] = {0, 0.02, 0.05};
    size_t n = sizeof few / sizeof *few;
    bool ok = true;
    for (size_t k = 0; ok && k < n && !solve_over(r); k++)
        ok = round_cuts(r, few[k], seconds / (double)n);
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}

status method_rounding(struct solve_run *r) {
    struct rng rng = rng_make(r->options->seed, 'R');
    int64_t cells = (int64_t)r->p->n * ((int64_t)r->p->n + r->p->n_edges);
    bool ok = true;
    for (size_t k = 0; ok && k < sizeof shrinks / sizeof *shrinks && !solve_over(r); k++) {
        ok = round_cuts(r, shrinks[k], 0);
        if (ok && cells <= PUBLISHED_CELLS && !solve_over(r))
            ok = round_published(r, shrinks[k], &rng);
    }
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}

status method_lp_bound(struct solve_run *r) {
    struct arena scratch = arena_make(r->arena->mem);
    struct ilp_task task = relaxation(r, 0);
    struct ilp_result result;
    task.found = NULL;
    bool ok = ilp_solve(&task, &scratch, &result);
    arena_free(&scratch);
    if (!ok)
        return diag_out_of_memory(r->diags);
    solve_bound_given(r, result.bound, 'C');
    return ST_OK;
}
