// The largest batch: see max_batch.h. Stages for one batch: copy the model; make the problem of its
// step with --batch; search within the budget and the maximum overhead. For each method:
// double or halve an estimate, then bisect.
#include "frontend/tools/max_batch.h"

#include <math.h>
#include <string.h>

#include "ir/copy.h"
#include "passes/plan/plan.h"
#include "passes/plan/plan_bound.h"

#define MAX_ROUNDS 6   // searches for one batch, with decreasing budgets
#define PRECISION  128 // a search ends when the next larger batch that failed is nearer than 1/128

// ---- One batch size ----

struct batch_search {
    const struct model *m;
    struct pass_context *c;
    const struct batch_settings *settings;
    const struct batch_hooks *hooks;
    struct batch_line *line; // of the current method
    int64_t batch;           // current size
    int64_t impossible;      // the smallest batch proven infeasible; 0: none
    struct steps initial;    // the last schedule that fits: initial solution of the next search
    int32_t initial_n;       // nodes of its problem
    struct arena initial_arena;
    bool has_warned; // the warnings of the passes are reported
};

static int64_t max_cost(const struct batch_settings *s, const struct problem *p) {
    int64_t base = problem_base_cost(p), forward = 0;
    for (int32_t i = 0; i < p->n; i++)
        forward += p->backward[i] ? 0 : p->cost[i];
    if (s->one_forward)
        return base + forward; // fits: both are below PROBLEM_MAX_COST
    double max = floor((double)base * (1 + s->overhead));
    return max < (double)PROBLEM_MAX_COST * 100 ? (int64_t)max : PROBLEM_MAX_COST * 100;
}

static bool keep_initial(struct batch_search *k, const struct problem *p,
                         const struct schedule *s) {
    arena_free(&k->initial_arena);
    k->initial_n = p->n;
    k->initial.n = s->steps.n;
    k->initial.at =
        arena_copy(&k->initial_arena, s->steps.at, (size_t)s->steps.n * sizeof *s->steps.at);
    return k->initial.at;
}

// One search within o->budget_bytes. *found: a schedule within the maximum overhead.
static status search_once(struct batch_search *k, const struct problem *p, struct solve_options *o,
                          struct arena *a, struct schedule *s, bool *found) {
    struct solve_hooks hooks = {.stop = k->hooks->stop};
    int64_t max = max_cost(k->settings, p);
    o->method = k->line->method->name;
    o->target_cost = k->line->method->baseline ? -1 : max;
    if (k->initial.n && k->initial_n == p->n && !k->line->method->baseline) {
        o->initial = &k->initial;
        o->n_initial = 1;
    }
    status st = solve(p, o, &hooks, a, k->c->diags, s);
    if (st && st != ST_INFEASIBLE && st != ST_NO_PLAN)
        return st;
    *found = !st && s->cost <= max;
    return ST_OK;
}

// No plan was found: is it proven that there is none?
static status look_for_proof(struct batch_search *k, const struct model *step,
                             const struct remat *r, struct arena *a) {
    struct pass_context c = *k->c;
    struct plan_bounds b;
    int64_t min_bytes;
    c.arena = a;
    bool counts_session = k->settings->on_runtime && plan_counts_session(step->graph, c.options);
    status st = plan_bounds_make(step->graph, &r->units, counts_session, &c, &b);
    if (!st)
        st = plan_bounds_min_bytes(&b, max_cost(k->settings, &r->problem), &min_bytes);
    if (!st && min_bytes > k->settings->solve.budget_bytes &&
        (!k->impossible || k->batch < k->impossible))
        k->impossible = k->batch;
    return st;
}

