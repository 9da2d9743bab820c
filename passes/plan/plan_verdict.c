// What a command may claim at its end: the lower bounds of a plan, and whether a budget without a
// plan is proven infeasible. All of it comes from plan_bound.h.
#include <math.h>

#include "passes/plan/plan_inner.h"
#include "solver/model/schedule_report.h"

#define MIN_SECONDS 0.5 // for a bound, after the end of the time too

static double seconds_left(const struct planning *k) {
    if (k->end_ns == STOP_NEVER || k->settings.solve.work > 0)
        return 0;
    return fmax((double)(k->end_ns - stop_clock_ns()) * 1e-9, MIN_SECONDS);
}

status plan_verdict_report(struct planning *k, const struct trial *t) {
    struct plan_facts *out = k->out;
    bool dual = k->settings.dual;
    if (k->is_divided) // bounds of one division are none of all plans
        return ST_OK;
    int64_t cost = plan_cost(k, t);
    struct plan_limit limit = {dual ? t->peak_bytes : k->budget_bytes, cost, seconds_left(k)};
    struct plan_bound bound;
    status st = plan_bounds_within(&k->bounds, &limit, &bound);
    int64_t min_bytes = bound.min_bytes;
    if (!st && dual)
        st =
            plan_bounds_min_bytes(&k->bounds, remat_max_cost(&k->coarse, &k->settings), &min_bytes);
    // A plan that refutes a bound shows a defect of the relaxation: then nothing is known.
    bool is_known = bound.cost != BOUND_NONE && bound.cost <= cost;
    out->bound = is_known ? bound.cost : PLAN_FACTS_UNKNOWN;
    bool has_min = min_bytes > 0 && min_bytes <= t->peak_bytes;
    out->min_bytes = has_min ? min_bytes : PLAN_FACTS_UNKNOWN;
    bool is_optimal = dual ? out->min_bytes == t->peak_bytes : out->bound == cost;
    out->outcome = outcome_name(is_optimal ? OUTCOME_OPTIMAL : OUTCOME_FEASIBLE);
    return st;
}

static void add_size(struct str *out, int64_t n_bytes) {
    str_add_bytes(out, n_bytes);
    if (n_bytes >= 1024)
        str_addf(out, " (%lld B)", (long long)n_bytes);
}

static void add_forcing(struct str *out, const struct problem *p, const struct plan_bound *bound) {
    int32_t largest[SCHEDULE_REPORT_FORCING];
    int32_t n = schedule_report_largest(p, bound->forcing, bound->n_forcing, largest);
    for (int32_t k = 0; k < n; k++) {
        str_addf(out, "%s%s (", k ? ", " : "; in memory together: ", p->name[largest[k]]);
        str_add_bytes(out, p->bytes[largest[k]]);
        str_add_char(out, ')');
    }
    if (bound->n_forcing > n)
        str_addf(out, " and %d more", bound->n_forcing - n);
}

status plan_verdict_refuse(struct planning *k, const struct trial *least) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct str text = str_make(&scratch);
    struct plan_limit limit = {k->budget_bytes, -1, seconds_left(k)};
    struct plan_bound bound;
    status st = plan_bounds_within(&k->bounds, &limit, &bound);
    bool is_proven =
        !st && bound.min_bytes > k->budget_bytes && bound.min_bytes <= least->peak_bytes;
    str_add(&text, is_proven ? "no plan fits the budget of " : "found no plan within ");
    add_size(&text, k->budget_bytes);
    str_addf(&text, " on runtime %s", k->out->runtime);
    if (is_proven) {
        str_add(&text, ": every plan needs at least ");
        add_size(&text, bound.min_bytes);
        add_forcing(&text, &k->bounds.relaxed.problem, &bound);
    }
    if (least->peak_bytes < INT64_MAX) {
        str_add(&text, is_proven ? "; raise the budget to " : ": the best one needs ");
        add_size(&text, least->peak_bytes);
        str_add(&text, is_proven ? ", which is feasible" : "; the largest tensors at its peak: ");
        str_add(&text, is_proven ? "" : least->top);
    }
    if (!is_proven && bound.min_bytes > 0) {
        str_add(&text, "; lower bound: ");
        add_size(&text, bound.min_bytes);
    }
    if (!st)
        st = diag_error(k->c->diags, is_proven ? DIAG_INFEASIBLE : DIAG_NO_PLAN, loc_none(), "%s",
                        str_text(&text));
    arena_free(&scratch);
    return st;
}
