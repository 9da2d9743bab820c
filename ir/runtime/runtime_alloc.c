// ONNX Runtime's static planner (SequentialPlanner), as far as buffers go. Node by node, each
// output
//   1. is a view of the first input, which ir/storage knows already;
//   2. else is written over an input that dies here, where the kernel allows it and both shapes are
//      known and equal;
//   3. else takes the most recently freed buffer of an equal shape and element size;
//   4. else gets a new buffer.
// A buffer that will be taken again is held until then: the planner decides all of this before
// anything runs, and frees a buffer for good only after the last of those who live in it. Outputs
// of the graph have buffers of their own, and what is fixed is never taken. Shapes that ONNX
// Runtime cannot know (ir/runtime/ort_shapes.h) make no match, and rank 0 is not looked for in 3.
#include "ir/runtime/runtime_alloc.h"

#include "ir/runtime/ort_shapes.h"

struct planner {
    const struct graph *g;
    struct storage *s;
    const bool *known;     // by value: its shape
    uint32_t *n_readers;   // by buffer: reads to come, of all that lives in it
    uint32_t *freed;       // buffers to take, the most recently freed last
    uint32_t *merged_into; // by storage: the buffer it was put into; 0: itself
    size_t n_freed;
};

static uint32_t buffer_of(const struct planner *p, value_id v) {
    uint32_t b = p->s->of[v.i];
    while (b && p->merged_into[b])
        b = p->merged_into[b];
    return b;
}

static bool same_size(const struct planner *p, value_id a, value_id b) {
    const struct type *x = graph_value(p->g, a)->type, *y = graph_value(p->g, b)->type;
    if (!p->known[a.i] || !p->known[b.i] || !x || !y || x->rank != y->rank ||
        elem_bits(x->elem) != elem_bits(y->elem))
        return false;
    for (int32_t i = 0; i < x->rank; i++)
        if (x->dims[i].size != y->dims[i].size)
            return false;
    return true;
}

// The buffer of a dying input that the kernel may write over; 0: none.
static uint32_t in_place(const struct planner *p, const struct node *n, uint32_t k) {
    if (k > 0 || !(op_info(n->op)->flags & OPF_INPLACE) || !n->n_in || !n->in[0].i)
        return 0;
    uint32_t b = buffer_of(p, n->in[0]);
    bool dies = b && !p->s->is_persistent[b] && !p->s->is_output[b] && p->n_readers[b] == 1;
    return dies && same_size(p, n->in[0], n->out[0]) ? b : 0;
}

static uint32_t take_freed(struct planner *p, value_id v) {
    const struct type *t = graph_value(p->g, v)->type;
    if (!t || t->rank == 0)
        return 0;
    for (size_t i = p->n_freed; i-- > 0;)
        if (same_size(p, p->s->first[p->freed[i]], v)) {
            uint32_t b = p->freed[i];
            p->n_freed--;
            for (size_t k = i; k < p->n_freed; k++)
                p->freed[k] = p->freed[k + 1];
            return b;
        }
    return 0;
}

static void make_outputs(struct planner *p, const struct node *n) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        value_id v = n->out[k];
        uint32_t own = v.i ? p->s->of[v.i] : 0;
        if (!own || p->s->first[own].i != v.i || p->s->is_persistent[own] || p->s->is_output[own])
            continue; // a view, or what nobody shares
        uint32_t b = in_place(p, n, k);
        if (!b)
            b = take_freed(p, v);
        if (b) {
            p->merged_into[own] = b;
            p->n_readers[b] += p->n_readers[own];
        }
    }
}

static void end_read(void *to, value_id v, node_id user) {
    struct planner *p = to;
    uint32_t b = buffer_of(p, v);
    (void)user;
    if (b && --p->n_readers[b] == 0 && !p->s->is_persistent[b] && !p->s->is_output[b])
        p->freed[p->n_freed++] = b;
}

static void count_read(void *to, value_id v, node_id user) {
    struct planner *p = to;
    (void)user;
    p->n_readers[p->s->of[v.i]]++;
}

static void visit_reads(const struct planner *p, node_id id, visit_use *visit) {
    const struct node *n = graph_node(p->g, id);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i)
            visit((void *)p, n->in[k], id);
    node_captured(p->g, id, visit, (void *)p);
}

static void run_node(struct planner *p, node_id id) {
    make_outputs(p, graph_node(p->g, id));
    visit_reads(p, id, end_read);
}

// Held from its computation to the end, like an output.
static void hold_unread(struct planner *p, const struct node *n) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t own = n->out[k].i ? p->s->of[n->out[k].i] : 0;
        if (own && p->n_readers[own] == 0 && !p->s->is_persistent[own])
            p->s->is_output[own] = true;
    }
}

status runtime_alloc(const struct graph *g, const node_id *order, size_t n, struct arena *a,
                     struct diags *d, struct storage *s) {
    struct planner p = {.g = g,
                        .s = s,
                        .known = ort_shapes_known(g, a),
                        .n_readers = ARENA_ARRAY(a, uint32_t, s->n),
                        .freed = ARENA_ARRAY(a, uint32_t, s->n),
                        .merged_into = ARENA_ARRAY(a, uint32_t, s->n)};
    if (!p.known || !p.n_readers || !p.freed || !p.merged_into)
        return diag_out_of_memory(d);
    for (size_t i = 0; i < n; i++)
        visit_reads(&p, order[i], count_read);
    for (size_t i = 0; i < n; i++)
        hold_unread(&p, graph_node(g, order[i]));
    for (size_t i = 0; i < n; i++)
        run_node(&p, order[i]);
    for (uint32_t v = 1; v < g->values.n; v++)
        s->of[v] = buffer_of(&p, (value_id){v});
    return ST_OK;
}
