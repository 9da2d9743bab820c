// Bounds over all orders by programs of several cuts (any_order.h):
//
//   1. find the candidate whose single cut gives the best bound;
//   2. add cuts that are its ancestors or descendants, evenly through the region over the budget;
//   3. solve the LP relaxations, then the integer programs, of growing sets of cuts.
#include "solver/cuts/any_order_state.h"

#include <assert.h>
#include <string.h>

#include "solver/cuts/any_order_model.h"
#include "solver/methods.h"

#define MAX_FIRST_CUTS 60  // candidates evaluated for the first cut
#define EXACT_NODES    400 // of a problem whose LP relaxations are solved without a limit

// Adds cut q, if it is an ancestor or a descendant of every other cut.
static bool add_cut(struct any_order *s, int32_t q) {
    if (s->n_cuts == MAX_CUTS)
        return false;
    any_order_sides(s, q);
    for (int32_t k = 0; k < s->n_cuts; k++)
        if (s->side[s->cuts[k]] == SIDE_NONE || s->cuts[k] == q)
            return false;
    int32_t k = s->n_cuts++;
    for (; k > 0 && s->cuts[k - 1] > q; k--)
        s->cuts[k] = s->cuts[k - 1];
    s->cuts[k] = q;
    return true;
}

// The segments in which each node may run for the first time.
static bool find_segments(struct any_order *s, struct arena *a, struct any_order_model *m) {
    int32_t n = s->p->n;
    m->earliest = ARENA_ARRAY(a, int32_t, n);
    m->latest = ARENA_ARRAY(a, int32_t, n);
    if (!m->earliest || !m->latest)
        return false;
    for (int32_t v = 0; v < n; v++)
        m->latest[v] = s->n_cuts;
    for (int32_t k = s->n_cuts - 1; k >= 0; k--) {
        any_order_sides(s, s->cuts[k]);
        for (int32_t v = 0; v < n; v++) {
            if (s->side[v] == SIDE_AFTER && m->earliest[v] <= k)
                m->earliest[v] = k + 1;
            if (s->side[v] == SIDE_AT || s->side[v] == SIDE_BEFORE)
                m->latest[v] = k;
        }
    }
    return true;
}

static double seconds_left(const struct any_order *s) {
    double left = stop_seconds_left(s->r->stop);
    if (s->effort->seconds > 0)
        left = fmin(left, s->effort->seconds - (double)(stop_clock_ns() - s->start_ns) * 1e-9);
    return left;
}

static bool must_end(const struct any_order *s) {
    return seconds_left(s) <= 0 || solve_over(s->r);
}

static struct cbc_limits limits_of(const struct any_order *s) {
    double seconds = seconds_left(s);
    return (struct cbc_limits){.seconds = isinf(seconds) ? 0 : seconds,
                               .n_nodes = s->effort->n_nodes,
                               .stop = s->r->stop,
                               .worker_path = s->r->options->worker_path};
}

// The bound of the LP relaxation: safe, and available early.
static bool bound_relaxed(struct any_order *s, const struct any_order_model *m, struct arena *a) {
    struct cbc_limits limits = limits_of(s);
    struct cbc_answer answer;
    if (!cbc_lp(&m->program, &limits, a, &answer))
        return false;
    if (answer.result == CBC_OPTIMAL) {
        double safe = cbc_safe_bound(&m->program, answer.price);
        solve_bound_any(s->r, cut_cost_bound(m->view, safe, CUT_NO_SLACK), 'O');
    }
    return true;
}

static bool bound_integer(struct any_order *s, const struct any_order_model *m, struct arena *a) {
    struct solve_run *r = s->r;
    struct cbc_limits limits = limits_of(s);
    struct cbc_answer answer;
    int64_t cost = solve_best_cost(r);
    double close = cost == INT64_MAX ? 0 : 0.25 * r->options->gap * (double)cost;
    limits.gap = close * m->view->cost_scale;
    if (!cbc_mip(&m->program, NULL, &limits, a, &answer))
        return false;
    double bound = answer.x ? fmin(answer.bound, answer.objective - limits.gap) : answer.bound;
    if (answer.result == CBC_OPTIMAL || answer.result == CBC_FEASIBLE ||
        (answer.result == CBC_UNKNOWN && bound > -CBC_INF))
        solve_bound_any(r, cut_cost_bound(m->view, bound, CUT_MIP_SLACK), 'O');
    return true;
}

