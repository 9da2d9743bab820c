// Which nodes must run in the planned order. A storage is light when it and all smaller ones
// together are less than one part in LIGHT_SHARE of the peak: in whatever order light nodes run,
// they cannot move the peak by more than that. A node is heavy when it makes or reads a storage
// that is not light: a bias gradient is tiny, but computing it may free something big. Views are
// light: they have no storage of their own, and their readers read the storage.
#include <stdlib.h>

#include "ir/base/checked.h"
#include "passes/rewrite/rewrite.h"

enum { LIGHT_SHARE = 200 };

status rewrite_weigh(struct rewrite *r) {
    struct arena *a = r->c->arena;
    int64_t *sizes, sum = 0;
    size_t n = 0;
    status st = storage_of(r->g, a, r->c->diags, &r->s);
    if (!st)
        st = liveness_of(r->g, &r->s, (struct node_list){r->g->order.at, r->g->order.n}, a,
                         r->c->diags, &r->live);
    if (st)
        return st;
    if (!(sizes = ARENA_ARRAY(a, int64_t, r->s.n)))
        return diag_out_of_memory(r->c->diags);
    for (uint32_t i = 1; i < r->s.n; i++)
        if (!r->s.is_persistent[i])
            sizes[n++] = r->s.bytes[i];
    qsort(sizes, n, sizeof *sizes, int64_compare);
    int64_t limit = (r->live.peak_bytes - r->s.persistent_bytes) / LIGHT_SHARE;
    for (size_t i = 0; i < n;) { // storages of one size are all light or all heavy
        int64_t size = sizes[i];
        for (; i < n && sizes[i] == size && sum <= limit; i++)
            sum += size;
        if (sum > limit)
            break;
        r->light_bytes = size;
    }
    return ST_OK;
}

bool rewrite_is_heavy_value(const struct rewrite *r, value_id v) {
    uint32_t s = v.i && v.i < r->n_vals ? r->s.of[v.i] : 0;
    return s && !r->s.is_persistent[s] && r->s.bytes[s] > r->light_bytes;
}

struct heavy_use {
    const struct rewrite *r;
    bool found;
};

static void visit_heavy(void *to, value_id v, node_id user) {
    struct heavy_use *h = to;
    (void)user;
    h->found |= rewrite_is_heavy_value(h->r, v);
}

bool rewrite_is_heavy(const struct rewrite *r, node_id id) {
    const struct node *n = graph_node(r->g, id);
    struct heavy_use h = {r, false};
    if (n->n_out && n->n_in && n->out[0].i && n->in[0].i &&
        r->s.of[n->out[0].i] == r->s.of[n->in[0].i])
        return false; // a view
    for (uint32_t k = 0; k < n->n_in; k++)
        visit_heavy(&h, n->in[k], id);
    for (uint32_t k = 0; k < n->n_out; k++)
        visit_heavy(&h, n->out[k], id);
    node_captured(r->g, id, visit_heavy, &h);
    return h.found;
}

struct latest {
    const struct rewrite *r;
    uint32_t number;
};

static void visit_latest(void *to, value_id v, node_id user) {
    struct latest *l = to;
    node_id def = v.i ? graph_value(l->r->g, v)->def : NODE_NONE;
    (void)user;
    if (def.i && def.i < l->r->n_nodes && l->r->reach[def.i] > l->number)
        l->number = l->r->reach[def.i];
}

uint32_t rewrite_reach(const struct rewrite *r, node_id id) {
    const struct node *n = graph_node(r->g, id);
    struct latest l = {r, 0};
    for (uint32_t k = 0; k < n->n_in; k++)
        visit_latest(&l, n->in[k], id);
    node_captured(r->g, id, visit_latest, &l);
    return l.number;
}
