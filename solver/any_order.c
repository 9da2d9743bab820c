// Bounds over all orders: see any_order.h. Stages: find the node at whose first run the most bytes
// are wanted by both sides; prove what one cut there gives; then take more cuts above and below it,
// evenly through the region over the budget, and prove again.
#include "solver/any_order_state.h"

#include <string.h>

#include "solver/cbc.h"
#include "solver/cut.h"
#include "solver/methods.h"

// Takes q in as a cut; what is not comparable with it leaves. Only when no other cut leaves, and
// few bytes.
static bool take_cut(struct any_order *s, int32_t q, int64_t most_lost) {
    const struct problem *p = s->r->p;
    int64_t lost = 0;
    if (s->n_cuts == MOST_CUTS || !s->in[q])
        return false;
    any_order_sides(s, q);
    for (int32_t v = 0; v < p->n; v++)
        lost += s->in[v] && s->side[v] == SIDE_NONE ? p->bytes[v] : 0;
    for (int32_t k = 0; k < s->n_cuts; k++)
        if (s->side[s->cuts[k]] == SIDE_NONE || s->cuts[k] == q)
            return false;
    if (lost > most_lost)
        return false;
    for (int32_t v = 0; v < p->n; v++)
        s->in[v] = s->in[v] && s->side[v] != SIDE_NONE;
    int32_t k = s->n_cuts++;
    for (; k > 0 && s->cuts[k - 1] > q; k--)
        s->cuts[k] = s->cuts[k - 1];
    s->cuts[k] = q;
    return true;
}

