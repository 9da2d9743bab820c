// Model of ONNX Runtime's static memory planner (SequentialPlanner): which tensors share a buffer.
// One pass over the execution order with reference counts. Each output of a node
//   1. is a view of the first input (known from ir/storage), or the running statistics of a
//      BatchNormalization, in the memory of the operand;
//   2. else overwrites an input whose last read this is (in place), where the kernel allows it and
//      both shapes are known and equal;
//   3. else reuses the most recently freed buffer of equal shape and element size;
//   4. else gets a new buffer.
// The planner decides this before execution and frees a buffer only after the last tensor assigned
// to it. A buffer that is reused later therefore stays allocated in between. Graph outputs get
// buffers of their own, held to the end; persistent buffers are never reused. The buffer of a value
// without readers can be reused at once; if no later value with readers gets it, it is held to the
// end. A shape that ONNX Runtime does not know (ort_shapes.h) never matches, and rule 3 skips
// tensors of rank 0.
#include "ir/runtime/runtime_alloc.h"

#include <assert.h>

#include "ir/base/limits.h"
#include "ir/base/map.h"

// A reusable buffer, and the one of its size that was freed before it.
struct freed {
    uint32_t buffer, before;
};

struct planner {
    const struct graph *g;
    struct storage *s;
    uint32_t *size_class; // by value: equal for equal shapes and element sizes; 0: not known
    uint32_t *n_readers;  // by buffer: remaining reads of all its values
    struct freed *freed;  // entry 0 is none; each buffer is freed once for a storage or value in it
    uint32_t *last_freed; // by size class: an entry
    uint32_t *merged_into; // by storage: the buffer that it shares; 0: its own
    bool *is_unread;       // by buffer: its latest value has no readers
    uint32_t n_freed;
};

// Paths are halved on the way: a buffer that is overwritten in place many times has long ones.
static uint32_t buffer_of(const struct planner *p, value_id v) {
    uint32_t b = p->s->of[v.i], *into = p->merged_into;
    while (b && into[b]) {
        into[b] = into[into[b]] ? into[into[b]] : into[b];
        b = into[b];
    }
    return b;
}

// Numbers the shapes and element sizes, so that buffers of one size are found without a search.
static bool classify(struct planner *p, const bool *known, struct arena *a) {
    struct map classes = map_make(a);
    int64_t n = 0;
    for (uint32_t i = 1; i < p->g->values.n; i++) {
        const struct type *t = p->g->values.at[i].type;
        int64_t key[2 + LIMIT_RANK], class;
        if (!known[i] || !t)
            continue;
        key[0] = elem_bits(t->elem);
        key[1] = t->rank;
        for (int32_t k = 0; k < t->rank; k++)
            key[2 + k] = t->dims[k].size;
        size_t n_bytes = (2 + (size_t)t->rank) * sizeof *key;
        if (!map_get(&classes, key, n_bytes, &class)) {
            const void *kept = arena_copy(a, key, n_bytes);
            if (!kept || !map_put(&classes, kept, n_bytes, class = ++n))
                return false;
        }
        p->size_class[i] = (uint32_t) class;
    }
    p->last_freed = ARENA_ARRAY(a, uint32_t, n + 1);
    return p->last_freed != NULL;
}

static bool same_size(const struct planner *p, value_id a, value_id b) {
    return p->size_class[a.i] && p->size_class[a.i] == p->size_class[b.i];
}

static void add_freed(struct planner *p, uint32_t buffer) {
    uint32_t *last = &p->last_freed[p->size_class[p->s->first[buffer].i]];
    p->freed[++p->n_freed] = (struct freed){buffer, *last};
    *last = p->n_freed;
}

// The buffer of an input that dies here and that the kernel may overwrite; 0: none.
static uint32_t in_place(const struct planner *p, const struct node *n, uint32_t k) {
    if (k > 0 || !(op_info(n->op)->flags & OPF_INPLACE) || !n->n_in || !n->in[0].i)
        return 0;
    uint32_t b = buffer_of(p, n->in[0]);
    bool dies = b && !p->s->is_persistent[b] && !p->s->is_output[b] && p->n_readers[b] == 1;
    return dies && same_size(p, n->in[0], n->out[0]) ? b : 0;
}

// Training-mode BatchNormalization writes the new running statistics over the old ones unless they
// are graph outputs. The buffer that output k overwrites; 0: none.
static uint32_t overwritten(const struct planner *p, const struct node *n, uint32_t k) {
    bool is_statistic = n->op == OP_BatchNormalization && n->n_in == 5 && (k == 1 || k == 2);
    return is_statistic ? buffer_of(p, n->in[k + 2]) : 0;
}

static uint32_t take_freed(struct planner *p, value_id v) {
    const struct type *t = graph_value(p->g, v)->type;
    if (!t || t->rank == 0)
        return 0;
    uint32_t class = p->size_class[v.i], last = class ? p->last_freed[class] : 0;
    p->last_freed[class] = p->freed[last].before;
    return p->freed[last].buffer;
}

static void make_outputs(struct planner *p, const struct node *n) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        value_id v = n->out[k];
        uint32_t own = v.i ? p->s->of[v.i] : 0;
        if (!own || p->s->first[own].i != v.i || p->s->is_persistent[own] || p->s->is_output[own])
            continue; // a view, or a buffer that is not shared
        uint32_t b = overwritten(p, n, k);
        if (!b)
            b = in_place(p, n, k);
        if (!b)
            b = take_freed(p, v);
        if (!overwritten(p, n, k))
            p->is_unread[b ? b : own] = p->n_readers[own] == 0;
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
        add_freed(p, b);
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

static void free_unread(struct planner *p, const struct node *n) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t b = n->out[k].i ? buffer_of(p, n->out[k]) : 0;
        if (b && p->is_unread[b] && p->n_readers[b] == 0)
            add_freed(p, b);
    }
}

static void run_node(struct planner *p, node_id id) {
    make_outputs(p, graph_node(p->g, id));
    visit_reads(p, id, end_read);
    free_unread(p, graph_node(p->g, id));
}

status runtime_alloc(const struct graph *g, struct node_list order, const bool *known,
                     struct arena *a, struct diags *d, struct storage *s) {
    assert(g && (order.at || !order.n) && known && a && d && s && s->of);
    struct planner p = {.g = g,
                        .s = s,
                        .size_class = ARENA_ARRAY(a, uint32_t, g->values.n),
                        .n_readers = ARENA_ARRAY(a, uint32_t, s->n),
                        .freed = ARENA_ARRAY(a, struct freed, s->n + g->values.n + 1),
                        .merged_into = ARENA_ARRAY(a, uint32_t, s->n),
                        .is_unread = ARENA_ARRAY(a, bool, s->n)};
    if (!p.n_readers || !p.freed || !p.merged_into || !p.is_unread || !p.size_class ||
        !classify(&p, known, a))
        return diag_out_of_memory(d);
    for (size_t i = 0; i < order.n; i++)
        visit_reads(&p, order.at[i], count_read);
    for (size_t i = 0; i < order.n; i++)
        run_node(&p, order.at[i]);
    for (uint32_t v = 1; v < g->values.n; v++)
        s->of[v] = buffer_of(&p, (value_id){v});
    for (uint32_t i = 1; i < s->n; i++)
        s->is_output[i] |= p.is_unread[i];
    return ST_OK;
}
