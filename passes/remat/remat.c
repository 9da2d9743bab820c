// The pass `remat`: a plan for the graph, by the options. Stages: problem, search, schedule, graph.
// The default pipeline (passes/plan/plan_memory.c) goes through the same stages, several times if
// need be.
#include "passes/remat/remat.h"

#include <math.h>

#include "ir/base/quantity.h"
#include "solver/curve.h"
#include "solver/model/schedule_report.h"
#include "solver/search_options.h"

static const struct option_spec remat_options[] = {
    {"budget", 0, OPTION_BUDGET, "SIZE|none", NULL, 0, 0,
     "memory to stay within: bytes, or a share of what the unplanned step needs; none: the whole "
     "step, nothing computed twice; not given: see --overhead"},
    {"overhead", 0, OPTION_TEXT, "SHARE", "10%", 0, 0,
     "without a budget: the least memory for at most so much more time"},
    {"keep", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "never run nodes of these names twice (* and ? match; a node or one of its values)"},
    {"recompute", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "do not hold the results of these nodes from the forward to the backward pass"},
    {"plan-in", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "take the order from a plan that --json wrote, instead of searching"},
    {"order", 0, OPTION_CHOICE, "given|free", "given", 0, 0,
     "whether first executions may leave the order of the step"},
    {"method", 0, OPTION_TEXT, "NAME", NULL, 0, 0, "how to search; docs/solver.md tells of each"},
    {"gap", 0, OPTION_TEXT, "SHARE", "1%", 0, 0, "end when the cost is this close to the bound"},
    {"time", 0, OPTION_SECONDS, "TIME", "20s", 0, 0,
     "stop the search after this time: 20s, 2m, 1h"},
    {"work", 0, OPTION_INT, "N", "0", 0, INT64_MAX,
     "end after so much work, the same on every machine; 0: no limit"},
    {"seed", 0, OPTION_INT, "N", "1", 0, INT64_MAX, "start of the random numbers"},
    {"threads", 0, OPTION_INT, "N", "0", 0, 1024, "searches side by side; 0: all processors"},
    {0}};

bool remat_is_off(const struct options *o) {
    const struct option_value *v = options_get(o, "budget");
    return v->given && !v->share && v->number == INT64_MAX;
}

status remat_settings_read(const struct options *o, int64_t whole_bytes, struct diags *d,
                           struct remat_settings *out) {
    *out = (struct remat_settings){.dual = !options_given(o, "budget")};
    status st = search_options_read(o, d, &out->solve);
    if (st)
        return st;
    if (!quantity_parse_share(options_text(o, "overhead"), &out->overhead))
        return diag_error(d, DIAG_USAGE, loc_none(), "--overhead wants a share such as 10%%");
    if (!out->dual && options_given(o, "overhead"))
        return diag_error(d, DIAG_USAGE, loc_none(),
                          "--budget and --overhead exclude each other: the first asks for the "
                          "least time within a memory, the second for the least memory within a "
                          "time");
    out->solve.budget_bytes = options_budget(o, "budget", whole_bytes, BUDGET_NONE);
    if (out->solve.budget_bytes <= 0)
        return diag_error(d, DIAG_USAGE, loc_none(), "--budget must be more than 0 bytes");
    return ST_OK;
}

status remat_search(const struct remat *r, const struct remat_settings *s,
                    const struct solve_hooks *hooks, struct arena *a, struct diags *d,
                    struct schedule *out) {
    if (s->begin)
        s->begin(hooks->context, s->solve.budget_bytes);
    if (!s->dual)
        return solve(&r->problem, &s->solve, hooks, a, d, out);
    // Recomputation that the user asked for (--recompute) is not part of the overhead.
    double max_real = floor((double)r->units.base_cost * (1 + s->overhead));
    int64_t base = problem_base_cost(&r->problem),
            max_cost = max_real < 9e18 ? (int64_t)max_real : base;
    return curve_least_memory(&r->problem, &s->solve, hooks, s->begin,
                              max_cost > base ? max_cost : base, a, d, out);
}

static void report_event(void *to, const struct solve_event *e) {
    struct pass_context *c = to;
    if (e->cost != INT64_MAX)
        pass_progress(c, "remat: cost %lld, bound %lld, peak %lld bytes (%c, %.1f s)",
                      (long long)e->cost, (long long)e->bound, (long long)e->peak_bytes, e->letter,
                      e->seconds);
}

struct solve_hooks remat_hooks(struct pass_context *c) {
    return (struct solve_hooks){.progress = report_event, .context = c, .stop = c->stop};
}

// Applies a plan from a file.
static status apply_file(struct graph *g, const char *path, struct pass_context *c) {
    struct remat r;
    struct steps steps;
    struct remat_result result;
    status st = remat_make(g, c, true, &r);
    if (!st)
        st = remat_read(g, &r, path, c->arena, c->diags, &steps);
    return st ? st : remat_apply(g, &r, steps, c->arena, c->diags, &result);
}

static status run(struct model *m, struct pass_context *c) {
    struct remat r;
    struct remat_settings s;
    struct liveness l;
    struct schedule plan;
    struct remat_result result;
    struct graph *g = m->graph;
    if (remat_is_off(c->options))
        return ST_OK;
    if (options_given(c->options, "plan-in"))
        return apply_file(g, options_text(c->options, "plan-in"), c);
    status st = remat_make(g, c, false, &r);
    if (!st)
        st = liveness_of(g, &r.units.storage, g->order.at, g->order.n, c->arena, c->diags, &l);
    if (!st)
        st = remat_settings_read(c->options, l.peak_bytes, c->diags, &s);
    if (st || r.clusters.n == 0)
        return st;
    s.solve.worker_path = c->worker_path;
    struct solve_hooks hooks = remat_hooks(c);
    st = remat_search(&r, &s, &hooks, c->arena, c->diags, &plan);
    if (st == ST_INFEASIBLE || st == ST_NO_PLAN)
        return schedule_report_failure(&r.problem, &plan, c->arena, c->diags);
    if (!st)
        st = remat_apply(g, &r, plan.steps, c->arena, c->diags, &result);
    if (!st)
        pass_progress(c,
                      "remat: %zu nodes in %u clusters, %lld recomputed, peak %lld of %lld bytes",
                      (size_t)r.units.n, r.clusters.n, (long long)result.n_recomputed,
                      (long long)plan.peak_bytes, (long long)l.peak_bytes);
    return st;
}

const struct pass pass_remat = {
    .name = "remat",
    .summary = "choose what is kept and what is recomputed, within a budget",
    .needs = FACT_TOPO | FACT_SHAPES,
    .options = remat_options,
    .run = run,
};
