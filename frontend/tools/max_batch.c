// The largest batch: see max_batch.h. Stages: a copy of the model with the batch set; the problem
// of its step; one search within the budget and the time that is allowed; and around these, for
// each method, doubling or halving from a guess, then bisection.
#include "frontend/tools/max_batch.h"

#include <math.h>
#include <string.h>

#include "ir/copy.h"
#include "passes/plan/plan.h"

#define MOST_ROUNDS 6 // searches for one batch, each within less

static bool is_data(const struct value *v) {
    return !v->init && !v->sparse_init && v->type && v->type->kind == TYPE_TENSOR &&
           v->type->has_shape && v->type->rank > 0;
}

static bool set_first(struct model *m, struct value *v, int64_t batch) {
    struct type *t = arena_copy(m->arena, v->type, sizeof *t);
    struct dim *dims = arena_copy(m->arena, v->type->dims, (size_t)v->type->rank * sizeof *dims);
    if (!t || !dims)
        return false;
    dims[0] = (struct dim){.size = batch, .denotation = dims[0].denotation};
    t->dims = dims;
    v->type = t;
    return true;
}

status max_batch_set(struct model *m, int64_t batch, struct diags *d) {
    struct graph *g = m->graph;
    const struct dim *first = NULL;
    for (size_t i = 0; i < g->inputs.n; i++) {
        struct value *v = graph_value(g, g->inputs.at[i]);
        if (!is_data(v))
            continue;
        const struct dim *now = &v->type->dims[0];
        if (!first)
            first = now;
        if ((now->size == DIM_UNKNOWN || now->size == first->size) && !set_first(m, v, batch))
            return diag_out_of_memory(d);
    }
    if (!first)
        return diag_error(d, DIAG_UNSUPPORTED, loc_file(m->path),
                          "no input has a first dimension that could be the batch");
    for (size_t i = 1; i < g->values.n; i++) // what was declared for another batch
        if (g->values.at[i].def.i)
            g->values.at[i].type = NULL;
    return ST_OK;
}

// ---- One batch size ----

struct searching {
    const struct model *m;
    struct pass_context *c;
    const struct batch_settings *settings;
    const struct batch_hooks *hooks;
    struct batch_line *line;
    int64_t impossible; // by any method: the smallest that is proven
    struct steps start; // of the last schedule that was good enough
    int32_t start_n;    // nodes of the problem that it is of
    struct arena start_arena;
    bool has_told; // the passes' warnings are out
};

static int64_t max_cost(const struct batch_settings *s, const struct problem *p) {
    int64_t base = problem_base_cost(p), forward = 0;
    for (int32_t i = 0; i < p->n; i++)
        forward += p->backward[i] ? 0 : p->cost[i];
    if (s->one_forward)
        return base + forward; // fits: both are below PROBLEM_MAX_COST
    double most = floor((double)base * (1 + s->overhead));
    return most < (double)PROBLEM_MAX_COST * 100 ? (int64_t)most : PROBLEM_MAX_COST * 100;
}

static bool keep_start(struct searching *k, const struct problem *p, const struct schedule *s) {
    arena_free(&k->start_arena);
    k->start_n = p->n;
    k->start.n = s->steps.n;
    k->start.at =
        arena_copy(&k->start_arena, s->steps.at, (size_t)s->steps.n * sizeof *s->steps.at);
    return k->start.at;
}

// One search within o->budget_bytes. *found: a schedule that is fast enough.
static status search_once(struct searching *k, const struct problem *p, struct solve_options *o,
                          int64_t batch, struct arena *a, struct schedule *s, bool *found) {
    struct solve_hooks hooks = {.stop = k->hooks->stop};
    int64_t most = max_cost(k->settings, p);
    o->method = k->line->method->name;
    o->target_cost = k->line->method->baseline ? -1 : most;
    if (k->start.n && k->start_n == p->n && !k->line->method->baseline) {
        o->starts = &k->start;
        o->n_initial = 1;
    }
    status st = solve(p, o, &hooks, a, k->c->diags, s);
    if (st && st != ST_INFEASIBLE && st != ST_NO_PLAN)
        return st;
    *found = !st && s->cost <= most;
    int64_t bound = s->free_order ? s->bound_any : s->bound;
    bool proven = st == ST_INFEASIBLE || (bound != BOUND_NONE && bound > most);
    if (proven && !k->settings->on_runtime && (!k->impossible || batch < k->impossible))
        k->impossible = batch;
    return ST_OK;
}

