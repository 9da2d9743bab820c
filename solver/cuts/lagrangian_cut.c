// Lagrangian relaxation of a cut (lagrangian_cut.h), in three steps: determine which nodes may be
// recomputed and which inputs that needs; solve one selection per price; search the price of the
// best bound by intersecting the lines cost + price * (bytes - capacity) of the choices on either
// side of the optimum.
#include "solver/cuts/lagrangian_cut.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define COST_RANGE  ((double)((int64_t)1 << 38)) // upper bound on the sum of scaled costs
#define PRICE_RANGE ((int64_t)1 << 39) // prices above are clipped: such a node is not kept anyway
#define MAX_PRICES  24

static enum cut_side side_of(const enum cut_side *side, int32_t q, int32_t i) {
    if (side)
        return side[i];
    return i < q ? SIDE_BEFORE : i == q ? SIDE_AT : SIDE_AFTER;
}

enum role {
    ROLE_NONE, // dead across q
    ROLE_FREE, // available at q at no charge: zero bytes, or in the working set of q
    ROLE_LIVE, // live across q
    ROLE_TOOL, // read only by nodes that may be recomputed
};

// May the node run after q, for the first time or again?
static bool may_run(const struct lagrangian_cut *c, const enum cut_side *side, int32_t i) {
    return !c->pinned[i] || side_of(side, c->q, i) == SIDE_NONE;
}

// Backward, since consumers have larger numbers.
static void find_roles(const struct lagrangian_cut *c, const enum cut_side *side, enum role *role) {
    const struct problem *p = c->p;
    for (int32_t i = p->n - 1; i >= 0; i--) {
        bool live = p->keep[i], tool = false, at_q = i == c->q;
        if (side_of(side, c->q, i) == SIDE_AFTER)
            continue;
        for (int32_t e = p->out_start[i]; e < p->out_start[i + 1]; e++) {
            int32_t j = p->out_of[e];
            at_q = at_q || j == c->q;
            live = live || side_of(side, c->q, j) == SIDE_AFTER;
            tool = tool || ((role[j] == ROLE_LIVE || role[j] == ROLE_TOOL) && may_run(c, side, j));
        }
        role[i] = p->bytes[i] == 0 || at_q ? ROLE_FREE
                  : live                   ? ROLE_LIVE
                  : tool                   ? ROLE_TOOL
                                           : ROLE_NONE;
    }
}

static bool allocate(struct lagrangian_cut *c, const enum cut_side *side, const enum role *role,
                     struct arena *a, int32_t **tool_of) {
    const struct problem *p = c->p;
    struct selection *s = &c->selection;
    int32_t n_edges = 0;
    for (int32_t i = 0; i < p->n; i++) {
        bool is_project = role[i] == ROLE_LIVE || role[i] == ROLE_TOOL;
        s->n_tools += role[i] == ROLE_TOOL;
        is_project = is_project && may_run(c, side, i);
        s->n_projects += is_project;
        n_edges += is_project ? p->in_start[i + 1] - p->in_start[i] + 1 : 0;
    }
    s->need_start = ARENA_ARRAY(a, int32_t, s->n_projects + 1);
    s->need_of = ARENA_ARRAY(a, int32_t, n_edges);
    s->profit = ARENA_ARRAY(a, int64_t, s->n_projects);
    s->price = ARENA_ARRAY(a, int64_t, s->n_tools);
    s->taken = ARENA_ARRAY(a, bool, s->n_projects);
    c->project = ARENA_ARRAY(a, int32_t, s->n_projects);
    c->tool = ARENA_ARRAY(a, int32_t, s->n_tools);
    c->live = ARENA_ARRAY(a, bool, s->n_projects);
    c->cost = ARENA_ARRAY(a, int64_t, s->n_projects);
    c->evicted = ARENA_ARRAY(a, bool, p->n);
    *tool_of = ARENA_ARRAY(a, int32_t, p->n);
    return s->need_start && s->need_of && s->profit && s->price && s->taken && c->project &&
           c->tool && c->live && c->cost && c->evicted && *tool_of;
}

static void add_project(struct lagrangian_cut *c, int32_t i, const enum cut_side *side,
                        const enum role *role, const int32_t *tool_of) {
    const struct problem *p = c->p;
    struct selection *s = &c->selection;
    int32_t at = s->n_projects++, n = s->need_start[at];
    c->project[at] = i;
    c->live[at] = role[i] == ROLE_LIVE;
    c->cost[at] = side_of(side, c->q, i) == SIDE_NONE ? 0 : p->cost[i]; // it may be the first run
    c->live_bytes += c->live[at] ? p->bytes[i] : 0;
    if (role[i] == ROLE_TOOL)
        s->need_of[n++] = tool_of[i];
    for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++)
        if (role[p->in_of[e]] == ROLE_TOOL)
            s->need_of[n++] = tool_of[p->in_of[e]];
    s->need_start[at + 1] = n;
}

