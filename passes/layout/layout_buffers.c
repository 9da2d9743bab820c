// From values to buffers: see layout.h. Stages: storages (ir/storage.h) and their live ranges;
// storages written over an operand join its buffer; then one buffer for each set of joined
// storages, and one for each workspace, in the order in which they are made.
//
// A result may be written in place only if the node is the only reader of the operand: views of the
// operand do not count as readers, captures by subgraphs do. So no reader misses the overwritten
// value, in whatever order nodes run.
#include "passes/layout/layout_inner.h"

struct joining {
    const struct graph *g;
    struct storage s;
    struct liveness live;
    uint32_t *first;     // per storage: the first storage of its buffer
    uint32_t *buffer;    // per storage: its buffer, once made
    uint32_t *n_readers; // per storage: nodes that read it, without views
    node_id *reader;     // per storage: the last of them
    size_t n_in_place;
};

static bool same_form(const struct type *a, const struct type *b) {
    if (!type_is_static(a) || !type_is_static(b) || a->rank != b->rank ||
        elem_bits(a->elem) != elem_bits(b->elem) || elem_bits(a->elem) == 0)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i].size != b->dims[i].size)
            return false;
    return true;
}

// The next operand, starting with `from`, that the first output of a node may be written over;
// n_in: none. Elementwise operators: any operand of the same shape and element size; other
// operators that work in place: the first. Other readers of the operand are not considered here.
static uint32_t in_place_operand(const struct graph *g, const struct node *n, uint32_t from) {
    unsigned flags = op_info(n->op)->flags;
    uint32_t n_candidates = flags & OPF_ELEMENTWISE ? n->n_in : flags & OPF_INPLACE ? 1 : 0;
    if (!n->n_out || !n->out[0].i)
        return n->n_in;
    for (uint32_t k = from; k < n_candidates && k < n->n_in; k++)
        if (n->in[k].i &&
            same_form(graph_value(g, n->in[k])->type, graph_value(g, n->out[0])->type))
            return k;
    return n->n_in;
}

// Views read nothing.
static bool is_view(const struct storage *s, const struct node *n) {
    return n->n_in && n->n_out && n->in[0].i && n->out[0].i &&
           s->of[n->in[0].i] == s->of[n->out[0].i];
}

static void read_value(void *to, value_id v, node_id user) {
    struct joining *k = to;
    uint32_t s = k->s.of[v.i];
    if (!s)
        return;
    node_id *reader = &k->reader[s];
    k->n_readers[s] += reader->i != user.i; // once per node
    *reader = user;
}

static void count_readers(struct joining *k) {
    for (size_t i = 0; i < k->g->order.n; i++) {
        node_id id = k->g->order.at[i];
        const struct node *n = graph_node(k->g, id);
        for (uint32_t j = is_view(&k->s, n); j < n->n_in; j++)
            read_value(k, n->in[j], id);
        node_captured(k->g, id, read_value, k);
    }
}

// An operator that is not elementwise reads other elements than the one that it writes, so the
// overwritten storage must not be read through a second operand.
static bool is_read_twice(const struct joining *k, const struct node *n, uint32_t operand) {
    for (uint32_t j = 0; j < n->n_in; j++)
        if (j != operand && n->in[j].i && k->s.of[n->in[j].i] == k->s.of[n->in[operand].i])
            return true;
    return false;
}

static bool joins(const struct joining *k, const struct node *n, uint32_t operand) {
    uint32_t from = k->s.of[n->in[operand].i], to = k->s.of[n->out[0].i];
    return from && to && from != to && !k->s.is_persistent[from] && !k->s.is_persistent[to] &&
           !k->s.is_output[from] && k->n_readers[from] == 1 &&
           (op_info(n->op)->flags & OPF_ELEMENTWISE || !is_read_twice(k, n, operand));
}

