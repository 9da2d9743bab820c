// From the baseline step to a plan for one device: the search (plan_search.c) or a given schedule,
// applied to the step, with its numbers. The promise is about the peak of the runtime model.
#include <string.h>

#include "ir/copy.h"
#include "ir/keys.h"
#include "passes/plan/plan_inner.h"

// --plan-in: the schedule of a file.
static status take_given(struct planning *k, const char *path, struct plan_incumbent *best) {
    struct trial t;
    struct schedule *s = &best->schedule;
    *s = (struct schedule){
        .outcome = OUTCOME_FEASIBLE, .bound = BOUND_NONE, .bound_any = BOUND_NONE};
    status st = remat_make(k->m->graph, k->c, true, &k->fine);
    if (!st)
        st = remat_read(k->m->graph, &k->fine, path, k->c->arena, k->c->diags, &s->steps);
    if (!st)
        st = plan_try(k, &k->fine, s->steps, &t);
    if (st)
        return st;
    if (!k->settings.dual && t.peak_bytes > k->budget_bytes)
        return diag_error(
            k->c->diags, DIAG_NO_PLAN, loc_file(path),
            "this plan needs %lld bytes, over the budget of %lld; the largest tensors "
            "at its peak: %s",
            (long long)t.peak_bytes, (long long)k->budget_bytes, t.top);
    best->problem = &k->fine;
    return ST_OK;
}

// The numbers of the plan as metadata of the model.
static status set_numbers(struct planning *k) {
    struct model *m = k->m;
    const struct plan_report *r = k->out;
    const struct {
        const char *key;
        int64_t value;
    } entries[] = {
        {KEY_BUDGET, r->budget_bytes},
        {KEY_PEAK, r->peak_bytes},
        {KEY_PLAIN_PEAK, r->plain_peak_bytes},
        {KEY_FUSED_PEAK, r->fused_peak_bytes},
        {KEY_LIVENESS, r->liveness_bytes},
        {KEY_BASELINE_PEAK, r->baseline_bytes},
        {KEY_COST, r->cost},
        {KEY_BASE_COST, r->base_cost},
        {KEY_BOUND, r->bound},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (entries[i].value == BOUND_NONE)
            continue;
        char *text = str_format(k->c->arena, "%lld", (long long)entries[i].value);
        const char *kept = text ? pool_intern(m->pool, text) : NULL;
        if (!kept || !pairs_set(&m->metadata, m->arena, entries[i].key, kept))
            return diag_out_of_memory(k->c->diags);
    }
    return ST_OK;
}

// The incumbent becomes the plan, in the model itself.
static status finish(struct planning *k, const struct plan_incumbent *best) {
    struct plan_report *out = k->out;
    struct trial t;
    struct model *step = model_copy(k->m, k->c->arena);
    status st = step ? ST_OK : diag_out_of_memory(k->c->diags);
    if (!st && k->is_pass)
        return remat_apply(k->m->graph, best->problem, best->schedule.steps, k->c->arena,
                           k->c->diags, &t.result);
    if (!st)
        st = plan_apply(k, k->m, best->problem, best->schedule.steps, k->c->arena, &t);
    if (st)
        return st;
    const struct schedule *s = &best->schedule;
    out->planned = true;
    out->step = step;
    out->outcome = s->outcome;
    out->budget_bytes = k->settings.dual ? t.peak_bytes : k->budget_bytes;
    out->max_overhead = k->settings.dual ? k->settings.overhead : 0;
    out->peak_bytes = t.peak_bytes;
    out->plain_peak_bytes = t.plain_peak_bytes;
    out->fused_peak_bytes = t.fused_peak_bytes;
    out->liveness_bytes = t.liveness_bytes;
    out->cost = plan_cost(k, &t);
    out->bound = s->free_order ? s->bound_any : s->bound;
    if (out->bound > out->cost) { // a bound for whole clusters, of which this plan runs parts
        out->bound = out->base_cost;
        out->outcome = OUTCOME_FEASIBLE;
    }
    out->min_bytes = k->settings.dual ? s->min_bytes : 0;
    out->n_recomputed = t.result.n_recomputed;
    out->n_nodes = best->problem->units.n;
    out->n_clusters = best->problem->clusters.n;
    for (size_t i = 0; i < k->m->graph->order.n; i++) {
        const struct node *n = graph_node(k->m->graph, k->m->graph->order.at[i]);
        const char *role = pairs_get(&n->metadata, KEY_ROLE);
        out->n_control += role && strcmp(role, "control") == 0;
    }
    out->is_interrupted = plan_is_stopped(k);
    return set_numbers(k);
}

static status open_planning(struct planning *k) {
    struct pass_context *c = k->c;
    struct runtime_report baseline;
    k->out->runtime = options_text(c->options, "runtime");
    runtime_find(k->out->runtime, &k->runtime); // the option has no other values
    k->hooks = k->watch ? k->watch->hooks : remat_hooks(c);
    status st = runtime_peak(k->m, k->runtime, c->arena, c->diags, &baseline);
    if (!st)
        st = remat_make(k->m->graph, c, false, &k->coarse);
    if (!st)
        st = remat_settings_read(c->options, &k->coarse, baseline.peak_bytes, c->diags,
                                 &k->settings);
    if (st)
        return st;
    k->settings.solve.worker_path = c->worker_path;
    k->budget_bytes = k->settings.solve.budget_bytes;
    k->end_ns = plan_end_ns(c, k->settings.solve.seconds);
    k->out->baseline_bytes = baseline.peak_bytes;
    k->out->persistent_bytes = baseline.persistent_bytes;
    k->out->base_cost = k->coarse.units.base_cost;
    return ST_OK;
}

static status plan_one_device(struct planning *k) {
    struct plan_incumbent best = {0};
    status st = open_planning(k);
    if (!st && k->coarse.clusters.n == 0)
        return ST_OK;
    const char *given = options_text(k->c->options, "plan-in");
    if (!st)
        st = given ? take_given(k, given, &best) : plan_search(k, &best);
    return st ? st : finish(k, &best);
}

status plan_memory(struct model *m, struct pass_context *c, const struct plan_watch *watch,
                   struct plan_report *out) {
    struct planning k = {.m = m, .c = c, .watch = watch, .out = out};
    return plan_one_device(&k);
}

// The same as a pass, which leaves the control nodes to the pass that follows.
static status run(struct model *m, struct pass_context *c) {
    struct plan_report unused = {0};
    struct planning k = {.m = m, .c = c, .out = &unused, .is_pass = true};
    return remat_is_off(c->options) ? ST_OK : plan_one_device(&k);
}

const struct pass pass_remat = {
    .name = "remat",
    .summary = "plan what is kept and what is recomputed, within a budget",
    .needs = FACT_TOPO | FACT_SHAPES,
    .options = remat_options,
    .run = run,
};