static status bound_cuts(struct any_order *s, bool integer) {
    struct arena a = arena_make(s->r->arena->mem);
    struct cut_view view;
    struct any_order_model m = {.view = &view, .cuts = s->cuts, .n_cuts = s->n_cuts};
    bool ok = cut_view_make(s->p, s->budget_bytes, &a, &view) && find_segments(s, &a, &m) &&
              any_order_model_build(&m, &a) &&
              (integer ? bound_integer(s, &m, &a) : bound_relaxed(s, &m, &a));
    arena_free(&a);
    return ok ? ST_OK : diag_out_of_memory(s->r->diags);
}

// Adds about n_more cuts, evenly among the candidates over the budget.
static bool add_cuts(struct any_order *s, int32_t n_more) {
    int32_t n_over = 0, n_seen = 0, before = s->n_cuts;
    for (int32_t k = 0; k < s->n_candidates; k++)
        n_over += s->pressure[k] > s->budget_bytes;
    for (int32_t k = 0, due = 0; k < s->n_candidates; k++) {
        if (s->pressure[k] <= s->budget_bytes)
            continue;
        // If a candidate cannot be a cut, the next one takes its turn.
        due +=
            (int32_t)((int64_t)(n_seen + 1) * n_more / n_over - (int64_t)n_seen * n_more / n_over);
        n_seen++;
        if (due > 0 && add_cut(s, s->candidate[k]))
            due--;
    }
    return s->n_cuts > before;
}

// The candidate with the best bound, among at most MAX_FIRST_CUTS. False: out of memory.
static bool find_best(struct any_order *s, int32_t *best) {
    int64_t max_extra = -1;
    for (int32_t k = 0; k < s->n_candidates && !must_end(s);
         k += s->n_candidates / MAX_FIRST_CUTS + 1) {
        int64_t extra;
        if (!any_order_lagrangian_cut(s, s->candidate[k], true, &extra))
            return false;
        if (extra > max_extra) {
            max_extra = extra;
            *best = s->candidate[k];
        }
    }
    return true;
}

// One cut, then two growing sets of cuts: first the LP relaxations of all, then the integer
// programs.
static status bound_all(struct any_order *s, int32_t best) {
    status st = ST_OK;
    for (int pass = 0; pass < (s->effort->is_exact ? 1 : 2); pass++) {
        s->n_cuts = 0;
        add_cut(s, best);
        for (int32_t n_more = 4; st == ST_OK && !must_end(s); n_more += 2) {
            st = bound_cuts(s, pass > 0);
            if (n_more > 6 || !add_cuts(s, n_more))
                break;
        }
    }
    return st;
}

status any_order_run(struct solve_run *r, const struct any_order_effort *effort) {
    assert(r && effort && effort->n_nodes >= 0);
    struct arena a = arena_make(r->arena->mem);
    struct any_order *s = any_order_make(r->p, r->options->budget_bytes, r->stop, &a);
    int32_t best = -1;
    status st = ST_OK;
    if (s) {
        s->r = r;
        s->effort = effort;
        s->start_ns = stop_clock_ns();
    }
    if (!s || !find_best(s, &best))
        st = diag_out_of_memory(r->diags);
    else if (best >= 0 && (!effort->is_exact || r->p->n <= EXACT_NODES))
        st = bound_all(s, best);
    arena_free(&a);
    return st;
}

status method_any_order(struct solve_run *r) {
    const struct solve_options *o = r->options;
    struct any_order_effort effort = {.n_nodes = o->work > 0 ? 10 : 0, .is_exact = o->is_exact};
    status st = any_order_lagrangian(r);
    return st != ST_OK || solve_over(r) ? st : any_order_run(r, &effort);
}
