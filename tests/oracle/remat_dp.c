// A state is the set of nodes that have run and the set of those that are held. From a state one
// may compute a node whose inputs are held (at its cost, if all that is held then fits the budget)
// or free one (at no cost). Dijkstra's algorithm over labels (cost, peak), compared in this order,
// gives the least cost within a budget and, among the cheapest, the least peak. That peak is a
// corner of the trade-off; the next one is found with one byte less.
//
// The order of labels is sound: on a cheapest path every prefix is a cheapest one to its state, and
// the peak of a path grows with the peaks of its parts.
#include "tests/oracle/remat_dp.h"

#include <stdlib.h>
#include <string.h>

struct label {
    int64_t cost, peak;
};

struct entry {
    struct label label;
    uint32_t state;
};

struct dp {
    const struct problem *p;
    bool free_order;
    int64_t budget;
    uint32_t all, keep, inputs[REMAT_DP_NODES];
    int64_t held_bytes[1 << REMAT_DP_NODES]; // of a set
    struct label *best;                      // per state; cost -1: not reached
    bool *final;
    struct entry *heap;
    size_t n_heap, cap_heap;
    bool failed;
};

static bool less(struct label a, struct label b) {
    return a.cost != b.cost ? a.cost < b.cost : a.peak < b.peak;
}

static void heap_push(struct dp *s, struct entry e) {
    if (s->n_heap == s->cap_heap) {
        size_t cap = s->cap_heap * 2 + 1024;
        struct entry *more = realloc(s->heap, cap * sizeof *more);
        if (!more) {
            s->failed = true;
            return;
        }
        s->heap = more;
        s->cap_heap = cap;
    }
    size_t i = s->n_heap++;
    for (; i > 0 && less(e.label, s->heap[(i - 1) / 2].label); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = e;
}

static struct entry heap_pop(struct dp *s) {
    struct entry top = s->heap[0], last = s->heap[--s->n_heap];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->n_heap)
            break;
        if (child + 1 < s->n_heap && less(s->heap[child + 1].label, s->heap[child].label))
            child++;
        if (!less(s->heap[child].label, last.label))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

static void reach(struct dp *s, uint32_t state, struct label l) {
    if (s->best[state].cost >= 0 && !less(l, s->best[state]))
        return;
    s->best[state] = l;
    heap_push(s, (struct entry){l, state});
}

static void expand(struct dp *s, uint32_t state, struct label l) {
    const struct problem *p = s->p;
    uint32_t held = state & s->all, ran = state >> p->n;
    for (int v = 0; v < p->n; v++) {
        uint32_t bit = 1u << v;
        if (held & bit) {
            reach(s, ran << p->n | (held & ~bit), l);
            continue;
        }
        bool first = !(ran & bit), next_in_order = (ran & (bit - 1)) == bit - 1;
        if ((s->inputs[v] & ~held) || (!first && p->once[v]) ||
            (first && !s->free_order && !next_in_order))
            continue;
        int64_t during = s->held_bytes[held | bit] + p->workspace[v] + p->persistent_bytes;
        if (during > s->budget)
            continue;
        struct label to = {l.cost + p->cost[v], l.peak > during ? l.peak : during};
        reach(s, (ran | bit) << p->n | held | bit, to);
    }
}

// False: the budget does not work.
static bool run(struct dp *s, struct label *out) {
    size_t n_states = (size_t)1 << 2 * s->p->n;
    for (size_t i = 0; i < n_states; i++)
        s->best[i].cost = -1;
    memset(s->final, 0, n_states * sizeof *s->final);
    s->n_heap = 0;
    reach(s, 0, (struct label){0, s->p->persistent_bytes});
    while (s->n_heap > 0 && !s->failed) {
        struct entry e = heap_pop(s);
        if (s->final[e.state])
            continue;
        s->final[e.state] = true;
        if (e.state >> s->p->n == s->all && (s->keep & ~e.state) == 0) {
            *out = e.label;
            return true;
        }
        expand(s, e.state, e.label);
    }
    return false;
}

static void prepare(struct dp *s) {
    const struct problem *p = s->p;
    s->all = (1u << p->n) - 1;
    for (int v = 0; v < p->n; v++) {
        if (p->keep[v])
            s->keep |= 1u << v;
        for (int32_t k = p->in_start[v]; k < p->in_start[v + 1]; k++)
            s->inputs[v] |= 1u << p->in_of[k];
    }
    for (uint32_t set = 0; set <= s->all; set++)
        for (int v = 0; v < p->n; v++)
            if (set >> v & 1)
                s->held_bytes[set] += p->bytes[v];
}

bool remat_dp(const struct problem *p, bool free_order, struct remat_front *out) {
    out->n = 0;
    if (p->n > REMAT_DP_NODES)
        return false;
    struct dp *s = calloc(1, sizeof *s);
    size_t n_states = (size_t)1 << 2 * p->n;
    if (!s)
        return false;
    *s = (struct dp){.p = p,
                     .free_order = free_order,
                     .budget = INT64_MAX,
                     .best = malloc(n_states * sizeof *s->best),
                     .final = malloc(n_states * sizeof *s->final)};
    s->failed = !s->best || !s->final;
    if (!s->failed)
        prepare(s);
    struct label corner;
    while (!s->failed && run(s, &corner)) {
        if (out->n == REMAT_DP_POINTS) {
            s->failed = true;
            break;
        }
        out->at[out->n].budget_bytes = corner.peak;
        out->at[out->n++].cost = corner.cost;
        s->budget = corner.peak - 1;
    }
    bool ok = !s->failed;
    free(s->heap);
    free(s->best);
    free(s->final);
    free(s);
    return ok;
}

int64_t remat_front_cost(const struct remat_front *f, int64_t budget_bytes) {
    for (int k = 0; k < f->n; k++)
        if (f->at[k].budget_bytes <= budget_bytes)
            return f->at[k].cost;
    return -1;
}
