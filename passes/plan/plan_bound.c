// Bounds for every plan: see plan_bound.h. A bound of the relaxation, for any order, is a bound of
// plans. Costs differ by those of nodes that the relaxation does not have.
#include "passes/plan/plan_bound.h"

#include <assert.h>

#include "ir/runtime/ort_loaded.h"
#include "ir/runtime/runtime.h"
#include "solver/curve.h"

status plan_bounds_make(const struct graph *step, const struct remat_units *units,
                        bool counts_session, struct pass_context *c, struct plan_bounds *out) {
    enum runtime runtime;
    assert(step && units && c && out);
    *out = (struct plan_bounds){.c = c};
    runtime_find(options_text(c->options, "runtime"), &runtime); // the option has no other values
    status st = remat_relax(step, units, runtime != RUNTIME_FILE_ORDER, c, &out->relaxed);
    bool has_session = runtime == RUNTIME_ORT || runtime == RUNTIME_ORT_LEAN;
    if (!st && has_session && counts_session)
        out->relaxed.problem.persistent_bytes += ort_loaded_least_bytes(step);
    out->is_known = !st && out->relaxed.problem.n > 0;
    return st;
}

// The most demanding node alone is over the budget.
static status take_floor(const struct plan_bounds *b, int32_t node, struct plan_bound *out) {
    const struct problem *p = &b->relaxed.problem;
    int32_t n = 0, *forcing = ARENA_ARRAY(b->c->arena, int32_t, p->n);
    if (!forcing)
        return diag_out_of_memory(b->c->diags);
    for (int32_t i = 0; node < 0 && i < p->n; i++)
        if (p->keep[i])
            forcing[n++] = i;
    if (node >= 0)
        forcing[n++] = node;
    for (int32_t k = node < 0 ? 0 : p->in_start[node]; node >= 0 && k < p->in_start[node + 1]; k++)
        forcing[n++] = p->in_of[k];
    out->forcing = forcing;
    out->n_forcing = n;
    return ST_OK;
}

status plan_bounds_within(const struct plan_bounds *b, const struct plan_limit *limit,
                          struct plan_bound *out) {
    const struct remat_relaxed *x = &b->relaxed;
    struct solve_options o = solve_defaults();
    struct schedule s;
    int32_t node;
    *out = (struct plan_bound){.cost = BOUND_NONE};
    if (!b->is_known)
        return ST_OK;
    out->min_bytes = problem_floor(&x->problem, &node);
    if (out->min_bytes > limit->budget_bytes)
        return take_floor(b, node, out);
    o.method = "any-order";
    o.is_exact = true;
    o.budget_bytes = limit->budget_bytes;
    o.gap = 0;
    o.target_cost = limit->cost < 0 ? -1 : limit->cost - x->other_cost - 1;
    o.seconds = limit->seconds;
    o.threads = 1;
    o.worker_path = b->c->worker_path;
    status st = solve(&x->problem, &o, &(struct solve_hooks){.stop = b->c->stop}, b->c->arena,
                      b->c->diags, &s);
    if (st && st != ST_NO_PLAN && st != ST_INFEASIBLE)
        return st;
    // The trivial bound, that every node runs once, counts only where a plan meets it.
    if (s.bound_any > s.base_cost || limit->cost == s.base_cost + x->other_cost)
        out->cost = s.bound_any + x->other_cost;
    out->min_bytes = s.min_bytes;
    out->forcing = s.forcing;
    out->n_forcing = s.n_forcing;
    return ST_OK;
}

status plan_bounds_min_bytes(const struct plan_bounds *b, int64_t max_cost, int64_t *min_bytes) {
    *min_bytes = 0;
    if (!b->is_known)
        return ST_OK;
    if (!curve_min_bytes(&b->relaxed.problem, max_cost - b->relaxed.other_cost, b->c->stop,
                         b->c->arena->mem, min_bytes))
        return diag_out_of_memory(b->c->diags);
    return ST_OK;
}