// What is counted on the runtime is not what the solver counts: when a plan is over the budget, the
// next search gets as much less.
static status try_problem(struct searching *k, struct model *step, const struct remat *r,
                          int64_t batch, struct arena *a, bool *fits) {
    const struct problem *p = &r->problem;
    int64_t budget = k->settings->solve.budget_bytes, base = problem_base_cost(p);
    struct solve_options o = k->settings->solve;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        struct schedule s;
        bool found;
        status st = search_once(k, p, &o, batch, a, &s, &found);
        if (st || !found)
            return st;
        int64_t peak = s.peak_bytes;
        if (k->settings->on_runtime)
            st = plan_measure(step, r, s.steps, k->c, &peak);
        if (st)
            return st;
        *fits = peak <= budget;
        if (*fits) {
            k->line->overhead = base > 0 ? (double)(s.cost - base) / (double)base : 0;
            k->line->share = (double)peak / (double)budget;
            return keep_start(k, p, &s) ? ST_OK : diag_out_of_memory(k->c->diags);
        }
        o.budget_bytes -= peak - budget;
        if (o.budget_bytes <= p->persistent_bytes)
            break;
    }
    return ST_OK;
}

static status try_batch(struct searching *k, int64_t batch, bool *fits) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct pass_context c = *k->c;
    struct remat r;
    size_t n_told = c.diags->list.n;
    *fits = false;
    if (k->hooks->begin)
        k->hooks->begin(k->hooks->context, k->line->method, batch);
    c.arena = &scratch;
    if (k->has_told)
        c.progress = NULL;
    struct model *copy = model_copy(k->m, &scratch);
    status st = copy ? max_batch_set(copy, batch, c.diags) : diag_out_of_memory(c.diags);
    if (!st)
        st = sweep_problem(copy, &c, &r);
    if (!st)
        st = try_problem(k, copy, &r, batch, &scratch, fits);
    if (!st && k->has_told) // what the passes warn of is the same for every batch
        c.diags->list.n = n_told;
    k->has_told = true;
    arena_free(&scratch);
    return st;
}

// ---- Around it ----

static bool is_stopped(const struct searching *k) {
    return k->hooks->stop && stop_now(k->hooks->stop);
}

// Leaves the largest that fits and the smallest that does not in the line. What a stop interrupted
// counts as nothing.
static status narrow(struct searching *k, int64_t guess) {
    struct batch_line *l = k->line;
    status st = ST_OK;
    while (!st && !is_stopped(k) && (l->fails == 0 || l->fails - l->fits > 1)) {
        int64_t batch = l->fails == 0 ? (l->fits ? 2 * l->fits : guess)
                        : l->fits     ? l->fits + (l->fails - l->fits) / 2
                                      : l->fails / 2;
        bool fits;
        if (batch < 1 || batch > BATCH_MOST)
            break;
        st = try_batch(k, batch, &fits);
        if (is_stopped(k) && !fits)
            return ST_OK;
        if (st)
            break;
        if (fits)
            l->fits = batch;
        else
            l->fails = batch;
    }
    return st;
}

status max_batch_search(const struct model *m, struct pass_context *c,
                        const struct batch_settings *settings,
                        const struct solve_method *const *methods, size_t n_methods,
                        const struct batch_hooks *hooks, struct batch_table *out) {
    struct searching k = {.m = m, .c = c, .settings = settings, .hooks = hooks};
    int64_t guess = 8;
    status st = ST_OK;
    k.start_arena = arena_make(c->arena->mem);
    *out = (struct batch_table){.budget_bytes = settings->solve.budget_bytes,
                                .on_runtime = settings->on_runtime};
    out->lines = ARENA_ARRAY(c->arena, struct batch_line, n_methods);
    if (!out->lines)
        st = diag_out_of_memory(c->diags);
    for (size_t i = 0; i < n_methods && !st; i++) {
        k.line = &out->lines[out->n_lines++];
        k.line->method = methods[i];
        st = narrow(&k, guess);
        if (k.line->fits > guess)
            guess = k.line->fits;
        k.line->impossible = k.impossible;
    }
    for (size_t i = 0; i < out->n_lines; i++)
        out->lines[i].impossible = k.impossible;
    out->is_interrupted = is_stopped(&k);
    arena_free(&k.start_arena);
    return st;
}
