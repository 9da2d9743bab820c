// One search for a schedule of the graph's problem, by the options of the user. The planning loop
// (passes/plan) runs one or several of them.
#include "passes/remat/remat.h"

#include <math.h>

#include "ir/base/quantity.h"
#include "solver/curve.h"
#include "solver/search_options.h"

const struct option_spec remat_options[] = {
    {"Budget", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"budget", 0, OPTION_BUDGET, "SIZE|none", NULL, 0, 100,
     "memory to stay within: 4GiB, or a share of the baseline peak such as 60%; none: the baseline "
     "step, nothing recomputed; not given: see --overhead"},
    {"overhead", 0, OPTION_TEXT, "SHARE", "10%", 0, 0,
     "without a budget: the least memory at an overhead of at most this"},
    {"keep", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "never recompute nodes of these names (* and ? match; a node or one of its values)"},
    {"recompute", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "do not keep the results of these nodes from the forward to the backward pass"},
    {"plan-in", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "take the schedule from a plan that --json wrote, instead of searching"},
#include "solver/search_options.def"
    {0}};

bool remat_is_off(const struct options *o) {
    const struct option_value *v = options_get(o, "budget");
    return v->given && !v->share && v->number == INT64_MAX;
}

status remat_settings_read(const struct options *o, const struct remat *r, int64_t whole_bytes,
                           struct diags *d, struct remat_settings *out) {
    *out = (struct remat_settings){.dual = !options_given(o, "budget")};
    status st = search_options_read(o, r->clusters.n, d, &out->solve);
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

int64_t remat_max_cost(const struct remat *r, const struct remat_settings *s) {
    double max_real = floor((double)r->units.base_cost * (1 + s->overhead));
    int64_t base = problem_base_cost(&r->problem),
            max_cost = max_real < 9e18 ? (int64_t)max_real : base;
    return max_cost > base ? max_cost : base;
}

status remat_search(const struct remat *r, const struct remat_settings *s,
                    const struct solve_hooks *hooks, struct arena *a, struct diags *d,
                    struct schedule *out) {
    if (s->begin)
        s->begin(hooks->context, s->solve.budget_bytes);
    if (!s->dual)
        return solve(&r->problem, &s->solve, hooks, a, d, out);
    return curve_min_memory(&(struct curve_search){&r->problem, &s->solve, hooks, s->begin, a, d},
                            remat_max_cost(r, s), out);
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
