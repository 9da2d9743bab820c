// Divisions of a step for several devices: see plan_divide.h. A candidate is a list of requests for
// the pass `shard`. Each is carried out on a copy of the step, so that it is evaluated by the costs
// of its parts: they are placed (part k on device k; or a stage of consecutive layers on each
// device), scheduled (solver/place/place_assigned.c) and replayed.
#include "passes/plan/plan_divide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "passes/plan/divide_inner.h"
#include "passes/shard/shard_options.h"

enum { MAX_WAYS = 64, N_HYBRIDS = 3 };

static status divide(struct divider *x, struct plan_division *d, struct pass_context *c) {
    d->model = model_copy(x->m, c->arena);
    if (!d->model || !options_copy(c->options, c->arena, &d->options))
        return diag_out_of_memory(c->diags);
    c->options = &d->options;
    status st = d->shard ? options_set(&d->options, c->diags, "shard", d->shard) : ST_OK;
    if (!st && d->shard)
        st = pass_run_all(PASS_PIPELINE(&pass_shard, &pass_names, &pass_costs), d->model, c);
    return st ? st : remat_make(d->model->graph, c, false, &d->placement.remat);
}

static status start(struct divider *x, struct plan_division *d, struct pass_context *c) {
    struct placement *p = &d->placement.problem;
    int32_t *part = divide_parts_of(&d->placement.remat, c->arena);
    if (!part)
        return diag_out_of_memory(c->diags);
    d->placement.rig = x->rig;
    status st = placement_problem_make(d->model->graph, &d->placement.remat, x->rig,
                                       d->by_part ? part : NULL, c, p);
    bool *on = st ? NULL : ARENA_ARRAY(c->arena, bool, (size_t)p->graph.n *(size_t)p->n_devices);
    if (st || !on)
        return st ? st : diag_out_of_memory(c->diags);
    if (d->by_part)
        divide_place_parts(p, part, on);
    else if (!divide_place_stages(p, part, c->arena, on))
        return diag_out_of_memory(c->diags);
    if (!place_assigned(p, on, c->arena, &d->start))
        return diag_out_of_memory(c->diags);
    return strategy_replay(p, &d->start, c->arena, c->diags, &d->facts);
}

// Everything that is made of the candidate lives in `a`.
static status evaluate(struct divider *x, struct plan_division *d, struct arena *a, double *value) {
    struct diags quiet = diags_make(a); // what cannot be divided stays whole
    struct pass_context own = *x->c;
    own.diags = &quiet;
    own.arena = a;
    status st = divide(x, d, &own);
    if (!st)
        st = start(x, d, &own);
    if (!st)
        *value = mcmc_value_of_facts(x->objective, &d->placement.problem, &d->facts);
    if (!st && d->facts.excess_bytes > 0) // within memory first
        *value = 1e30 * (1 + (double)d->facts.excess_bytes);
    return st;
}

static void list(struct divider *x, const char *summary, double value) {
    str_addf(&x->considered, "%s%s: ", x->considered.n ? "; " : "", summary);
    if (value >= 1e30)
        str_add(&x->considered, "over memory");
    else if (x->objective->goal == MCMC_CUSTOM)
        str_addf(&x->considered, "%g", value);
    else
        str_addf(&x->considered, "%.3f ms", value * 1e-6);
}

status divide_consider(struct divider *x, struct plan_division d, bool lists) {
    if (x->considered.n && stop_now(&x->stop))
        return ST_OK;
    struct arena scratch = arena_make(x->c->arena->mem);
    struct plan_division tried = d;
    double value = INFINITY;
    status st = evaluate(x, &tried, &scratch, &value);
    arena_free(&scratch);
    if (st)
        return st == ST_LIMIT ? diag_out_of_memory(x->c->diags) : ST_OK;
    if (lists)
        list(x, d.summary, value);
    if (value >= x->best_value)
        return ST_OK;
    st = evaluate(x, &d, x->c->arena, &x->best_value); // the same again, to be kept
    *x->best = d;
    x->best->is_found = true;
    return st ? diag_out_of_memory(x->c->diags) : ST_OK;
}

// ---- Candidates ----

static status consider_base(struct divider *x, const char *what, const char *shard) {
    const char *summary = str_format(x->c->arena, "%s, %d ways", what, x->ways);
    return divide_consider(
        x, (struct plan_division){.shard = shard, .summary = summary, .by_part = true}, true);
}

// Products by their parameters, and the rest by samples.
static status consider_hybrid(struct divider *x, const char *rest, size_t n) {
    struct str text = str_make(x->c->arena);
    str_add(&text, rest);
    status st = ST_OK;
    for (size_t k = 0; k < n && !st; k++)
        st = divide_request_product(x, &text, &x->product[k]);
    if (st)
        return st;
    char *what =
        str_format(x->c->arena, "tensor parallelism of %zu product%s and data parallelism%s", n,
                   n == 1 ? "" : "s", strstr(rest, ":scatter") ? " with sums in pieces" : "");
    return consider_base(x, what, str_text(&text));
}

