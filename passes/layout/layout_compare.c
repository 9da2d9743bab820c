// The comparison of allocation algorithms on one model: see layout_compare.h. The rows follow the
// lecture "Memory Optimization" (CSE 599G1, 2017). The first rows allocate the baseline step in
// different ways. The others recompute, each in place and with sharing:
//
//   sqrt(n)     keeps every sqrt(n)-th articulation point of the forward pass (Chen et al., 2016);
//               every sqrt(n)-th node where there are too few of them, as in an LSTM
//   recursion   nested checkpoints, at the smallest memory that the method reaches
//   planned     the smallest memory that mfc finds in the time of each of these
#include "passes/layout/layout_compare.h"

#include "ir/copy.h"
#include "passes/layout/layout_inner.h"
#include "passes/remat/remat.h"
#include "solver/curve.h"

#define MAX_KNOWN 4 // two by published methods, two by the solver

// A schedule and its arena. The solver charges whole clusters and nothing in place, so of two
// schedules the one with the smaller peak may need the larger arena.
struct candidate {
    struct schedule schedule;
    struct layout_row row;
};

struct candidates {
    struct candidate at[MAX_KNOWN];
    int32_t n;
};

struct comparison {
    const struct model *step;
    struct pass_context *c;
    struct layout_rows *out;
    struct remat remat;
    struct solve_options solve;
    int64_t base_cost;
    struct layout_row baseline; // the baseline step, in place and with sharing
};

static status add_row(struct comparison *k, struct layout_row row) {
    pass_progress(k->c, "layout: %s, %lld bytes", row.name, (long long)row.arena_bytes);
    return VEC_PUSH(k->c->arena, &k->out->rows, row) ? ST_OK : diag_out_of_memory(k->c->diags);
}

static status measure(struct comparison *k, const struct graph *g, bool in_place, bool shares,
                      struct layout *l) {
    struct layout_options o = {.in_place = in_place,
                               .shares = shares,
                               .n_streams = 1,
                               .alignment = options_int(k->c->options, "alignment")};
    return layout_of(g, &o, k->c->arena, k->c->diags, k->c->stop, l);
}

static status add_static(struct comparison *k) {
    static const struct {
        const char *name;
        bool in_place, shares;
    } kinds[] = {{"no reuse", false, false},
                 {"in place", true, false},
                 {"sharing", false, true},
                 {"in place and sharing", true, true}};
    status st = ST_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !st; i++) {
        struct layout l;
        st = measure(k, k->step->graph, kinds[i].in_place, kinds[i].shares, &l);
        if (st)
            break;
        k->baseline = (struct layout_row){kinds[i].name, l.arena_bytes, l.live_bytes, k->base_cost};
        k->out->persistent_bytes = l.persistent_bytes;
        st = add_row(k, k->baseline);
    }
    return st;
}

static status add_pools(struct comparison *k) {
    status st = ST_OK;
    for (int by_class = 0; by_class < 2 && !st; by_class++) {
        int64_t taken;
        struct layout l;
        st = layout_pool_bytes(k->step->graph, by_class, k->c->arena, k->c->diags, &taken);
        if (!st)
            st = measure(k, k->step->graph, false, true, &l);
        if (!st)
            st = add_row(k, (struct layout_row){by_class ? "dynamic pool, by size class"
                                                         : "dynamic pool, best fit",
                                                taken, l.live_bytes, k->base_cost});
    }
    return st;
}

static status lay_out(struct comparison *k, const char *name, struct candidate *x) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct model *copy = model_copy(k->step, &scratch);
    struct remat_result result;
    struct layout l;
    status st = copy ? remat_apply(copy->graph, &k->remat, x->schedule.steps, &scratch, k->c->diags,
                                   &result)
                     : diag_out_of_memory(k->c->diags);
    if (!st)
        st = measure(k, copy->graph, true, true, &l);
    if (!st)
        x->row = (struct layout_row){name, l.arena_bytes, l.live_bytes,
                                     k->base_cost + result.recompute_cost};
    arena_free(&scratch);
    return st;
}

static status add_schedule(struct comparison *k, const char *name, const struct schedule *s,
                           struct candidates *known) {
    struct candidate *x = &known->at[known->n++];
    x->schedule = *s;
    status st = lay_out(k, name, x);
    return st ? st : add_row(k, x->row);
}