// The peak on the runtime differs from the liveness peak of the solver: when a plan exceeds the
// budget, the next search gets a budget that is smaller by the excess.
static status try_problem(struct batch_search *k, struct model *step, const struct remat *r,
                          struct arena *a, bool *fits) {
    const struct problem *p = &r->problem;
    int64_t budget = k->settings->solve.budget_bytes, base = problem_base_cost(p);
    struct solve_options o = k->settings->solve;
    for (int round = 0; round < MAX_ROUNDS; round++) {
        struct schedule s;
        bool found = false;
        status st = search_once(k, p, &o, a, &s, &found);
        if (st || !found)
            return st ? st : look_for_proof(k, step, r, a);
        int64_t peak = s.peak_bytes;
        if (k->settings->on_runtime)
            st = plan_measure(step, r, s.steps, k->c, &peak);
        if (st)
            return st;
        *fits = peak <= budget;
        if (*fits) {
            k->line->overhead = base > 0 ? (double)(s.cost - base) / (double)base : 0;
            k->line->share = (double)peak / (double)budget;
            return keep_initial(k, p, &s) ? ST_OK : diag_out_of_memory(k->c->diags);
        }
        o.budget_bytes -= peak - budget;
        if (o.budget_bytes <= p->persistent_bytes)
            break;
    }
    return look_for_proof(k, step, r, a);
}

// The options of the command, with --batch.
static status set_batch(struct arena *a, const struct pass_context *c, int64_t batch,
                        struct options *out) {
    char *text = str_format(a, "%lld", (long long)batch);
    if (!text || !options_copy(c->options, a, out))
        return diag_out_of_memory(c->diags);
    return options_set(out, c->diags, "batch", text);
}

static status try_batch(struct batch_search *k, int64_t batch, bool *fits) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct pass_context c = *k->c;
    struct remat r;
    size_t n_diags = c.diags->list.n;
    *fits = false;
    k->batch = batch;
    if (k->hooks->begin)
        k->hooks->begin(k->hooks->context, k->line->method, batch);
    c.arena = &scratch;
    if (k->has_warned)
        c.progress = NULL;
    struct options options;
    struct model *copy = model_copy(k->m, &scratch);
    status st = copy ? set_batch(&scratch, k->c, batch, &options) : diag_out_of_memory(c.diags);
    c.options = &options;
    if (!st)
        st = sweep_problem(copy, &c, &r);
    if (!st)
        st = try_problem(k, copy, &r, &scratch, fits);
    if (!st && k->has_warned) // the passes give the same warnings for every batch
        c.diags->list.n = n_diags;
    k->has_warned = true;
    arena_free(&scratch);
    return st;
}

// ---- Bisection ----

static bool is_stopped(const struct batch_search *k) {
    return k->hooks->stop && stop_now(k->hooks->stop);
}

// Searches near the limit take all of their time. Baselines are exact.
static int64_t precision(const struct batch_line *l) {
    int64_t part = l->method->baseline ? 1 : l->fits / PRECISION;
    return part > 1 ? part : 1;
}

// Sets the largest batch that fits and the smallest that does not. A search that was stopped
// decides nothing.
static status bisect(struct batch_search *k, int64_t guess) {
    struct batch_line *l = k->line;
    status st = ST_OK;
    while (!st && !is_stopped(k) && (l->fails == 0 || l->fails - l->fits > precision(l))) {
        int64_t batch = l->fails == 0 ? (l->fits ? 2 * l->fits : guess)
                        : l->fits     ? l->fits + (l->fails - l->fits) / 2
                                      : l->fails / 2;
        bool fits;
        if (batch < 1 || batch > MAX_BATCH_LIMIT)
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
                        const struct batch_settings *settings, const struct batch_hooks *hooks,
                        struct batch_table *out) {
    size_t n_methods = settings->methods.n;
    struct batch_search k = {.m = m, .c = c, .settings = settings, .hooks = hooks};
    int64_t guess = 8;
    status st = ST_OK;
    k.initial_arena = arena_make(c->arena->mem);
    *out = (struct batch_table){.budget_bytes = settings->solve.budget_bytes,
                                .on_runtime = settings->on_runtime};
    out->lines = ARENA_ARRAY(c->arena, struct batch_line, n_methods);
    if (!out->lines)
        st = diag_out_of_memory(c->diags);
    for (size_t i = 0; i < n_methods && !st; i++) {
        k.line = &out->lines[out->n_lines++];
        k.line->method = settings->methods.at[i];
        st = bisect(&k, guess);
        if (k.line->fits > guess)
            guess = k.line->fits;
        k.line->impossible = k.impossible;
    }
    for (size_t i = 0; i < out->n_lines; i++)
        out->lines[i].impossible = k.impossible;
    out->is_interrupted = is_stopped(&k);
    arena_free(&k.initial_arena);
    return st;
}
