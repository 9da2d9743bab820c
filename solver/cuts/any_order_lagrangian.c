// Bounds for all orders by the Lagrangian relaxation of single cuts (lagrangian_cut.h): no integer
// program, about linear time.
//
// The cut of highest memory pressure usually gives the best bound. Some others are tried, since the
// tensors live there may be more expensive to recompute.
#include <assert.h>
#include <string.h>

#include "solver/cuts/any_order_state.h"
#include "solver/mip/cut.h"

#define MAX_RELAXATIONS 6

void any_order_sides(struct any_order *s, int32_t q) {
    assert(q >= 0 && q < s->p->n);
    const struct problem *p = s->p;
    memset(s->side, 0, (size_t)p->n * sizeof *s->side);
    s->side[q] = SIDE_AT;
    for (int32_t v = q + 1; v < p->n; v++)
        for (int32_t k = p->in_start[v]; k < p->in_start[v + 1]; k++)
            if (s->side[p->in_of[k]] >= SIDE_AT)
                s->side[v] = SIDE_AFTER;
    for (int32_t v = q - 1; v >= 0; v--)
        for (int32_t k = p->out_start[v]; k < p->out_start[v + 1]; k++) {
            enum cut_side of = s->side[p->out_of[k]];
            if (of == SIDE_BEFORE || of == SIDE_AT)
                s->side[v] = SIDE_BEFORE;
        }
}

// Memory pressure: bytes of ancestors that are live at the first run of q if none of them is
// recomputed. Live means read later by a descendant of q or by a node on a path to one.
static int64_t memory_pressure(struct any_order *s, int32_t q) {
    const struct problem *p = s->p;
    int64_t sum = p->persistent_bytes + p->bytes[q] + p->workspace[q];
    any_order_sides(s, q);
    for (int32_t v = p->n - 1; v >= 0; v--) {
        s->live[v] = s->side[v] >= SIDE_AT;
        for (int32_t k = p->out_start[v]; k < p->out_start[v + 1] && !s->live[v]; k++)
            s->live[v] = s->side[p->out_of[k]] != SIDE_BEFORE && s->live[p->out_of[k]];
        if (s->side[v] == SIDE_BEFORE && (s->live[v] || p->keep[v]))
            sum += p->bytes[v];
    }
    return sum;
}

// Fills the candidates: nodes where the given order holds more than the budget; of many, an evenly
// spaced selection. False: out of memory.
static bool find_candidates(struct any_order *s) {
    const struct problem *p = s->p;
    struct cut_view view;
    struct sequence given;
    int64_t *held, capacity = s->budget_bytes - p->persistent_bytes;
    int32_t *stage, n_over = 0, n_seen = 0;
    if (!cut_view_make(p, s->budget_bytes, s->arena, &view) ||
        !sequence_given(p, s->arena, &given) || !cut_profile(&view, given, s->arena, &held, &stage))
        return false;
    for (int32_t v = 0; v < p->n; v++)
        n_over += held[v] > capacity;
    for (int32_t v = 0; v < p->n && !(s->stop && stop_now(s->stop)); v++) {
        if (held[v] <= capacity)
            continue;
        int64_t before = (int64_t)n_seen * MAX_CANDIDATES / n_over;
        int64_t after = (int64_t)++n_seen * MAX_CANDIDATES / n_over;
        if (n_over > MAX_CANDIDATES && before == after)
            continue;
        s->candidate[s->n_candidates] = v;
        s->pressure[s->n_candidates++] = memory_pressure(s, v);
    }
    return true;
}

bool any_order_lagrangian_cut(struct any_order *s, int32_t q, bool any, int64_t *extra_cost) {
    struct solve_run *r = s->r;
    struct arena a = arena_make(r->arena->mem);
    struct lagrangian_cut cut;
    struct lagrangian_cut_bound bound;
    if (any)
        any_order_sides(s, q);
    bool ok = lagrangian_cut_make(&cut, r->p, q, any ? s->side : NULL, r->p->once, &a);
    if (ok) {
        cut.stop = r->stop;
        ok = lagrangian_cut_bound(&cut, r->options->budget_bytes, &bound);
    }
    if (ok) {
        solve_infeasible(r, any, true, bound.min_bytes, &q, 1);
        solve_bound_exact(r, any, r->base_cost + bound.extra_cost, 'O');
        *extra_cost = bound.extra_cost;
    }
    arena_free(&a);
    return ok;
}

// The k-th candidate to evaluate: first the one of highest pressure, then others at even distances.
static int32_t choose(const struct any_order *s, int32_t k) {
    int32_t best = 0;
    if (k > 0)
        return s->candidate[(int64_t)(2 * k - 1) * s->n_candidates / MAX_RELAXATIONS / 2];
    for (int32_t i = 0; i < s->n_candidates; i++)
        if (s->pressure[i] > s->pressure[best])
            best = i;
    return s->candidate[best];
}

struct any_order *any_order_make(const struct problem *p, int64_t budget_bytes,
                                 const struct stop *stop, struct arena *a) {
    struct any_order *s = ARENA_NEW(a, struct any_order);
    if (!s)
        return NULL;
    *s = (struct any_order){.p = p,
                            .budget_bytes = budget_bytes,
                            .stop = stop,
                            .arena = a,
                            .side = ARENA_ARRAY(a, enum cut_side, p->n),
                            .live = ARENA_ARRAY(a, bool, p->n)};
    return s->side && s->live && find_candidates(s) ? s : NULL;
}

status any_order_lagrangian(struct solve_run *r) {
    struct arena a = arena_make(r->arena->mem);
    struct any_order *s = any_order_make(r->p, r->options->budget_bytes, r->stop, &a);
    bool ok = s != NULL;
    int64_t extra;
    if (ok)
        s->r = r;
    for (int32_t k = 0; ok && s->n_candidates > 0 && k <= MAX_RELAXATIONS && !solve_over(r); k++)
        ok = any_order_lagrangian_cut(s, choose(s, k), true, &extra) &&
             (r->options->free_order || any_order_lagrangian_cut(s, choose(s, k), false, &extra));
    arena_free(&a);
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}

bool any_order_min_bytes(const struct problem *p, bool free_order, int64_t max_cost,
                         const struct stop *stop, struct mem *mem, int64_t *min_bytes) {
    assert(p && mem && min_bytes);
    struct arena a = arena_make(mem);
    struct any_order *s = any_order_make(p, problem_floor(p, NULL), stop, &a);
    bool ok = s != NULL;
    *min_bytes = 0;
    for (int32_t k = 0; ok && s->n_candidates > 0 && k <= MAX_RELAXATIONS; k++) {
        struct arena scratch = arena_make(mem);
        struct lagrangian_cut cut;
        struct lagrangian_cut_bound bound = {0};
        any_order_sides(s, choose(s, k));
        ok = lagrangian_cut_make(&cut, p, choose(s, k), free_order ? s->side : NULL, p->once,
                                 &scratch);
        if (ok) {
            cut.stop = stop;
            ok = lagrangian_cut_min_bytes(&cut, max_cost - problem_base_cost(p), &bound);
        }
        *min_bytes = bound.min_bytes > *min_bytes ? bound.min_bytes : *min_bytes;
        arena_free(&scratch);
    }
    arena_free(&a);
    return ok;
}