// Runs one published method. That it finds nothing is no error: *found is false.
static status run_method(struct comparison *k, const char *method, int64_t budget_bytes,
                         struct schedule *s, bool *found) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct diags silent = diags_make(&scratch);
    struct solve_options o = k->solve;
    struct solve_hooks hooks = {.stop = k->c->stop};
    o.method = method;
    o.budget_bytes = budget_bytes;
    o.seconds = 0; // the published methods terminate by themselves
    status st = solve(&k->remat.problem, &o, &hooks, k->c->arena, &silent, s);
    *found = st == ST_OK && s->steps.n > 0;
    bool is_answer = st == ST_OK || st == ST_INFEASIBLE || st == ST_NO_PLAN;
    if (!is_answer)
        diags_take(k->c->diags, &silent);
    arena_free(&scratch);
    return is_answer ? ST_OK : st;
}

// The smallest budget, to one percent, for which the method finds a schedule.
static status smallest_budget(struct comparison *k, const char *method, struct schedule *best,
                              bool *found) {
    status st = run_method(k, method, BUDGET_NONE, best, found);
    int64_t low = k->remat.problem.persistent_bytes, high = *found ? best->peak_bytes : 0;
    while (!st && *found && high - low > (high - k->remat.problem.persistent_bytes) / 100 + 1) {
        struct schedule s;
        bool fits;
        int64_t middle = low + (high - low) / 2;
        st = run_method(k, method, middle, &s, &fits);
        if (!st && fits) {
            *best = s;
            high = s.peak_bytes < middle ? s.peak_bytes : middle;
        } else {
            low = middle;
        }
    }
    return st;
}

// The smallest arena within this time, of the known schedules and the one that the solver finds
// with them as initial solutions.
static status add_planned(struct comparison *k, const char *name, int64_t max_cost,
                          struct candidates *known) {
    struct solve_hooks hooks = {.stop = k->c->stop};
    struct solve_options o = k->solve;
    struct steps initial[MAX_KNOWN];
    struct candidate *found = &known->at[known->n];
    o.initial = initial;
    for (; o.n_initial < known->n; o.n_initial++)
        initial[o.n_initial] = known->at[o.n_initial].schedule.steps;
    status st = curve_min_memory(
        &(struct curve_search){&k->remat.problem, &o, &hooks, NULL, k->c->arena, k->c->diags},
        max_cost, &found->schedule);
    if (!st)
        st = lay_out(k, name, found);
    if (st)
        return st;
    struct layout_row best = k->baseline;
    known->n++;
    for (int32_t i = 0; i < known->n; i++)
        if (known->at[i].schedule.cost <= max_cost &&
            known->at[i].row.arena_bytes < best.arena_bytes)
            best = known->at[i].row;
    best.name = name;
    return add_row(k, best);
}

static status add_recomputed(struct comparison *k) {
    struct schedule root, recursion;
    struct candidates known = {0};
    bool has_root, has_recursion;
    status st = run_method(k, "chen-sqrt", BUDGET_NONE, &root, &has_root);
    if (!st && !has_root)
        st = run_method(k, "chen-sqrt-linear", BUDGET_NONE, &root, &has_root);
    if (!st)
        st = smallest_budget(k, "recursive", &recursion, &has_recursion);
    if (!st && has_root)
        st = add_schedule(k, "sqrt(n)", &root, &known);
    if (!st && has_recursion)
        st = add_schedule(k, "recursion", &recursion, &known);
    if (!st && has_root)
        st = add_planned(k, "planned, in the time of sqrt(n)", root.cost, &known);
    if (!st && has_recursion)
        st = add_planned(k, "planned, in the time of recursion", recursion.cost, &known);
    return st;
}

status layout_compare(const struct model *step, struct pass_context *c, struct layout_rows *out) {
    struct comparison k = {.step = step, .c = c, .out = out};
    struct remat_settings settings;
    *out = (struct layout_rows){0};
    status st = remat_make(step->graph, c, false, &k.remat);
    if (!st)
        st = remat_settings_read(c->options, &k.remat, BUDGET_NONE, c->diags, &settings);
    if (st)
        return st;
    k.solve = settings.solve;
    k.solve.worker_path = c->worker_path;
    k.base_cost = k.remat.units.base_cost;
    st = add_static(&k);
    if (!st)
        st = add_pools(&k);
    return st || k.remat.clusters.n == 0 ? st : add_recomputed(&k);
}
