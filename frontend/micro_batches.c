// The number of micro-batches: see micro_batches.h. Recomputation and smaller batches both trade
// time for memory; which is cheaper depends on the model. Every candidate is planned within the
// same bytes, and its time is that of its runs and of one update.
#include "frontend/micro_batches.h"

#include "ir/copy.h"
#include "passes/plan/step.h"

#define MAX_CANDIDATES 6 // divisors of the batch, the smallest first
#define TIME_SHARE     4 // of --time is for a candidate; without it, each has the default

struct chooser {
    struct pipeline *p;
    struct arena *scratch;
    int64_t batch;        // of all micro-batches together; 0: no divisors are tried
    int64_t budget_bytes; // 0: none, the least memory is wanted
    double best_cost;     // of a sample; below 0: none
    int64_t n_best;
};

// `text`: of str_format.
static status set_text(struct options *o, struct diags *d, const char *name, const char *text) {
    return text ? options_set(o, d, name, text) : diag_out_of_memory(d);
}

static status set_number(struct options *o, struct diags *d, const char *name, int64_t n) {
    return set_text(o, d, name, str_format(d->arena, "%lld", (long long)n));
}

// The options of one candidate.
static status set_candidate(const struct chooser *k, struct options *o, int64_t n,
                            struct diags *d) {
    status st = set_number(o, d, "accumulate", n);
    if (!st && n > 1)
        st = set_number(o, d, "batch", k->batch / n);
    if (!st && k->budget_bytes)
        st = set_text(o, d, "budget", str_format(d->arena, "%lldB", (long long)k->budget_bytes));
    return st;
}

// The batch of a training step: the first dimension of its first input of data.
static int64_t find_batch(const struct graph *g) {
    for (size_t i = 0; i < g->inputs.n; i++) {
        const struct value *x = graph_value(g, g->inputs.at[i]);
        if (!x->init && x->type && x->type->rank > 0 && x->type->dims[0].size > 0)
            return x->type->dims[0].size;
    }
    return 0;
}

// The whole batch as a step without a plan: its size, and the peak that a percentage is of.
static status measure_whole(struct chooser *k, struct pass_context *c) {
    int64_t whole_bytes;
    struct model *m = model_copy(k->p->model, k->scratch);
    status st = m ? step_make_costed(m, c) : diag_out_of_memory(c->diags);
    if (!st)
        st = plan_measure_step(m, c, &whole_bytes);
    if (st)
        return st;
    k->batch = find_batch(m->graph);
    k->budget_bytes = options_budget(c->options, "budget", whole_bytes, 0);
    return ST_OK;
}

// The time of the update of accumulated gradients; -1: it does not fit.
static status cost_update(struct chooser *k, struct pass_context *c, struct options *o,
                          int64_t *cost) {
    int64_t peak = 0;
    struct model *m = model_copy(k->p->model, k->scratch);
    struct plan_facts f = plan_facts_none();
    status st = m ? options_set(o, c->diags, "gradients", "inputs") : diag_out_of_memory(c->diags);
    if (!st)
        st = step_make_costed(m, c);
    if (!st)
        st = plan_measure_step(m, c, &peak);
    if (!st)
        st = plan_figures(m, m, c, &f);
    *cost = k->budget_bytes && peak > k->budget_bytes ? -1 : f.cost;
    return st;
}

// One candidate. A plan that is not found is none; *stop: larger numbers cannot be better.
static status try_number(struct chooser *k, const struct pass_context *outer, int64_t n,
                         bool *stop) {
    struct pass_context c = *outer;
    struct diags own = diags_make(k->scratch);
    struct plan_facts f = plan_facts_none();
    struct options o;
    int64_t update_cost = 0;
    c.diags = &own;
    c.options = &o;
    c.progress = NULL;
    c.start_ns = stop_clock_ns();
    struct model *m = model_copy(k->p->model, k->scratch);
    bool ok = m && options_copy(outer->options, k->scratch, &o);
    status st = ok ? set_candidate(k, &o, n, &own) : diag_out_of_memory(outer->diags);
    if (!st && options_given(&o, "time"))
        st = set_text(&o, &own, "time",
                      str_format(k->scratch, "%g", options_seconds(&o, "time") / TIME_SHARE));
    if (!st)
        st = step_make_costed(m, &c);
    if (!st)
        st = plan_memory(m, &c, NULL, &f);
    if (!st)
        st = plan_figures(f.step ? f.step : m, m, &c, &f);
    if (!st && n > 1)
        st = cost_update(k, &c, &o, &update_cost);
    bool fits = !st && update_cost >= 0 && (!f.planned || f.peak_bytes <= k->budget_bytes);
    if (!ok || !fits)
        return ok ? ST_OK : st;
    double sample = ((double)n * (double)f.cost + (double)update_cost) / (double)k->batch;
    if (k->best_cost < 0 || sample < k->best_cost) {
        k->best_cost = sample;
        k->n_best = n;
    }
    *stop = f.cost <= f.base_cost; // the update comes on top of more runs
    return ST_OK;
}

static status take_best(struct chooser *k, struct options *o) {
    struct pass_context *c = k->p->context;
    if (k->best_cost < 0)
        k->n_best = 1; // whose plan says what is missing
    status st = set_candidate(k, o, k->n_best, c->diags);
    if (k->best_cost >= 0)
        diag_note(c->diags, DIAG_USAGE, loc_file(k->p->model->path),
                  "--accumulate auto: %lld micro-batches of %lld%s", (long long)k->n_best,
                  (long long)(k->batch / k->n_best),
                  k->n_best == 1 ? "; the step holds its update, so no file is written for it"
                                 : "");
    if (k->n_best == 1)
        k->p->unchanged = NULL;
    c->options = o;
    return st;
}

status micro_batches_choose(struct pipeline *p) {
    struct arena scratch = arena_make(p->context->arena->mem);
    struct chooser k = {.p = p, .scratch = &scratch, .best_cost = -1};
    struct options whole, *o = ARENA_NEW(p->context->arena, struct options);
    struct pass_context c = *p->context;
    bool ok = o && options_copy(c.options, c.arena, o) && options_copy(c.options, &scratch, &whole);
    status st = ok ? options_set(&whole, c.diags, "accumulate", "1") : diag_out_of_memory(c.diags);
    size_t n_diags = c.diags->list.n;
    c.options = &whole;
    c.progress = NULL;
    if (!st)
        st = measure_whole(&k, &c);
    if (!st)
        c.diags->list.n = n_diags; // the plan that is written gives the same notes
    int n_tried = 0;
    bool stop = false;
    for (int64_t n = 1; n <= k.batch && !st && !stop && n_tried < MAX_CANDIDATES; n++) {
        if (k.batch % n || (c.stop && stop_raised(c.stop)))
            continue;
        n_tried++;
        st = try_number(&k, &c, n, &stop);
    }
    if (!st)
        st = take_best(&k, o);
    arena_free(&scratch);
    return st;
}
