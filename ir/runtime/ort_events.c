// Requests to the allocator: see ort_events.h. One walk along the order. A kernel asks for its
// outputs and workspaces in the order of ort_kernels.h; what no later node needs is released after
// it.
#include "ir/runtime/ort_events.h"

#include <assert.h>

struct walk {
    const struct graph *g;
    const struct storage *s;
    struct arena *a;
    struct ort_events *out;
    uint32_t *buffer;    // by storage
    uint32_t *end_first; // by step: the first storage that ends there; 0: none
    uint32_t *end_next;  // by storage: the next one that ends at the same step
    bool failed;
};

static uint32_t add_buffer(struct walk *w, struct ort_buffer b) {
    if ((!w->out->buffers.n && !VEC_PUSH(w->a, &w->out->buffers, (struct ort_buffer){0})) ||
        !VEC_PUSH(w->a, &w->out->buffers, b))
        w->failed = true;
    return (uint32_t)w->out->buffers.n - 1;
}

static void add_event(struct walk *w, uint32_t buffer, bool is_alloc) {
    if (!VEC_PUSH(w->a, &w->out->list, (struct ort_event){buffer, is_alloc}))
        w->failed = true;
}

static uint32_t request(struct walk *w, int64_t n_bytes, enum ort_buffer_kind kind, node_id node) {
    uint32_t b = add_buffer(w, (struct ort_buffer){.n_bytes = n_bytes, .kind = kind, .node = node});
    add_event(w, b, true);
    return b;
}

// Output k of the node, if it has a buffer of its own that begins here.
static void add_output(struct walk *w, node_id id, uint32_t k) {
    const struct node *n = graph_node(w->g, id);
    uint32_t s = n->out[k].i ? w->s->of[n->out[k].i] : 0;
    if (!s || w->s->is_persistent[s] || w->s->first[s].i != n->out[k].i || w->buffer[s])
        return;
    bool is_output = graph_value(w->g, n->out[k])->is_output;
    bool is_unwritten = storage_is_unwritten(w->g, n);
    int64_t n_bytes = w->s->bytes[s];
    if (is_unwritten && !type_bytes(graph_value(w->g, n->out[k])->type, &n_bytes))
        n_bytes = 0;
    if (!n_bytes)
        return;
    w->buffer[s] = request(w, n_bytes, is_output ? ORT_OUTPUT : ORT_TENSOR, id);
    w->out->buffers.at[w->buffer[s]].storage = s;
    w->out->buffers.at[w->buffer[s]].is_unwritten = is_unwritten;
}

static void run_node(struct walk *w, node_id id, uint32_t step) {
    const struct node *n = graph_node(w->g, id);
    struct ort_kernel kernel;
    uint32_t made[ORT_KERNEL_MAX], n_made = 0;
    ort_kernel_of(w->g, n, &kernel);
    for (uint32_t i = 0; i < kernel.n && !w->failed; i++) {
        const struct ort_request *r = &kernel.at[i];
        if (r->is_output)
            add_output(w, id, r->output);
        else if (r->n_bytes > 0)
            made[n_made++] = request(w, r->n_bytes, r->is_plain ? ORT_PLAIN : ORT_WORKSPACE, id);
    }
    for (uint32_t k = kernel.n_outputs; k < n->n_out && !w->failed; k++)
        add_output(w, id, k);
    while (n_made > 0 && !w->failed)
        add_event(w, made[--n_made], false);
    for (uint32_t s = w->end_first[step]; s && !w->failed; s = w->end_next[s])
        if (w->buffer[s])
            add_event(w, w->buffer[s], false);
}

// What the graph around a branch holds until the branch has run: the length of the sequence, and
// the condition of the If. What it makes before is empty.
struct around {
    uint32_t length, condition;
};

static struct around begin_branch(struct walk *w, const bool *known) {
    struct around o;
    o.length = request(w, (int64_t)sizeof(int64_t), ORT_CONDITION, NODE_NONE);
    o.condition = request(w, (int64_t)sizeof(bool), ORT_CONDITION, NODE_NONE);
    for (size_t i = 0; i < w->g->outputs.n && !w->failed; i++) { // the If requests these in advance
        const struct value *v = graph_value(w->g, w->g->outputs.at[i]);
        if (v->def.i && known[w->g->outputs.at[i].i])
            add_output(w, v->def, v->def_slot);
    }
    return o;
}

status ort_events_of(const struct ort_execution *x, struct arena *a, struct ort_events *out) {
    assert(x && x->live->n_steps == x->order.n && a && out);
    const struct storage *s = x->s;
    size_t n = x->order.n;
    struct walk w = {.g = x->g,
                     .s = s,
                     .a = a,
                     .out = out,
                     .buffer = ARENA_ARRAY(a, uint32_t, s->n),
                     .end_first = ARENA_ARRAY(a, uint32_t, n + 1),
                     .end_next = ARENA_ARRAY(a, uint32_t, s->n)};
    *out = (struct ort_events){0};
    if (!w.buffer || !w.end_first || !w.end_next)
        return ST_LIMIT;
    for (uint32_t i = s->n; i-- > 1;) {
        uint32_t to = x->live->to[i];
        if (!s->is_persistent[i] && !s->is_output[i] && x->live->from[i] <= to) {
            w.end_next[i] = w.end_first[to];
            w.end_first[to] = i;
        }
    }
    struct around around = {0};
    if (x->branch_knows)
        around = begin_branch(&w, x->branch_knows);
    for (uint32_t i = 0; i < n && !w.failed; i++)
        run_node(&w, x->order.at[i], i);
    if (x->branch_knows) {
        add_event(&w, around.length, false);
        add_event(&w, around.condition, false);
    }
    return w.failed ? ST_LIMIT : ST_OK;
}
