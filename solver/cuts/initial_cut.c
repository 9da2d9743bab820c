// One cut of an order (initial_cut.h): pins the tensors at boundaries, searches a price per byte
// for the Lagrangian relaxation of the cut, and makes the sequence that its choice implies.
#include "solver/cuts/initial_cut.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_ROUNDS = 6, BISECTIONS = 12, MAX_RISES = 60 };
#define TILT 0.02 // breaks ties: tensors recomputed late are evicted first, when memory use is low

// For each node before the cut: bytes made up to it and read after it, up to the cut.
static void find_crossing(struct initial_cut *s) {
    const struct problem *p = s->p;
    for (int32_t i = 0; i < s->q; i++) {
        s->last[i] = i;
        for (int32_t e = p->out_start[i]; e < p->out_start[i + 1] && p->out_of[e] <= s->q; e++)
            s->last[i] = p->out_of[e];
        s->crossing[i] += p->bytes[i];
        s->crossing[s->last[i]] -= p->bytes[i];
    }
    for (int32_t i = 1; i < s->q; i++)
        s->crossing[i] += s->crossing[i - 1];
}

bool initial_cut_make(struct initial_cut *s, const struct problem *p, int32_t q,
                      const struct initial_goal *goal, const struct stop *stop, struct arena *a) {
    assert(q >= 0 && q < p->n && goal);
    struct arena scratch = arena_make(a->mem);
    struct lagrangian_cut cut;
    struct lagrangian_cut_bound bound;
    size_t n = (size_t)p->n;
    *s = (struct initial_cut){.p = p,
                              .goal = *goal,
                              .stop = stop,
                              .mem = a->mem,
                              .q = q,
                              .pinned = ARENA_ARRAY(a, bool, n),
                              .recomputed = ARENA_ARRAY(a, bool, n),
                              .last = ARENA_ARRAY(a, int32_t, n),
                              .crossing = ARENA_ARRAY(a, int64_t, n),
                              .boundary = ARENA_ARRAY(a, int32_t, n),
                              .stack = ARENA_ARRAY(a, int32_t, n + (size_t)p->n_edges + 1),
                              .now = {ARENA_ARRAY(a, int32_t, 2 * n), 0}};
    bool ok = s->pinned && s->recomputed && s->last && s->crossing && s->boundary && s->stack &&
              s->now.at && lagrangian_cut_make(&cut, p, q, NULL, p->once, &scratch);
    if (ok) {
        find_crossing(s);
        cut.stop = stop;
        ok = goal->min_peak
                 ? lagrangian_cut_min_bytes(&cut, goal->max_cost - problem_base_cost(p), &bound)
                 : lagrangian_cut_bound(&cut, goal->budget_bytes, &bound);
        s->first_price = bound.price;
    }
    arena_free(&scratch);
    return ok;
}

// Puts each boundary where the fewest bytes cross in its stretch.
static void pin_boundaries(struct initial_cut *s, int32_t apart, double growth) {
    double length = apart;
    int32_t n = 0;
    memcpy(s->pinned, s->p->once, (size_t)s->p->n * sizeof *s->pinned);
    for (int32_t to = s->q; to - length >= 0; length *= growth) {
        int32_t from = to - (int32_t)length, best = from;
        for (int32_t i = from; i < to; i++)
            if (s->crossing[i] <= s->crossing[best])
                best = i;
        s->boundary[n++] = best;
        to = from;
    }
    for (int32_t i = 0; i < s->q; i++) {
        while (n > 0 && s->boundary[n - 1] < i)
            n--;
        if (n > 0 && s->last[i] > s->boundary[n - 1])
            s->pinned[i] = true;
    }
}

static bool is_needed(const struct initial_cut *s, const bool *evicted, int32_t node) {
    return node < s->q && evicted[node] && !s->recomputed[node];
}

// Recomputes the node after its evicted ancestors. With a stack, since chains of evicted tensors
// may be as long as the graph.
static void recompute(struct initial_cut *s, const bool *evicted, int32_t node) {
    const struct problem *p = s->p;
    int32_t n = 0;
    s->stack[n++] = node;
    while (n > 0) {
        int32_t top = s->stack[n - 1], before = n;
        if (s->recomputed[top]) {
            n--;
            continue;
        }
        for (int32_t e = p->in_start[top]; e < p->in_start[top + 1]; e++)
            if (is_needed(s, evicted, p->in_of[e]))
                s->stack[n++] = p->in_of[e];
        if (n > before)
            continue;
        n--;
        s->recomputed[top] = true;
        s->now.at[s->now.n++] = top;
    }
}

