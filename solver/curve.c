// The trade-off between memory and time: see curve.h. Both searches rest on the same two facts: a
// schedule that fits a budget fits every larger one, and a bound on the cost (or a proof that
// nothing fits) at one budget holds at every smaller one.
#include "solver/curve.h"

#include <math.h>

#include "ir/base/checked.h"
#include "solver/check/schedule_check.h"
#include "solver/cuts/any_order.h"
#include "solver/cuts/initial.h"

#define PROBES       16
#define PROBES_AHEAD 6    // the time that is left is shared by so many
#define STEP_PART    25   // of the memory: a probe asks for no more than that less ...
#define NEAR_PART    4    // ... unless what is proven is as near as this
#define CLOSE_PART   1000 // ends when the answer is within this part of what failed
#define POLISH_SHARE 0.2  // of the time

// What is left of the time and the work, evenly among `n_left` searches.
static void share_limits(struct solve_options *o, const struct solve_options *all, int64_t start_ns,
                         int32_t n_left, int32_t n_all) {
    if (all->seconds > 0) {
        double left = all->seconds - (double)(stop_clock_ns() - start_ns) * 1e-9;
        o->seconds = fmax(left / n_left, 0.01);
    }
    if (all->work > 0)
        o->work = all->work / n_all > 0 ? all->work / n_all : 1;
}

static bool has_steps(const struct schedule *s) {
    return s->outcome == OUTCOME_FEASIBLE || s->outcome == OUTCOME_OPTIMAL;
}

static int64_t bound_asked(const struct schedule *s) {
    return s->free_order ? s->bound_any : s->bound;
}

// A cheaper schedule of a smaller budget serves the larger one too; the larger one's own bounds
// stay.
static void take_over(struct schedule *to, const struct schedule *from) {
    bool had = has_steps(to);
    if (!has_steps(from) || (had && to->cost <= from->cost))
        return;
    int64_t bound = bound_asked(to);
    to->steps = from->steps;
    to->cost = from->cost;
    to->peak_bytes = from->peak_bytes;
    to->bound = bound;
    to->known_bytes = from->known_bytes;
    to->outcome = bound == to->cost ? OUTCOME_OPTIMAL : OUTCOME_FEASIBLE;
}

status curve_sweep(const struct problem *p, const struct solve_options *options,
                   const struct solve_hooks *hooks, curve_begin *begin, const int64_t *budgets,
                   int32_t n, struct arena *a, struct diags *d, struct schedule *out) {
    struct solve_options o = *options;
    struct steps *found = ARENA_ARRAY(a, struct steps, (size_t)n + (size_t)options->n_initial);
    int32_t n_found = 0;
    int64_t start_ns = stop_clock_ns();
    if (!found)
        return diag_out_of_memory(d);
    while (n_found < options->n_initial) {
        found[n_found] = options->initial[n_found];
        n_found++;
    }
    for (int32_t k = 0; k < n; k++) {
        o.budget_bytes = budgets[k];
        out[k] = (struct schedule){.free_order = o.free_order,
                                   .budget_bytes = budgets[k],
                                   .base_cost = problem_base_cost(p),
                                   .bound = BOUND_NONE,
                                   .bound_any = BOUND_NONE};
        if (hooks->stop && stop_raised(hooks->stop))
            continue; // what was found so far goes out at once
        o.initial = found;
        o.n_initial = n_found;
        share_limits(&o, options, start_ns, n - k, n);
        if (begin)
            begin(hooks->context, budgets[k]);
        status st = solve(p, &o, hooks, a, d, &out[k]);
        if (st != ST_OK && st != ST_NO_PLAN && st != ST_INFEASIBLE)
            return st;
        if (has_steps(&out[k]))
            found[n_found++] = out[k].steps;
        o.known_bound_any = int64_max(o.known_bound_any, out[k].bound_any);
        if (!o.free_order)
            o.known_bound_given = int64_max(o.known_bound_given, out[k].bound);
        o.known_min_bytes = int64_max(o.known_min_bytes, out[k].min_bytes);
    }
    for (int32_t k = n - 1; k-- > 0;)
        take_over(&out[k], &out[k + 1]);
    return ST_OK;
}

