// Model of ONNX Runtime's static memory planner (SequentialPlanner): which tensors share a buffer.
// One pass over the execution order with reference counts. Each output of a node
//   1. is a view of the first input (known from ir/storage);
//   2. else overwrites an input whose last read this is (in place), where the kernel allows it and
//      both shapes are known and equal;
//   3. else reuses the most recently freed buffer of equal shape and element size;
//   4. else gets a new buffer.
// The planner decides this before execution and frees a buffer only after the last tensor assigned
// to it. A buffer that is reused later therefore stays allocated in between. Graph outputs and
// values without readers get buffers of their own, held to the end; persistent buffers are never
// reused. A shape that ONNX Runtime does not know (ort_shapes.h) never matches, and rule 3 skips
// tensors of rank 0.
#include "ir/runtime/runtime_alloc.h"

#include <assert.h>

#include "ir/runtime/ort_shapes.h"

struct planner {
    const struct graph *g;
    struct storage *s;
    const bool *known;     // by value: its shape is known
    uint32_t *n_readers;   // by buffer: remaining reads of all its values
    uint32_t *freed;       // reusable buffers, the most recently freed last
    uint32_t *merged_into; // by storage: the buffer that it shares; 0: its own
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

// The buffer of an input that dies here and that the kernel may overwrite; 0: none.
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
            continue; // a view, or a buffer that is not shared
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

// A value without readers is held to the end, like an output.
static void hold_unread(struct planner *p, const struct node *n) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t own = n->out[k].i ? p->s->of[n->out[k].i] : 0;
        if (own && p->n_readers[own] == 0 && !p->s->is_persistent[own])
            p->s->is_output[own] = true;
    }
}

status runtime_alloc(const struct graph *g, const node_id *order, size_t n, struct arena *a,
                     struct diags *d, struct storage *s) {
    assert(g && (order || !n) && a && d && s && s->of);
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