static status consider_pipelines(struct divider *x, int64_t microbatches, int64_t max_ways) {
    struct arena *a = x->c->arena;
    int64_t first = microbatches > 0 ? microbatches : x->rig->places.n_devices;
    int64_t last = microbatches > 0 ? microbatches : 4 * first;
    status st = ST_OK;
    first = first > max_ways ? max_ways : first;
    for (int64_t n = first; n <= last && n >= 2 && n <= max_ways && !st; n *= 2)
        st = divide_consider(
            x,
            (struct plan_division){.shard = str_format(a, "*:sample:%lld", (long long)n),
                                   .summary =
                                       str_format(a, "pipeline, %lld micro-batches", (long long)n)},
            true);
    return st;
}

static bool has_large_parameter(const struct graph *g) {
    int64_t n;
    for (size_t i = 1; i < g->values.n; i++)
        if (g->values.at[i].init && type_bytes(g->values.at[i].type, &n) &&
            n >= SHARD_MIN_SCATTERED)
            return true;
    return false;
}

static status consider_all(struct divider *x, int64_t microbatches, int64_t max_ways) {
    struct arena *a = x->c->arena;
    const char *by_sample = str_format(a, "*:sample:%d", x->ways);
    const char *in_pieces = str_format(a, "*:sample:%d:scatter", x->ways);
    status st = ST_OK;
    divide_find_products(x);
    if (x->samples)
        st = consider_base(x, "data parallelism", by_sample);
    double plain = x->best_value;
    if (!st && x->samples && has_large_parameter(x->m->graph))
        st = consider_base(x, "data parallelism with sums in pieces", in_pieces);
    const char *rest = x->best_value < plain ? in_pieces : by_sample;
    for (size_t n = x->n_products, k = 0; n > 0 && k < N_HYBRIDS && !st; n /= 4, k++)
        if (x->samples && x->parameters)
            st = consider_hybrid(x, rest, n);
    if (!st && x->samples)
        st = consider_pipelines(x, microbatches, max_ways);
    if (!st && x->parameters)
        st = consider_base(x, "division by parameters", str_format(a, "*:parameter:%d", x->ways));
    if (!st && x->attributes)
        st = consider_base(x, "division by attributes", str_format(a, "*:attribute:%d", x->ways));
    return st ? st : divide_search(x);
}

// The step is divided by the user.
static status consider_given(struct divider *x) {
    status st = divide_consider(
        x, (struct plan_division){.summary = "part by part", .by_part = true}, true);
    return st ? st : divide_consider(x, (struct plan_division){.summary = "layer by layer"}, true);
}

static double half_of_time(int64_t end_ns) {
    return end_ns == STOP_NEVER ? INFINITY : (double)(end_ns - stop_clock_ns()) * 1e-9 / 2;
}

status plan_divide(const struct model *m, const struct rig *rig, struct pass_context *c,
                   const struct mcmc_objective *objective, int64_t end_ns,
                   struct plan_division *out) {
    *out = (struct plan_division){0};
    struct divider x = {.m = m,
                        .rig = rig,
                        .c = c,
                        .objective = objective,
                        .ways = rig->places.n_devices,
                        .samples = shard_dims_allow(c->options, "sample"),
                        .attributes = shard_dims_allow(c->options, "attribute"),
                        .parameters = shard_dims_allow(c->options, "parameter"),
                        .best = out,
                        .best_value = INFINITY,
                        .stop = stop_child(c->stop, half_of_time(end_ns)),
                        .considered = str_make(c->arena)};
    bool is_given = options_get(c->options, "shard")->list.n > 0;
    bool is_off = options_flag(c->options, "no-shard") && !is_given;
    const char *micro = options_text(c->options, "microbatches");
    bool is_auto = strcmp(micro, "auto") == 0;
    char *end = NULL;
    int64_t n = is_auto ? 0 : strtoll(micro, &end, 10);
    if (!is_auto && (*end || end == micro || n < 1 || n > MAX_WAYS))
        return diag_error(c->diags, DIAG_USAGE, loc_none(),
                          "--microbatches is %s, neither auto nor 1 .. %d", micro, MAX_WAYS);
    int64_t max_ways =
        options_given(c->options, "max-ways") ? options_int(c->options, "max-ways") : MAX_WAYS;
    max_ways = max_ways > MAX_WAYS ? MAX_WAYS : max_ways;
    bool is_one = x.ways < 2;
    x.ways = x.ways > max_ways ? (int32_t)max_ways : x.ways;
    status st = shard_check_dims(c->options, c->diags);
    if (st || is_off || is_one)
        return st;
    st = is_given ? consider_given(&x) : consider_all(&x, n, max_ways);
    out->others = str_text(&x.considered);
    return st;
}