// With the steps as they are: the search ends before it begins, since they cost little enough.
static status take_start(const struct problem *p, const struct solve_options *options,
                         const struct solve_hooks *hooks, struct arena *a, struct diags *d,
                         struct schedule *out) {
    struct solve_options o = *options;
    struct sequence start;
    struct sequence_facts facts;
    struct steps steps;
    if (!initial_min_peak(p, o.target_cost, hooks->stop, a, &start) ||
        !sequence_measure(p, start, a, &facts) || !sequence_to_steps(p, start, a, &steps))
        return diag_out_of_memory(d);
    if (facts.peak_bytes >= out->peak_bytes)
        return ST_OK;
    o.budget_bytes = facts.peak_bytes;
    o.initial = &steps;
    o.n_initial = 1;
    return solve(p, &o, hooks, a, d, out);
}

// The probes ended at the first schedule that was cheap enough. For some time more, the cheapest
// one in that memory, and a bound.
static status polish(const struct problem *p, const struct solve_options *options,
                     const struct solve_hooks *hooks, int64_t start_ns, struct arena *a,
                     struct diags *d, struct schedule *out) {
    struct solve_options o = *options;
    struct schedule better;
    struct steps start = out->steps;
    o.budget_bytes = out->budget_bytes = out->peak_bytes;
    o.initial = &start;
    o.n_initial = 1;
    share_limits(&o, options, start_ns, 1, 4);
    if (o.seconds > options->seconds * POLISH_SHARE)
        o.seconds = options->seconds * POLISH_SHARE;
    if (hooks->stop && stop_raised(hooks->stop))
        return ST_OK;
    status st = solve(p, &o, hooks, a, d, &better);
    if (st == ST_OK && better.cost <= out->cost)
        *out = better;
    return st == ST_NO_PLAN ? ST_OK : st;
}

// One search for a schedule that is cheap enough within a budget. It raises *failed or lowers *out.
static status probe(const struct problem *p, const struct solve_options *o,
                    const struct solve_hooks *hooks, struct arena *a, struct diags *d,
                    int64_t *failed, int64_t *proven, struct schedule *out) {
    struct schedule found;
    status st = solve(p, o, hooks, a, d, &found);
    if (st != ST_OK && st != ST_NO_PLAN && st != ST_INFEASIBLE)
        return st;
    if (has_steps(&found) && found.cost <= o->target_cost) {
        *out = found;
        return ST_OK;
    }
    *failed = o->budget_bytes;
    if (st == ST_INFEASIBLE)
        *proven = int64_max(*proven, found.min_bytes);
    else if (bound_asked(&found) > o->target_cost)
        *proven = int64_max(*proven, o->budget_bytes + 1);
    return ST_OK;
}

status curve_min_memory(const struct problem *p, const struct solve_options *options,
                        const struct solve_hooks *hooks, curve_begin *begin, int64_t max_cost,
                        struct arena *a, struct diags *d, struct schedule *out) {
    struct solve_options o = *options;
    int64_t start_ns = stop_clock_ns(), proven;
    o.budget_bytes = BUDGET_NONE;
    o.target_cost = max_cost;
    status st = solve(p, &o, hooks, a, d, out);
    if (st != ST_OK)
        return st;
    if (out->cost > max_cost)
        return ST_NO_PLAN;
    if (!any_order_min_bytes(p, o.free_order, max_cost, hooks->stop, a->mem, &proven))
        return diag_out_of_memory(d);
    proven = int64_max(proven, out->min_bytes);
    int64_t failed = proven - 1;
    if ((st = take_start(p, &o, hooks, a, d, out)) != ST_OK)
        return st;
    for (int k = 0; k < PROBES && !(hooks->stop && stop_raised(hooks->stop)); k++) {
        struct steps best_steps = out->steps;
        if (out->peak_bytes - failed <= 1 + out->peak_bytes / CLOSE_PART)
            break;
        o.initial = &best_steps;
        o.n_initial = 1;
        // Halfway while that is proven to be too little; then down in small steps.
        bool halve = failed + 1 == proven && out->peak_bytes - failed < out->peak_bytes / NEAR_PART;
        int64_t step = (out->peak_bytes - failed) / 2, small = out->peak_bytes / STEP_PART;
        o.budget_bytes = out->peak_bytes - (halve || step < small ? step : small);
        share_limits(&o, options, start_ns, PROBES_AHEAD, PROBES);
        if (begin)
            begin(hooks->context, o.budget_bytes);
        if ((st = probe(p, &o, hooks, a, d, &failed, &proven, out)) != ST_OK)
            return st;
    }
    st = polish(p, options, hooks, start_ns, a, d, out);
    out->min_bytes = proven;
    return st == ST_OK ? schedule_check(p, out, a, d) : st;
}
