// Requests and their lifetimes: see steer_trace.h.
#include "passes/steer/steer_trace.h"

#include <assert.h>
#include <stdlib.h>

static int64_t rounded(int64_t n_bytes) {
    return (n_bytes + STEER_UNIT_BYTES - 1) / STEER_UNIT_BYTES * STEER_UNIT_BYTES;
}

static bool make_items(struct steer_trace *t, struct arena *a) {
    const struct ort_events *e = t->e;
    t->n_items = (uint32_t)e->buffers.n;
    t->n_events = (uint32_t)e->list.n;
    t->items = ARENA_ARRAY(a, struct steer_item, t->n_items + 1);
    if (!t->items)
        return false;
    for (uint32_t i = 1; i < t->n_items; i++) {
        const struct ort_buffer *b = &e->buffers.at[i];
        t->items[i] = (struct steer_item){
            .n_bytes = rounded(b->n_bytes), .to = t->n_events, .in_arena = b->kind != ORT_PLAIN};
    }
    for (uint32_t i = 0; i < t->n_events; i++)
        if (e->list.at[i].is_alloc)
            t->items[e->list.at[i].buffer].from = i;
        else
            t->items[e->list.at[i].buffer].to = i;
    return true;
}

// The most bytes alive at one time of the items of at most `limit` bytes.
static int64_t peak_of(const struct steer_trace *t, int64_t limit) {
    int64_t live = 0, peak = 0;
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct steer_item *item = &t->items[t->e->list.at[i].buffer];
        if (!item->in_arena || item->n_bytes > limit)
            continue;
        live += t->e->list.at[i].is_alloc ? item->n_bytes : -item->n_bytes;
        peak = live > peak ? live : peak;
    }
    return peak;
}

static int by_size(const void *x, const void *y) {
    const int64_t *a = x, *b = y;
    return (*a > *b) - (*a < *b);
}

// The largest limit for which the items up to it keep to the share.
static bool weigh(struct steer_trace *t, int64_t share, struct arena *a) {
    int64_t *sizes = ARENA_ARRAY(a, int64_t, t->n_items + 1);
    if (!sizes)
        return false;
    for (uint32_t i = 1; i < t->n_items; i++)
        sizes[i - 1] = t->items[i].n_bytes;
    size_t n = t->n_items > 0 ? t->n_items - 1 : 0, lo = 0, hi = n;
    qsort(sizes, n, sizeof *sizes, by_size);
    t->peak_bytes = peak_of(t, INT64_MAX);
    while (lo < hi) { // the first size that is too large
        size_t mid = (lo + hi) / 2;
        if (peak_of(t, sizes[mid]) <= t->peak_bytes / share)
            lo = mid + 1;
        else
            hi = mid;
    }
    t->small_bytes = lo ? sizes[lo - 1] : 0;
    t->small_peak_bytes = peak_of(t, t->small_bytes);
    if (!(t->big = ARENA_ARRAY(a, uint32_t, t->n_items + 1)))
        return false;
    for (uint32_t i = 0; i < t->n_events; i++) {
        uint32_t b = t->e->list.at[i].buffer;
        struct steer_item *item = &t->items[b];
        item->is_big = item->in_arena && item->n_bytes > t->small_bytes;
        if (item->is_big && t->e->list.at[i].is_alloc)
            t->big[t->n_big++] = b;
    }
    return true;
}

// A reader of a buffer's first value delays the release, unless later values overwrite it.
static bool find_holdable(const struct graph *g, const struct storage *s, struct steer_trace *t,
                          struct arena *a) {
    bool *is_shared = ARENA_ARRAY(a, bool, s->n);
    if (!is_shared)
        return false;
    for (uint32_t v = 1; v < g->values.n; v++) {
        uint32_t k = s->of[v];
        node_id def = g->values.at[v].def;
        if (k && s->first[k].i != v &&
            (!def.i || !(op_info(graph_node(g, def)->op)->flags & OPF_VIEW)))
            is_shared[k] = true;
    }
    for (uint32_t i = 1; i < t->n_items; i++) {
        uint32_t k = t->e->buffers.at[i].storage;
        t->items[i].can_hold = t->e->buffers.at[i].kind == ORT_TENSOR && k && !is_shared[k];
    }
    return true;
}

