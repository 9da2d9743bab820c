// The trade-off between memory and time: see curve.h. Both searches rest on the same two facts: a
// schedule that fits a budget fits every larger one, and a bound on the cost (or a proof that
// nothing fits) at one budget holds at every smaller one.
#include "solver/curve.h"

#include <assert.h>
#include <math.h>

#include "ir/base/checked.h"
#include "solver/check/schedule_check.h"
#include "solver/cuts/any_order.h"
#include "solver/cuts/initial.h"

#define MAX_PROBES   16
#define PROBES_AHEAD 6    // the time left is shared by this many
#define STEP_PART    25   // a probe asks for at most this part of the memory less ...
#define NEAR_PART    4    // ... unless the proven lower bound is within this part
#define CLOSE_PART   1000 // end when the peak is within this part of a budget that failed
#define POLISH_SHARE 0.2  // of the time

// Gives one search an even share of the limits that `n_left` searches have left.
static void share_limits(struct solve_options *o, const struct solve_options *all, int64_t start_ns,
                         int32_t n_left, int32_t n_all) {
    if (all->seconds > 0) {
        double left = all->seconds - (double)(stop_clock_ns() - start_ns) * 1e-9;
        o->seconds = fmax(left / n_left, 0.01);
    }
    if (all->work > 0)
        o->work = all->work / n_all > 0 ? all->work / n_all : 1;
}

static status search(const struct curve_search *c, const struct solve_options *o,
                     struct schedule *out) {
    return solve(c->p, o, c->hooks, c->arena, c->diags, out);
}

static bool is_stopped(const struct curve_search *c) {
    return c->hooks->stop && stop_raised(c->hooks->stop);
}

static bool has_steps(const struct schedule *s) {
    return s->outcome == OUTCOME_FEASIBLE || s->outcome == OUTCOME_OPTIMAL;
}

static int64_t bound_asked(const struct schedule *s) {
    return s->free_order ? s->bound_any : s->bound;
}

// A cheaper schedule of a smaller budget also serves the larger one, which keeps its own bounds.
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

