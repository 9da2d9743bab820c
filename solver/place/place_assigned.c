// A list schedule for devices that are given: see place.h. Of the nodes whose inputs are there, the
// one runs next that can start first; among equals, the one with the longest path to the end. The
// sequence is sorted by when nodes finish, since a transfer waits for what precedes it on the
// receiving device.
#include <stdlib.h>

#include "ir/base/checked.h"
#include "solver/place.h"

struct assigned {
    const struct placement *p;
    const bool *on;
    int64_t *tail, *ready_at, *finish, *free_at; // per node, and per device
    int32_t *waits, *ready, n_ready;
};

static bool runs(const struct assigned *x, int32_t v, int32_t d) {
    return x->on[(int64_t)v * x->p->n_devices + d];
}

static int64_t cost_of(const struct assigned *x, int32_t v) {
    int64_t cost = 0;
    for (int32_t d = 0; d < x->p->n_devices; d++)
        if (runs(x, v, d))
            cost = int64_max(cost, placement_cost(x->p, v, d));
    return cost;
}

// Until the output of u is on all devices of v.
static int64_t transfer_time(const struct assigned *x, int32_t u, int32_t v) {
    int64_t time = 0;
    for (int32_t d = 0; d < x->p->n_devices; d++) {
        int64_t best = INT64_MAX;
        for (int32_t from = 0; from < x->p->n_devices && runs(x, v, d); from++)
            if (runs(x, u, from) && placement_route(x->p, from, d)->n_resources >= 0)
                best = int64_min(best, from == d ? 0 : placement_transfer_cost(x->p, u, from, d));
        time = best == INT64_MAX ? time : int64_max(time, best);
    }
    return time;
}

static void find_tails(struct assigned *x) {
    const struct problem *g = &x->p->graph;
    for (int32_t v = g->n; v-- > 0;) {
        for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++) {
            int32_t w = g->out_of[e];
            x->tail[v] = int64_max(x->tail[v], x->tail[w] + transfer_time(x, v, w));
        }
        x->tail[v] += cost_of(x, v);
    }
}

static int64_t start_of(const struct assigned *x, int32_t v) {
    int64_t start = x->ready_at[v];
    for (int32_t d = 0; d < x->p->n_devices; d++)
        if (runs(x, v, d))
            start = int64_max(start, x->free_at[d]);
    return start;
}

static int32_t take_next(struct assigned *x) {
    int32_t best = 0;
    int64_t best_start = INT64_MAX;
    for (int32_t k = 0; k < x->n_ready; k++) {
        int64_t start = start_of(x, x->ready[k]);
        int64_t longer = x->tail[x->ready[k]] - x->tail[x->ready[best]];
        if (start < best_start ||
            (start == best_start && (longer > 0 || (!longer && x->ready[k] < x->ready[best])))) {
            best = k;
            best_start = start;
        }
    }
    int32_t v = x->ready[best];
    x->ready[best] = x->ready[--x->n_ready];
    x->finish[v] = best_start + cost_of(x, v);
    return v;
}

static void release_readers(struct assigned *x, int32_t v) {
    const struct problem *g = &x->p->graph;
    for (int32_t d = 0; d < x->p->n_devices; d++)
        if (runs(x, v, d))
            x->free_at[d] = x->finish[v];
    for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++) {
        int32_t w = g->out_of[e];
        x->ready_at[w] = int64_max(x->ready_at[w], x->finish[v] + transfer_time(x, v, w));
        if (--x->waits[w] == 0)
            x->ready[x->n_ready++] = w;
    }
}

struct picked {
    int64_t finish;
    int32_t turn, node;
};

static int by_finish(const void *a, const void *b) {
    const struct picked *x = a, *y = b;
    if (x->finish != y->finish)
        return x->finish < y->finish ? -1 : 1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

bool place_assigned(const struct placement *p, const bool *on, struct arena *a,
                    struct strategy *out) {
    int32_t n = p->graph.n;
    struct arena scratch = arena_make(a->mem);
    struct assigned x = {p,
                         on,
                         ARENA_ARRAY(&scratch, int64_t, n),
                         ARENA_ARRAY(&scratch, int64_t, n),
                         ARENA_ARRAY(&scratch, int64_t, n),
                         ARENA_ARRAY(&scratch, int64_t, p->n_devices),
                         ARENA_ARRAY(&scratch, int32_t, n),
                         ARENA_ARRAY(&scratch, int32_t, n),
                         0};
    struct picked *picked = ARENA_ARRAY(&scratch, struct picked, n);
    int32_t *order = ARENA_ARRAY(&scratch, int32_t, n);
    bool ok =
        x.tail && x.ready_at && x.finish && x.free_at && x.waits && x.ready && picked && order;
    if (ok)
        find_tails(&x);
    for (int32_t v = 0; v < n && ok; v++)
        if ((x.waits[v] = p->graph.in_start[v + 1] - p->graph.in_start[v]) == 0)
            x.ready[x.n_ready++] = v;
    for (int32_t i = 0; i < n && ok; i++) {
        int32_t v = take_next(&x);
        release_readers(&x, v);
        picked[i] = (struct picked){x.finish[v], i, v};
    }
    if (ok)
        qsort(picked, (size_t)n, sizeof *picked, by_finish);
    for (int32_t i = 0; i < n && ok; i++)
        order[i] = picked[i].node;
    ok = ok && strategy_assign(p, order, on, a, out);
    arena_free(&scratch);
    return ok;
}
