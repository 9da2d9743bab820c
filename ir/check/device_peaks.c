// Peak memory of each device of a placed graph: see device_peaks.h. Stages:
//   1. liveness of every storage in the order of the whole graph (ir/storage);
//   2. persistent storages: each counts once per device with a node that reads it, for the whole
//      step;
//   3. one sweep over the order: a node's outputs are added to its device, the device's peak is
//      updated, and storages whose last reader this is are subtracted from their device.
// All sums are checked for overflow.
#include "ir/check/device_peaks.h"

#include <assert.h>

#include "ir/base/checked.h"
#include "ir/storage.h"

struct walk {
    const struct graph *g;
    const struct storage *s;
    int64_t *held;    // per device: bytes allocated now
    bool *is_counted; // per device and persistent storage
    uint32_t device;  // whose nodes count_persistent visits
    bool ok;          // no overflow
};

static void add(struct walk *w, uint32_t device, int64_t n_bytes) {
    w->ok = w->ok && checked_add(w->held[device], n_bytes, &w->held[device]);
}

static void count_persistent(void *to, value_id v, node_id user) {
    struct walk *w = to;
    uint32_t s = w->s->of[v.i];
    (void)user;
    if (!s || !w->s->is_persistent[s] || w->is_counted[(size_t)w->device * w->s->n + s])
        return;
    w->is_counted[(size_t)w->device * w->s->n + s] = true;
    add(w, w->device, w->s->bytes[s]);
}

static void count_all_persistent(struct walk *w) {
    for (size_t i = 0; i < w->g->order.n; i++) {
        const struct node *n = graph_node(w->g, w->g->order.at[i]);
        w->device = n->device - 1;
        for (uint32_t k = 0; k < n->n_in && n->device; k++)
            count_persistent(w, n->in[k], w->g->order.at[i]);
        if (n->device)
            node_captured(w->g, w->g->order.at[i], count_persistent, w);
    }
}

static uint32_t device_of(const struct walk *w, uint32_t s) {
    return graph_node(w->g, graph_value(w->g, w->s->first[s])->def)->device;
}

// Buckets of storages by the step of their last reader, as linked lists: first[step],
// next[storage].
static void list_ends(const struct liveness *l, uint32_t n, const struct storage *s,
                      uint32_t *first, uint32_t *next) {
    for (uint32_t i = 1; i < n; i++)
        if (!s->is_persistent[i] && l->from[i] <= l->to[i] && l->to[i] < l->n_steps) {
            next[i] = first[l->to[i]];
            first[l->to[i]] = i;
        }
}

static void walk_order(struct walk *w, const struct liveness *l, const uint32_t *ends,
                       const uint32_t *next, int64_t *peak_bytes) {
    for (uint32_t i = 0; i < l->n_steps && w->ok; i++) {
        const struct node *n = graph_node(w->g, w->g->order.at[i]);
        for (uint32_t k = 0; k < n->n_out; k++) {
            uint32_t s = w->s->of[n->out[k].i];
            if (s && !w->s->is_persistent[s] && w->s->first[s].i == n->out[k].i && n->device)
                add(w, n->device - 1, w->s->bytes[s]);
        }
        int64_t now;
        if (n->device) {
            w->ok = w->ok && checked_add(w->held[n->device - 1], n->workspace_bytes, &now);
            if (w->ok && now > peak_bytes[n->device - 1])
                peak_bytes[n->device - 1] = now;
        }
        for (uint32_t s = ends[i]; s; s = next[s])
            if (device_of(w, s))
                add(w, device_of(w, s) - 1, -w->s->bytes[s]);
    }
}

status device_peaks(const struct graph *g, struct arena *a, struct diags *d, int64_t *peak_bytes) {
    assert(g && a && d && peak_bytes);
    size_t n_devices = g->model->device_names.n;
    struct storage s;
    struct liveness l;
    status st = storage_of(g, a, d, &s);
    if (!st)
        st = liveness_of(g, &s, (struct node_list){g->order.at, g->order.n}, a, d, &l);
    if (st)
        return st;
    struct walk w = {.g = g,
                     .s = &s,
                     .held = ARENA_ARRAY(a, int64_t, n_devices),
                     .is_counted = ARENA_ARRAY(a, bool, n_devices *s.n),
                     .ok = true};
    uint32_t *ends = ARENA_ARRAY(a, uint32_t, g->order.n), *next = ARENA_ARRAY(a, uint32_t, s.n);
    if (!w.held || !w.is_counted || !ends || !next)
        return diag_out_of_memory(d);
    count_all_persistent(&w);
    for (size_t i = 0; i < n_devices; i++)
        peak_bytes[i] = w.held[i];
    list_ends(&l, s.n, &s, ends, next);
    walk_order(&w, &l, ends, next, peak_bytes);
    return w.ok ? ST_OK
                : diag_error(d, DIAG_LIMIT, loc_file(g->model->path),
                             "the values of the graph together exceed 2^63 bytes");
}