status curve_sweep(const struct curve_search *c, const int64_t *budgets, int32_t n,
                   struct schedule *out) {
    const struct solve_options *options = c->options;
    struct solve_options o = *options;
    struct steps *found =
        ARENA_ARRAY(c->arena, struct steps, (size_t)n + (size_t)options->n_initial);
    int32_t n_found = 0;
    int64_t start_ns = stop_clock_ns();
    if (!found)
        return diag_out_of_memory(c->diags);
    while (n_found < options->n_initial) {
        found[n_found] = options->initial[n_found];
        n_found++;
    }
    for (int32_t k = 0; k < n; k++) {
        assert(k == 0 || budgets[k] <= budgets[k - 1]);
        o.budget_bytes = budgets[k];
        out[k] = (struct schedule){.free_order = o.free_order,
                                   .budget_bytes = budgets[k],
                                   .base_cost = problem_base_cost(c->p),
                                   .bound = BOUND_NONE,
                                   .bound_any = BOUND_NONE};
        if (is_stopped(c))
            continue;
        o.initial = found;
        o.n_initial = n_found;
        share_limits(&o, options, start_ns, n - k, n);
        if (c->begin)
            c->begin(c->hooks->context, budgets[k]);
        status st = search(c, &o, &out[k]);
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

// ---- The least memory ----

// A schedule of low peak by construction. It meets the target cost, so the search that checks it
// ends at once.
static status try_initial(const struct curve_search *c, const struct solve_options *options,
                          struct schedule *out) {
    struct solve_options o = *options;
    struct arena *a = c->arena;
    struct sequence initial;
    struct sequence_facts facts;
    struct steps steps;
    if (!initial_min_peak(c->p, o.target_cost, c->hooks->stop, a, &initial) ||
        !sequence_measure(c->p, initial, a, &facts) || !sequence_to_steps(c->p, initial, a, &steps))
        return diag_out_of_memory(c->diags);
    if (facts.peak_bytes >= out->peak_bytes)
        return ST_OK;
    o.budget_bytes = facts.peak_bytes;
    o.initial = &steps;
    o.n_initial = 1;
    return search(c, &o, out);
}

// Probes end at the first schedule that is cheap enough. Polishing minimizes the cost within the
// memory that they found.
static status polish(const struct curve_search *c, int64_t start_ns, struct schedule *out) {
    struct solve_options o = *c->options;
    struct schedule better;
    struct steps initial = out->steps;
    o.budget_bytes = out->budget_bytes = out->peak_bytes;
    o.initial = &initial;
    o.n_initial = 1;
    share_limits(&o, c->options, start_ns, 1, 4);
    if (o.seconds > c->options->seconds * POLISH_SHARE)
        o.seconds = c->options->seconds * POLISH_SHARE;
    if (is_stopped(c))
        return ST_OK;
    status st = search(c, &o, &better);
    if (st == ST_OK && better.cost <= out->cost)
        *out = better;
    return st == ST_NO_PLAN ? ST_OK : st;
}

// What the probes have shown.
struct floor {
    int64_t failed_bytes; // the largest budget at which no schedule was found
    int64_t proven_bytes; // no schedule fits in less
};

// One search for a schedule that is cheap enough within a budget: raises the floor or lowers *out.
static status probe(const struct curve_search *c, const struct solve_options *o, struct floor *f,
                    struct schedule *out) {
    struct schedule found;
    status st = search(c, o, &found);
    if (st != ST_OK && st != ST_NO_PLAN && st != ST_INFEASIBLE)
        return st;
    if (has_steps(&found) && found.cost <= o->target_cost) {
        *out = found;
        return ST_OK;
    }
    f->failed_bytes = o->budget_bytes;
    if (st == ST_INFEASIBLE)
        f->proven_bytes = int64_max(f->proven_bytes, found.min_bytes);
    else if (bound_asked(&found) > o->target_cost)
        f->proven_bytes = int64_max(f->proven_bytes, o->budget_bytes + 1);
    return ST_OK;
}

// Bisects while the lower end is proven and near; otherwise goes down in small steps.
static int64_t next_budget(const struct floor *f, int64_t peak_bytes) {
    int64_t distance = peak_bytes - f->failed_bytes;
    bool bisects = f->failed_bytes + 1 == f->proven_bytes && distance < peak_bytes / NEAR_PART;
    int64_t half = distance / 2, small = peak_bytes / STEP_PART;
    return peak_bytes - (bisects || half < small ? half : small);
}

bool curve_min_bytes(const struct problem *p, int64_t max_cost, const struct stop *stop,
                     struct mem *mem, int64_t *min_bytes) {
    bool ok = any_order_min_bytes(p, true, max_cost, stop, mem, min_bytes);
    *min_bytes = int64_max(*min_bytes, problem_floor(p, NULL));
    return ok;
}

status curve_min_memory(const struct curve_search *c, int64_t max_cost, struct schedule *out) {
    struct solve_options o = *c->options;
    struct floor f;
    int64_t start_ns = stop_clock_ns();
    o.budget_bytes = BUDGET_NONE;
    o.target_cost = max_cost;
    status st = search(c, &o, out);
    if (st != ST_OK)
        return st;
    if (out->cost > max_cost)
        return ST_NO_PLAN;
    if (!any_order_min_bytes(c->p, o.free_order, max_cost, c->hooks->stop, c->arena->mem,
                             &f.proven_bytes))
        return diag_out_of_memory(c->diags);
    f.proven_bytes = int64_max(f.proven_bytes, out->min_bytes);
    f.failed_bytes = f.proven_bytes - 1;
    st = try_initial(c, &o, out);
    for (int k = 0; k < MAX_PROBES && st == ST_OK && !is_stopped(c); k++) {
        struct steps best = out->steps;
        if (out->peak_bytes - f.failed_bytes <= 1 + out->peak_bytes / CLOSE_PART)
            break;
        o.initial = &best;
        o.n_initial = 1;
        o.budget_bytes = next_budget(&f, out->peak_bytes);
        share_limits(&o, c->options, start_ns, PROBES_AHEAD, MAX_PROBES);
        if (c->begin)
            c->begin(c->hooks->context, o.budget_bytes);
        st = probe(c, &o, &f, out);
    }
    if (st == ST_OK)
        st = polish(c, start_ns, out);
    out->min_bytes = f.proven_bytes;
    return st == ST_OK ? schedule_check(c->p, out, c->arena, c->diags) : st;
}