bool lagrangian_cut_make(struct lagrangian_cut *c, const struct problem *p, int32_t q,
                         const enum cut_side *side, const bool *pinned, struct arena *a) {
    assert(q >= 0 && q < p->n && pinned);
    *c = (struct lagrangian_cut){.p = p, .pinned = pinned, .mem = a->mem, .q = q, .cost_scale = 1};
    enum role *role = ARENA_ARRAY(a, enum role, p->n);
    int32_t *tool_of;
    if (!role)
        return false;
    find_roles(c, side, role);
    if (!allocate(c, side, role, a, &tool_of))
        return false;
    double cost = 1;
    c->selection.n_projects = c->selection.n_tools = 0;
    c->persistent_bytes = p->persistent_bytes + p->bytes[q] + p->workspace[q];
    for (int32_t e = p->in_start[q]; e < p->in_start[q + 1]; e++)
        c->persistent_bytes += p->bytes[p->in_of[e]];
    for (int32_t i = 0; i < p->n; i++) {
        cost += (double)p->cost[i];
        if (role[i] == ROLE_TOOL) {
            tool_of[i] = c->selection.n_tools;
            c->tool[c->selection.n_tools++] = i;
        }
        if (role[i] == ROLE_LIVE && !may_run(c, side, i))
            c->persistent_bytes += p->bytes[i];
        else if ((role[i] == ROLE_LIVE || role[i] == ROLE_TOOL) && may_run(c, side, i))
            add_project(c, i, side, role, tool_of);
        c->evicted[i] = role[i] == ROLE_NONE && !p->once[i] && side_of(side, q, i) == SIDE_BEFORE;
    }
    c->cost_scale = exp2(floor(log2(COST_RANGE / cost)));
    return true;
}

// Scaled cost of a project, rounded down, so that bounds stay valid. A tilt makes later nodes more
// expensive; then the results are no bounds.
static int64_t scaled_cost(const struct lagrangian_cut *c, int32_t k) {
    double cost = (double)c->cost[k] * c->cost_scale;
    return (int64_t)(cost * (1 + c->tilt * (double)c->project[k] / (double)c->p->n));
}

static int64_t scaled_price(const struct lagrangian_cut *c, int32_t i, double price) {
    double value = price * c->cost_scale * (double)c->p->bytes[i] * (1 - 1e-15);
    return value < (double)PRICE_RANGE ? (int64_t)value : PRICE_RANGE;
}

// Translates the selection into evicted nodes, bytes and cost.
static void take_choice(struct lagrangian_cut *c) {
    const struct problem *p = c->p;
    const struct selection *s = &c->selection;
    c->held_bytes = c->persistent_bytes + c->live_bytes;
    c->extra_cost = 0;
    // A tool is available if a selected project needs it, and kept unless it is recomputed itself.
    for (int32_t t = 0; t < s->n_tools; t++)
        c->evicted[c->tool[t]] = true;
    for (int32_t k = 0; k < s->n_projects; k++)
        for (int32_t e = s->need_start[k]; s->taken[k] && e < s->need_start[k + 1]; e++)
            c->evicted[c->tool[s->need_of[e]]] = false;
    for (int32_t t = 0; t < s->n_tools; t++)
        c->held_bytes += c->evicted[c->tool[t]] ? 0 : p->bytes[c->tool[t]];
    for (int32_t k = 0; k < s->n_projects; k++) {
        int32_t i = c->project[k];
        c->extra_cost += s->taken[k] ? c->cost[k] : 0;
        c->held_bytes -= s->taken[k] ? p->bytes[i] : 0;
        c->evicted[i] = s->taken[k] || (!c->live[k] && c->evicted[i]);
    }
}

