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

// The most bytes alive at one time of the items in the arena, or beside it, of at most `limit`
// bytes.
static int64_t peak_of(const struct steer_trace *t, bool in_arena, int64_t limit) {
    int64_t live = 0, peak = 0;
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct steer_item *item = &t->items[t->e->list.at[i].buffer];
        if (item->in_arena != in_arena || item->n_bytes > limit)
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
static bool find_limit(struct steer_trace *t, int64_t share, struct arena *a) {
    int64_t *sizes = ARENA_ARRAY(a, int64_t, t->n_items + 1);
    if (!sizes)
        return false;
    for (uint32_t i = 1; i < t->n_items; i++)
        sizes[i - 1] = t->items[i].n_bytes;
    size_t n = t->n_items > 0 ? t->n_items - 1 : 0, lo = 0, hi = n;
    qsort(sizes, n, sizeof *sizes, by_size);
    while (lo < hi) { // the first size that is too large
        size_t mid = (lo + hi) / 2;
        if (peak_of(t, true, sizes[mid]) <= t->peak_bytes / share)
            lo = mid + 1;
        else
            hi = mid;
    }
    t->small_bytes = lo ? sizes[lo - 1] : 0;
    return true;
}

static bool weigh(struct steer_trace *t, struct steer_weight w, struct arena *a) {
    t->peak_bytes = peak_of(t, true, INT64_MAX);
    t->plain_peak_bytes = peak_of(t, false, INT64_MAX);
    t->small_bytes = w.small_bytes;
    if (w.small_bytes < 0 && !find_limit(t, w.small_share, a))
        return false;
    t->small_peak_bytes = peak_of(t, true, t->small_bytes);
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

bool steer_can_follow(const struct type *t) {
    return type_is_static(t) && (t->elem == ELEM_BOOL || t->elem == ELEM_F16 ||
                                 t->elem == ELEM_BF16 || t->elem == ELEM_F32 ||
                                 t->elem == ELEM_F64 || t->elem == ELEM_I32 || t->elem == ELEM_I64);
}

// The smallest output, since a token is one more reader of it.
static value_id smallest_output(const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    value_id best = VALUE_NONE;
    int64_t least = 0, size;
    for (uint32_t k = 0; k < n->n_out; k++) {
        const struct type *t = n->out[k].i ? graph_value(g, n->out[k])->type : NULL;
        if (t && steer_can_follow(t) && type_bytes(t, &size) && (!best.i || size < least)) {
            best = n->out[k];
            least = size;
        }
    }
    return best;
}

struct places {
    uint32_t *in_file; // by node: its position in the file, from 1
    bool *is_big;      // by storage
    bool *requests;    // by node: something big
    uint32_t *first;   // by node: the event of its first request when it runs, from 1; 0: none
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
        uint32_t first = p->first[b->node.i]; // an If requests some of the outputs before
        if (t->e->list.at[i].is_alloc && (first == 0 || first == i + 2))
            p->first[b->node.i] = i + 1;
    }
    return true;
}

// Control nodes run after the latest node before that makes or reads something big, if the file has
// the two in this order.
static bool find_openings(const struct ort_requests *r, struct steer_trace *t, struct arena *a) {
    const struct graph *g = r->g;
    struct places p;
    node_id last = NODE_NONE;
    t->openings = ARENA_ARRAY(a, struct steer_opening, t->n_events + 1);
    if (!t->openings || !prepare(g, &r->s, t, a, &p))
        return false;
    for (size_t i = 0; i < r->order.n; i++) {
        node_id id = r->order.at[i];
        uint32_t event = p.first[id.i];
        bool in_order = p.in_file[last.i] < p.in_file[id.i];
        value_id after = last.i ? smallest_output(g, last) : VALUE_NONE;
        if (event && p.requests[id.i] && in_order && (!last.i || after.i))
            t->openings[t->n_openings++] = (struct steer_opening){after, id, event - 1};
        if (in_order && touches_big(g, &r->s, p.is_big, id))
            last = id;
    }
    return true;
}

bool steer_trace_of(const struct ort_requests *r, struct steer_weight w, struct arena *a,
                    struct steer_trace *out) {
    assert(r && (w.small_share > 0 || w.small_bytes >= 0) && a && out);
    *out = (struct steer_trace){.r = r, .e = &r->e};
    return make_items(out, a) && weigh(out, w, a) && find_holdable(r->g, &r->s, out, a) &&
           find_openings(r, out, a);
}