// Makes the sequence in which `evicted` is not kept across the cut, with its cost, peak and excess.
static bool make_sequence(struct initial_cut *s, const bool *evicted) {
    const struct problem *p = s->p;
    struct arena scratch = arena_make(s->mem);
    memset(s->recomputed, 0, (size_t)p->n * sizeof *s->recomputed);
    s->now.n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        if (i > s->q)
            for (int32_t e = p->in_start[i]; e < p->in_start[i + 1]; e++)
                if (is_needed(s, evicted, p->in_of[e]))
                    recompute(s, evicted, p->in_of[e]);
        s->now.at[s->now.n++] = i;
    }
    for (int32_t i = 0; i < s->q; i++)
        if (p->keep[i] && is_needed(s, evicted, i))
            recompute(s, evicted, i);
    bool ok = sequence_measure(p, s->now, &scratch, &s->facts);
    if (ok && !s->goal.min_peak)
        ok = sequence_excess(p, s->now, s->goal.budget_bytes, &scratch, &s->excess_bytes);
    arena_free(&scratch);
    return ok;
}

// The lowest price, from *price on, at which at most the target is held at the cut. *met: there is
// one, and `c` holds its choice.
static bool meet_target(struct lagrangian_cut *c, int64_t target_bytes, double *price, bool *met) {
    double low = *price, high = *price;
    *met = false;
    if (!lagrangian_cut_price(c, high))
        return false;
    for (int k = 0; c->held_bytes > target_bytes; k++) {
        if (isinf(high))
            return true;
        low = high;
        high = k < MAX_RISES ? high * (k < 3 ? 1.02 : 1.5) : INFINITY;
        if (!lagrangian_cut_price(c, high))
            return false;
    }
    for (int k = 0; k < BISECTIONS && low < high && !isinf(high); k++) {
        double middle = (low + high) / 2;
        if (!lagrangian_cut_price(c, middle))
            return false;
        *(c->held_bytes <= target_bytes ? &high : &low) = middle;
    }
    *met = true;
    *price = low;
    return lagrangian_cut_price(c, high);
}

// The highest price whose choice costs at most max_extra_cost; *met as above.
static bool meet_cost(struct lagrangian_cut *c, int64_t max_extra_cost, double price, bool *met) {
    double low = price, high = price;
    *met = false;
    if (!lagrangian_cut_price(c, price))
        return false;
    bool expensive = c->extra_cost > max_extra_cost;
    for (int k = 0; k < MAX_RISES && (c->extra_cost > max_extra_cost) == expensive; k++) {
        double factor = k < 3 ? 1.02 : 1.5;
        *(expensive ? &high : &low) = expensive ? low : high;
        *(expensive ? &low : &high) *= expensive ? 1 / factor : factor;
        if (!lagrangian_cut_price(c, expensive ? low : high))
            return false;
    }
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = (low + high) / 2;
        if (!lagrangian_cut_price(c, middle))
            return false;
        *(c->extra_cost <= max_extra_cost ? &low : &high) = middle;
    }
    if (!lagrangian_cut_price(c, low))
        return false;
    *met = c->extra_cost <= max_extra_cost;
    return true;
}

static bool run_cost(struct initial_cut *s, struct lagrangian_cut *c, initial_cut_found *found,
                     void *context) {
    bool met;
    if (s->stop && stop_now(s->stop))
        return true;
    if (!meet_cost(c, s->goal.max_cost - problem_base_cost(s->p), s->first_price, &met))
        return false;
    return !met || (make_sequence(s, c->evicted) && found(context, s));
}

static bool run_rounds(struct initial_cut *s, struct lagrangian_cut *c, const int64_t *max_cost,
                       initial_cut_found *found, void *context) {
    double price = s->first_price;
    int64_t target = s->goal.budget_bytes;
    for (int k = 0; k < MAX_ROUNDS && !(s->stop && stop_now(s->stop)); k++) {
        bool met;
        if (!meet_target(c, target, &price, &met))
            return false;
        if (!met)
            return true;
        if (!make_sequence(s, c->evicted) || !found(context, s))
            return false;
        if (s->excess_bytes == 0 || s->facts.cost >= *max_cost)
            return true;
        target = c->held_bytes < target ? c->held_bytes : target;
        target -= s->facts.peak_bytes - s->goal.budget_bytes;
    }
    return true;
}

bool initial_cut_run(struct initial_cut *s, int32_t apart, double growth, const int64_t *max_cost,
                     initial_cut_found *found, void *context) {
    assert(apart > 0 && growth >= 1 && max_cost && found);
    struct arena scratch = arena_make(s->mem);
    struct lagrangian_cut cut;
    if (s->first_price <= 0)
        return true;
    pin_boundaries(s, apart, growth);
    bool ok = lagrangian_cut_make(&cut, s->p, s->q, NULL, s->pinned, &scratch);
    if (ok) {
        cut.stop = s->stop;
        cut.tilt = TILT;
        ok = s->goal.min_peak ? run_cost(s, &cut, found, context)
                              : run_rounds(s, &cut, max_cost, found, context);
    }
    arena_free(&scratch);
    return ok;
}