// Whether a node has a result with elements; tokens have none.
static bool makes_elements(const struct graph *g, const struct node *n) {
    int64_t n_bytes;
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i && type_bytes(graph_value(g, n->out[k])->type, &n_bytes) && n_bytes > 0)
            return true;
    return false;
}

// Whether a node makes or reads a big item.
static bool touches_big(const struct graph *g, const struct storage *s, const bool *is_big,
                        node_id id) {
    const struct node *n = graph_node(g, id);
    if (op_info(n->op)->flags & OPF_VIEW || !makes_elements(g, n))
        return false;
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i && is_big[s->of[n->in[k].i]])
            return true;
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i && is_big[s->of[n->out[k].i]])
            return true;
    return false;
}

uint32_t steer_operand(const struct graph *g, node_id id, const uint32_t *place) {
    const struct node *n = graph_node(g, id);
    uint32_t best = n->n_in, n_in = n->op == OP_Reshape ? 1 : n->n_in;
    for (uint32_t k = 0; k < n_in; k++) {
        const struct value *v = n->in[k].i ? graph_value(g, n->in[k]) : NULL;
        if (!v || v->init || v->sparse_init || !type_is_static(v->type) ||
            (v->def.i && graph_node(g, v->def)->op == OP_Constant))
            continue;
        node_id def = best < n->n_in ? graph_value(g, n->in[best])->def : NODE_NONE;
        if (best == n->n_in || place[v->def.i] < place[def.i])
            best = k;
    }
    return best;
}

struct places {
    uint32_t *in_file; // by node: its position in the file, from 1
    bool *is_big;      // by storage
    bool *requests;    // by node: something big
    uint32_t *first;   // by node: the event of its first request, from 1; 0: it has none
};

static bool prepare(const struct graph *g, const struct storage *s, const struct steer_trace *t,
                    struct arena *a, struct places *p) {
    *p = (struct places){ARENA_ARRAY(a, uint32_t, g->nodes.n), ARENA_ARRAY(a, bool, s->n),
                         ARENA_ARRAY(a, bool, g->nodes.n), ARENA_ARRAY(a, uint32_t, g->nodes.n)};
    if (!p->in_file || !p->is_big || !p->requests || !p->first)
        return false;
    for (size_t i = 0; i < g->order.n; i++)
        p->in_file[g->order.at[i].i] = (uint32_t)i + 1;
    for (uint32_t i = t->n_events; i-- > 0;) {
        const struct ort_buffer *b = &t->e->buffers.at[t->e->list.at[i].buffer];
        bool is_big = t->items[t->e->list.at[i].buffer].is_big;
        p->is_big[b->storage] |= is_big && b->storage;
        p->requests[b->node.i] |= is_big;
        if (t->e->list.at[i].is_alloc)
            p->first[b->node.i] = i + 1;
    }
    return true;
}

// Control nodes run before a node that requests something big and after the latest node before it
// that makes or reads something big, if the file has the two in this order.
static bool find_gaps(const struct graph *g, struct node_list order, const struct storage *s,
                      struct steer_trace *t, struct arena *a) {
    struct places p;
    node_id last = NODE_NONE;
    t->is_gap = ARENA_ARRAY(a, bool, t->n_events + 1);
    t->after = ARENA_ARRAY(a, node_id, t->n_events + 1);
    if (!t->is_gap || !t->after || !prepare(g, s, t, a, &p))
        return false;
    for (size_t i = 0; i < order.n; i++) {
        node_id id = order.at[i];
        uint32_t event = p.first[id.i];
        bool in_order = p.in_file[last.i] < p.in_file[id.i];
        if (event && p.requests[id.i] && in_order &&
            steer_operand(g, id, p.in_file) < graph_node(g, id)->n_in) {
            t->is_gap[event - 1] = true;
            t->after[event - 1] = last;
        }
        if (in_order && touches_big(g, s, p.is_big, id))
            last = id;
    }
    return true;
}

bool steer_trace_of(const struct ort_requests *r, int64_t small_share, struct arena *a,
                    struct steer_trace *out) {
    assert(r && small_share > 0 && a && out);
    *out = (struct steer_trace){.e = &r->e};
    return make_items(out, a) && weigh(out, small_share, a) && find_holdable(r->g, &r->s, out, a) &&
           find_gaps(r->g, r->order, &r->s, out, a);
}