static void join_in_place(struct joining *k) {
    for (size_t i = 0; i < k->g->order.n; i++) {
        const struct node *n = graph_node(k->g, k->g->order.at[i]);
        for (uint32_t j = in_place_operand(k->g, n, 0); j < n->n_in;
             j = in_place_operand(k->g, n, j + 1))
            if (joins(k, n, j)) {
                k->first[k->s.of[n->out[0].i]] = k->first[k->s.of[n->in[j].i]];
                k->n_in_place++;
                break;
            }
    }
}

static bool add_values(struct joining *k, struct arena *a, uint32_t s, uint32_t step,
                       struct layout *out) {
    uint32_t first = k->first[s];
    if (first == s) {
        k->buffer[s] = (uint32_t)out->buffers.n;
        struct layout_buffer b = {
            .from = step, .first = k->s.first[s], .stream = out->stream[k->g->order.at[step].i]};
        if (!VEC_PUSH(a, &out->buffers, b))
            return false;
    }
    struct layout_buffer *b = &out->buffers.at[k->buffer[first]];
    k->buffer[s] = k->buffer[first];
    b->bytes = k->s.bytes[s] > b->bytes ? k->s.bytes[s] : b->bytes;
    b->to = k->live.to[s] > b->to ? k->live.to[s] : b->to;
    return true;
}

static bool add_workspace(const struct joining *k, struct arena *a, uint32_t step,
                          struct layout *out) {
    node_id id = k->g->order.at[step];
    struct layout_buffer b = {.bytes = graph_node(k->g, id)->workspace_bytes,
                              .from = step,
                              .to = step,
                              .stream = out->stream[id.i],
                              .workspace = id};
    return b.bytes == 0 || VEC_PUSH(a, &out->buffers, b);
}

// One buffer per set of joined storages, and one per workspace, step by step.
static status make_buffers(struct joining *k, struct arena *a, struct diags *d,
                           struct layout *out) {
    if (!VEC_PUSH(a, &out->buffers, (struct layout_buffer){0}))
        return diag_out_of_memory(d);
    for (uint32_t step = 0; step < k->g->order.n; step++) {
        const struct node *n = graph_node(k->g, k->g->order.at[step]);
        for (uint32_t j = 0; j < n->n_out; j++) {
            uint32_t s = n->out[j].i ? k->s.of[n->out[j].i] : 0;
            if (s && !k->s.is_persistent[s] && k->s.first[s].i == n->out[j].i &&
                !add_values(k, a, s, step, out))
                return diag_out_of_memory(d);
        }
        if (!add_workspace(k, a, step, out))
            return diag_out_of_memory(d);
    }
    for (size_t v = 1; v < k->g->values.n; v++)
        out->of[v] = k->buffer[k->s.of[v]];
    return ST_OK;
}

status layout_buffers(const struct graph *g, bool in_place, struct arena *a, struct diags *d,
                      struct layout *out) {
    struct joining k = {.g = g};
    status st = storage_of(g, a, d, &k.s);
    if (!st)
        st = liveness_of(g, &k.s, (struct node_list){g->order.at, g->order.n}, a, d, &k.live);
    if (st)
        return st;
    k.first = ARENA_ARRAY(a, uint32_t, k.s.n);
    k.buffer = ARENA_ARRAY(a, uint32_t, k.s.n);
    k.n_readers = ARENA_ARRAY(a, uint32_t, k.s.n);
    k.reader = ARENA_ARRAY(a, node_id, k.s.n);
    out->of = ARENA_ARRAY(a, uint32_t, g->values.n);
    if (!k.first || !k.buffer || !k.n_readers || !k.reader || !out->of)
        return diag_out_of_memory(d);
    for (uint32_t s = 0; s < k.s.n; s++)
        k.first[s] = s;
    count_readers(&k);
    if (in_place)
        join_in_place(&k);
    out->n_in_place = k.n_in_place;
    out->persistent_bytes = k.s.persistent_bytes;
    return make_buffers(&k, a, d, out);
}