// The problem without the nodes that left; *left_cost is what those cost.
static status shrink(struct any_order *s, struct arena *a, struct problem *out,
                     int64_t *left_cost) {
    const struct problem *p = s->r->p;
    int32_t n = 0, n_edges = 0;
    *left_cost = 0;
    for (int32_t v = 0; v < p->n; v++) {
        s->number[v] = s->in[v] ? n++ : -1;
        *left_cost += s->in[v] ? 0 : p->cost[v];
    }
    struct problem_edge *edges = ARENA_ARRAY(a, struct problem_edge, p->n_edges);
    status st = edges ? problem_alloc(a, s->r->diags, n, out) : diag_no_room(s->r->diags);
    if (st != ST_OK)
        return st;
    out->fixed_bytes = p->fixed_bytes;
    for (int32_t v = 0; v < p->n; v++) {
        int32_t to = s->number[v];
        if (to < 0)
            continue;
        out->name[to] = p->name[v];
        out->cost[to] = p->cost[v];
        out->bytes[to] = p->bytes[v];
        out->workspace[to] = p->workspace[v];
        out->keep[to] = p->keep[v];
        out->once[to] = p->once[v];
        for (int32_t k = p->in_start[v]; k < p->in_start[v + 1]; k++)
            if (s->in[p->in_of[k]])
                edges[n_edges++] = (struct problem_edge){s->number[p->in_of[k]], to};
    }
    return problem_link(a, s->r->diags, edges, n_edges, NULL, out);
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

// The linear relaxation first: its bound is safe and comes soon. Then the integer program.
static bool bound_program(struct any_order *s, const struct cut_view *view, struct cuts cuts,
                          int64_t left_cost, struct arena *a) {
    struct solve_run *r = s->r;
    struct cut_rows none = {0};
    struct cut_model m;
    struct cbc_answer answer;
    struct cbc_limits limits = {.seconds = seconds_left(s),
                                .n_nodes = s->effort->n_nodes,
                                .stop = r->stop,
                                .worker_path = r->options->worker_path};
    if (isinf(limits.seconds))
        limits.seconds = 0;
    if (!cut_model_build(view, cuts, &none, cuts.n > 1 ? CUT_LATER : 0, a, &m) ||
        !cbc_lp(&m.program, &limits, a, &answer))
        return false;
    if (answer.result == CBC_OPTIMAL) {
        double safe = cbc_safe_bound(&m.program, answer.price);
        solve_bound_any(r, left_cost + cut_cost_bound(view, safe, CUT_NO_SLACK), 'O');
    }
    if (must_end(s) || answer.result != CBC_OPTIMAL)
        return true;
    int64_t cost = solve_best_cost(r);
    double close = cost == INT64_MAX ? 0 : 0.25 * r->options->gap * (double)cost;
    limits.gap = close * view->cost_scale;
    limits.seconds =
        s->effort->seconds > 0 || r->stop->deadline_ns != STOP_NEVER ? seconds_left(s) : 0;
    if (!cbc_mip(&m.program, NULL, &limits, a, &answer))
        return false;
    double bound = answer.x ? fmin(answer.bound, answer.objective - limits.gap) : answer.bound;
    if (answer.result == CBC_OPTIMAL || answer.result == CBC_FEASIBLE ||
        (answer.result == CBC_UNKNOWN && bound > -CBC_INF))
        solve_bound_any(r, left_cost + cut_cost_bound(view, bound, CUT_MIP_SLACK), 'O');
    return true;
}

static status bound_cuts(struct any_order *s) {
    struct arena a = arena_make(s->r->arena->mem);
    struct problem small;
    struct cut_view view;
    int64_t left_cost;
    int32_t at[MOST_CUTS];
    status st = shrink(s, &a, &small, &left_cost);
    for (int32_t k = 0; k < s->n_cuts; k++)
        at[k] = s->number[s->cuts[k]];
    if (st == ST_OK && (!cut_view_make(&small, s->r->options->budget_bytes, &a, &view) ||
                        !bound_program(s, &view, (struct cuts){at, s->n_cuts}, left_cost, &a)))
        st = diag_no_room(s->r->diags);
    arena_free(&a);
    return st;
}

// About n_more cuts, evenly among the candidates under pressure.
static bool take_more(struct any_order *s, int32_t n_more, int64_t most_lost) {
    int32_t n_over = 0, n_seen = 0, before = s->n_cuts;
    for (int32_t k = 0; k < s->n_tried; k++)
        n_over += s->pressure[k] > s->r->options->budget_bytes;
    for (int32_t k = 0, due = 0; k < s->n_tried; k++) {
        if (s->pressure[k] <= s->r->options->budget_bytes)
            continue;
        // A place that cannot be taken leaves its turn to the next one.
        due +=
            (int32_t)((int64_t)(n_seen + 1) * n_more / n_over - (int64_t)n_seen * n_more / n_over);
        n_seen++;
        if (due > 0 && take_cut(s, s->tried[k], most_lost))
            due--;
    }
    return s->n_cuts > before;
}

status any_order_run(struct solve_run *r, const struct any_order_effort *effort) {
    const struct problem *p = r->p;
    struct arena a = arena_make(r->arena->mem);
    struct any_order *s = ARENA_NEW(&a, struct any_order);
    status st = ST_OK;
    if (s)
        *s = (struct any_order){.p = p,
                                .budget_bytes = r->options->budget_bytes,
                                .stop = r->stop,
                                .r = r,
                                .effort = effort,
                                .arena = &a,
                                .start_ns = stop_clock_ns(),
                                .side = ARENA_ARRAY(&a, enum cut_side, p->n),
                                .wanted = ARENA_ARRAY(&a, bool, p->n),
                                .in = ARENA_ARRAY(&a, bool, p->n),
                                .number = ARENA_ARRAY(&a, int32_t, p->n)};
    if (!s || !s->side || !s->wanted || !s->in || !s->number || !any_order_candidates(s))
        st = diag_no_room(r->diags);
    int32_t best = 0;
    int64_t all_bytes = 0;
    for (int32_t k = 0; st == ST_OK && k < s->n_tried; k++)
        if (s->pressure[k] > s->pressure[best])
            best = k;
    for (int32_t v = 0; st == ST_OK && v < p->n; v++) {
        s->in[v] = true;
        all_bytes += p->bytes[v];
    }
    if (st == ST_OK && s->n_tried > 0 && s->pressure[best] > r->options->budget_bytes) {
        take_cut(s, s->tried[best], all_bytes);
        st = bound_cuts(s);
        if (st == ST_OK && !must_end(s) && take_more(s, 4, all_bytes / 50))
            st = bound_cuts(s);
        if (st == ST_OK && !must_end(s) && take_more(s, 6, all_bytes / 50))
            st = bound_cuts(s);
    }
    arena_free(&a);
    return st;
}

status method_any_order(struct solve_run *r) {
    struct any_order_effort effort = {.n_nodes = r->options->work > 0 ? 10 : 0};
    status st = any_order_price(r);
    return st != ST_OK || solve_over(r) ? st : any_order_run(r, &effort);
}