bool lagrangian_cut_price(struct lagrangian_cut *c, double price) {
    assert(price > 0);
    const struct problem *p = c->p;
    struct selection *s = &c->selection;
    int64_t live = 0;
    bool only_bytes = isinf(price);
    for (int32_t t = 0; t < s->n_tools; t++)
        s->price[t] = only_bytes ? p->bytes[c->tool[t]] : scaled_price(c, c->tool[t], price);
    for (int32_t k = 0; k < s->n_projects; k++) {
        int32_t i = c->project[k];
        int64_t saved = only_bytes ? p->bytes[i] : scaled_price(c, i, price);
        int64_t profit = saved - (only_bytes ? 0 : scaled_cost(c, k));
        s->profit[k] = profit > 0 ? profit : 0;
        live += c->live[k] ? saved : 0;
    }
    if (!selection_solve(s, c->mem, c->stop))
        return false;
    c->min_value = live - s->value;
    take_choice(c);
    return true;
}

struct point {
    double cost, bytes;
};

// Of cost and bytes, one is limited and the other is minimized.
struct constraint {
    bool bytes_limited;
    double limit;
};

// The lower bound on the minimized number at the last price, safe against rounding.
static double proven(const struct lagrangian_cut *c, const struct constraint *constraint,
                     double price) {
    double min_value = (double)c->min_value / c->cost_scale, fixed = (double)c->persistent_bytes;
    double limit =
        constraint->bytes_limited ? (constraint->limit - fixed) * price : constraint->limit;
    double value = min_value - limit - 1e-14 * (fabs(limit) + min_value);
    return constraint->bytes_limited ? value : value / price + fixed;
}

static bool is_cheap_side(const struct constraint *constraint, struct point x) {
    return constraint->bytes_limited ? x.bytes > constraint->limit : x.cost <= constraint->limit;
}

// Searches between a cheap point and a small one, until no price gives another point. The best
// bound goes to *value and its price to *price; both stay unchanged if nothing better is proven.
static bool search(struct lagrangian_cut *c, const struct constraint *constraint,
                   struct point small, double *value, double *price) {
    struct point cheap = {0, (double)(c->persistent_bytes + c->live_bytes)};
    for (int k = 0; k < MAX_PRICES && !(c->stop && stop_now(c->stop)); k++) {
        double now = (small.cost - cheap.cost) / (cheap.bytes - small.bytes);
        if (!(now > 0))
            return true;
        if (!lagrangian_cut_price(c, now))
            return false;
        double found = proven(c, constraint, now);
        bool improved = found > *value * (1 + 1e-6);
        if (found > *value) {
            *value = found;
            *price = now;
        }
        struct point x = {(double)c->extra_cost, (double)c->held_bytes};
        double below = cheap.cost - x.cost + now * (cheap.bytes - x.bytes);
        if (below <= 1e-9 * (cheap.cost + now * cheap.bytes) || (!improved && k > 2))
            return true;
        *(is_cheap_side(constraint, x) ? &cheap : &small) = x;
    }
    return true;
}

// A price so low that it only evicts tensors that cost nothing to recompute.
static double min_price(const struct lagrangian_cut *c) {
    return 1e-9 / c->cost_scale / ((double)c->live_bytes + 1);
}

bool lagrangian_cut_bound(struct lagrangian_cut *c, int64_t budget_bytes,
                          struct lagrangian_cut_bound *out) {
    struct constraint constraint = {true, (double)budget_bytes};
    *out = (struct lagrangian_cut_bound){0};
    if (!lagrangian_cut_price(c, INFINITY))
        return false;
    out->min_bytes = c->persistent_bytes + c->min_value;
    if (c->persistent_bytes + c->live_bytes <= budget_bytes || c->held_bytes > budget_bytes)
        return true; // all live tensors fit, or no choice does
    double value = 0;
    out->price = min_price(c);
    if (!search(c, &constraint, (struct point){(double)c->extra_cost, (double)c->held_bytes},
                &value, &out->price))
        return false;
    out->extra_cost = (int64_t)ceil(value);
    return true;
}

bool lagrangian_cut_min_bytes(struct lagrangian_cut *c, int64_t max_extra_cost,
                              struct lagrangian_cut_bound *out) {
    struct constraint constraint = {false, (double)max_extra_cost};
    *out = (struct lagrangian_cut_bound){0};
    if (!lagrangian_cut_price(c, INFINITY))
        return false;
    out->min_bytes = c->persistent_bytes + c->min_value;
    if (c->live_bytes == 0)
        return true;
    double value = (double)out->min_bytes;
    out->price = min_price(c);
    if (!search(c, &constraint, (struct point){(double)c->extra_cost, (double)c->held_bytes},
                &value, &out->price))
        return false;
    // Sizes beyond 2^53 are not exact in `value`.
    if (value * (1 - 1e-15) > (double)out->min_bytes)
        out->min_bytes = (int64_t)ceil(value * (1 - 1e-15));
    return true;
}
