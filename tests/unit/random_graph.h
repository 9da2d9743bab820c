// Random models for tests: a function of the seed, structurally sound, and with a little of
// everything that a model can hold: all kinds of attributes, element types and payloads, subgraphs
// that read outer values, functions, symbols, odd names, metadata, unknown fields, planning facts.
#pragma once

#include <string.h>

#include "tests/unit/random_tensor.h"

static inline struct graph *random_fill(struct random_graph *r, struct graph *g, size_t n_nodes);

static inline struct graph *random_subgraph(struct random_graph *r, struct graph *outer) {
    struct graph *g = graph_new(r->m, outer);
    g->name = random_maybe_text(r, 2);
    r->depth++;
    random_fill(r, g, random_below(r, 4));
    r->depth--;
    return g;
}

static inline float random_float(struct random_graph *r) {
    uint32_t bits = (uint32_t)rng_next(&r->rng);
    if (random_one_in(r, 5))
        bits |= 0x7f800000; // infinities and odd NaNs
    float f;
    memcpy(&f, &bits, sizeof f);
    return random_one_in(r, 3) ? (float)random_below(r, 100) / 4 : f;
}

static inline int64_t random_int(struct random_graph *r) {
    return (int64_t)(rng_next(&r->rng) >> random_below(r, 64));
}

static inline void random_attr_one(struct random_graph *r, struct graph *g, struct attr *a) {
    switch (a->kind) {
    case ATTR_FLOAT:
        a->f = random_float(r);
        break;
    case ATTR_INT:
        a->i = random_int(r);
        break;
    case ATTR_STRING:
        a->s = random_bytes(r, 12);
        break;
    case ATTR_TENSOR:
        a->t = random_tensor(r, NULL);
        break;
    case ATTR_GRAPH:
        a->g = random_subgraph(r, g);
        break;
    case ATTR_SPARSE:
        a->sparse = random_sparse(r, NULL);
        break;
    case ATTR_TYPE:
        a->type = random_maybe_type(r);
        break;
    default:
        break;
    }
}

static inline void random_attr_list(struct random_graph *r, struct graph *g, struct attr *a,
                                    enum attr_kind single) {
    a->n = random_below(r, 4);
    size_t size = a->kind == ATTR_FLOATS    ? sizeof(float)
                  : a->kind == ATTR_INTS    ? sizeof(int64_t)
                  : a->kind == ATTR_STRINGS ? sizeof(struct bytes)
                                            : sizeof(void *);
    char *list = arena_alloc(r->a, a->n * size);
    for (size_t i = 0; i < a->n; i++) {
        struct attr one = {.kind = single};
        random_attr_one(r, g, &one);
        memcpy(list + i * size, &one.s, size);
    }
    a->ints = (void *)list;
}

static inline struct attr random_attr(struct random_graph *r, struct graph *g, const char *name,
                                      bool in_function) {
    static const enum attr_kind singles[] = {
        [ATTR_FLOATS] = ATTR_FLOAT,   [ATTR_INTS] = ATTR_INT,     [ATTR_STRINGS] = ATTR_STRING,
        [ATTR_TENSORS] = ATTR_TENSOR, [ATTR_GRAPHS] = ATTR_GRAPH, [ATTR_SPARSES] = ATTR_SPARSE,
        [ATTR_TYPES] = ATTR_TYPE};
    struct attr a = {.name = name,
                     .doc = random_maybe_text(r, 15),
                     .kind = (enum attr_kind)random_below(r, ATTR_TYPES + 1),
                     .n = 1,
                     .extra = random_extra(r)};
    if (r->depth >= 3 && (a.kind == ATTR_GRAPH || a.kind == ATTR_GRAPHS))
        a.kind = ATTR_INT;
    if (in_function && random_one_in(r, 4))
        a.ref = random_text(r);
    else if (a.kind < sizeof singles / sizeof *singles && singles[a.kind])
        random_attr_list(r, g, &a, singles[a.kind]);
    else
        random_attr_one(r, g, &a);
    return a;
}

// A value that a node of this graph can read: one of its own, or of an enclosing graph's.
static inline value_id random_operand(struct random_graph *r, struct graph *g) {
    struct graph *from = g;
    while (from->outer && random_one_in(r, 3))
        from = from->outer;
    if (from->values.n < 2)
        return VALUE_NONE;
    value_id v = {(uint32_t)(1 + random_below(r, from->values.n - 1))};
    const struct value *x = graph_value(from, v);
    // Not one that was only declared, and not one whose node is not finished yet.
    if (!(x->def.i || x->is_input || x->init || x->sparse_init || x->outer.i))
        return VALUE_NONE;
    return graph_resolve(g, x->name);
}

static inline value_id random_value(struct random_graph *r, struct graph *g, const struct type *t) {
    const char *like = random_text(r);
    return graph_add_value(g, graph_fresh_name(g, *like ? like : "v"), t);
}

static inline void random_remarks(struct random_graph *r, struct value *v) {
    v->doc = random_maybe_text(r, 12);
    v->metadata = random_pairs(r, 20);
    v->extra = random_extra(r);
}

static inline void random_node(struct random_graph *r, struct graph *g) {
    static const struct {
        const char *domain, *type;
        uint32_t n_in, n_out;
    } ops[] = {{"", "Relu", 1, 1},
               {"", "Add", 2, 1},
               {"ai.onnx", "Mul", 2, 1},
               {"", "Dropout", 1, 2},
               {"", "Sum", 3, 1},
               {"my domain", "Odd op", 2, 3},
               {"com.microsoft", "FusedMatMul", 2, 1},
               {"x", "sink", 1, 0},
               {"x", "source", 0, 1}};
    size_t o = random_below(r, sizeof ops / sizeof *ops);
    value_id in[4] = {{0}}, out[4] = {{0}};
    for (uint32_t k = 0; k < ops[o].n_in; k++)
        in[k] = random_operand(r, g);
    bool optional = ops[o].domain[0] && strcmp(ops[o].domain, "ai.onnx") != 0;
    for (uint32_t k = 0; k < ops[o].n_in && !optional; k++)
        if (!in[k].i)
            return; // a standard operator needs all of these
    struct attr attrs[3];
    uint32_t n_attrs = (uint32_t)random_below(r, 4);
    for (uint32_t k = 0; k < n_attrs; k++)
        attrs[k] = random_attr(r, g, str_format(r->a, "%s%u", k == 1 ? "odd name" : "a", k),
                               !g->outer && g != r->m->graph);
    for (uint32_t k = 0; k < ops[o].n_out; k++)
        if (k == 0 || !random_one_in(r, 4)) {
            out[k] = random_value(r, g, random_maybe_type(r));
            random_remarks(r, graph_value(g, out[k]));
        }
    node_id id = graph_add_node(g, ops[o].domain, ops[o].type, (struct values){in, ops[o].n_in},
                                (struct values){out, ops[o].n_out});
    for (uint32_t k = 0; k < n_attrs; k++)
        graph_set_attr(g, id, attrs[k]);
    struct node *n = graph_node(g, id);
    n->overload = random_maybe_text(r, 20);
    n->name = random_maybe_text(r, 2);
    n->doc = random_maybe_text(r, 15);
    n->metadata = random_pairs(r, 15);
    n->devices = random_extra(r);
    n->extra = random_extra(r);
    if (random_one_in(r, 4))
        n->cost = random_int(r) & INT64_MAX;
    if (random_one_in(r, 8))
        n->workspace_bytes = random_int(r) & INT64_MAX;
    n->device = (uint32_t)random_below(r, r->m->device_names.n + 1);
    node_id again = {(uint32_t)random_below(r, id.i)};
    if (random_one_in(r, 4) && again.i && graph_node(g, again)->n_out)
        n->again = again;
}

// Declares some values, in an order of its own.
static inline void random_infos(struct random_graph *r, struct graph *g) {
    uint64_t style = random_below(r, 4); // 0: none; 1: as one expects; 2, 3: some, mixed up
    for (size_t i = 0; style == 1 && i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_out; k++) {
            struct value *v = graph_value(g, n->out[k]);
            if (n->out[k].i && v->type && !v->is_output) {
                v->has_info = true;
                (void)VEC_PUSH(r->a, &g->infos, n->out[k]);
            }
        }
    }
    for (size_t i = 0; style > 1 && i < g->values.n; i++) {
        value_id v = {(uint32_t)random_below(r, g->values.n)};
        if (v.i && !graph_value(g, v)->has_info) {
            graph_value(g, v)->has_info = true;
            (void)VEC_PUSH(r->a, &g->infos, v);
        }
    }
}

static inline void random_params(struct random_graph *r, struct graph *g) {
    for (uint64_t k = random_below(r, 4); k > 0; k--) {
        value_id v = random_value(r, g, NULL);
        struct value *x = graph_value(g, v);
        if (random_one_in(r, 5)) {
            x->sparse_init = random_sparse(r, x->name);
            x->type = random_maybe_type(r);
            (void)VEC_PUSH(r->a, &g->sparse_inits, v);
        } else {
            graph_add_init(g, v, random_tensor(r, x->name));
            x->is_constant = random_one_in(r, 5);
            x->type = random_one_in(r, 3) ? random_maybe_type(r) : tensor_type(r->a, x->init);
        }
        random_remarks(r, x);
        if (random_one_in(r, 4)) {
            graph_add_input(g, v);
            x->type = random_maybe_type(r);
        }
    }
}

static inline struct graph *random_fill(struct random_graph *r, struct graph *g, size_t n_nodes) {
    g->doc = random_maybe_text(r, 8);
    g->metadata = random_pairs(r, 10);
    g->extra = random_extra(r);
    for (uint64_t k = random_below(r, 3); k > 0; k--)
        (void)VEC_PUSH(r->a, &g->quantization, random_bytes(r, 10));
    for (uint64_t k = random_below(r, 3); k > 0; k--) {
        value_id v = random_value(r, g, random_maybe_type(r));
        random_remarks(r, graph_value(g, v));
        graph_add_input(g, v);
    }
    random_params(r, g);
    for (size_t k = 0; k < n_nodes; k++)
        random_node(r, g);
    for (uint64_t k = random_below(r, 3); k > 0; k--) {
        value_id v = random_operand(r, g);
        if (v.i)
            graph_add_output(g, v);
    }
    if (random_one_in(r, 10)) { // declared, but nobody's
        value_id v = random_value(r, g, random_maybe_type(r));
        graph_value(g, v)->has_info = true;
        (void)VEC_PUSH(r->a, &g->infos, v);
    }
    random_infos(r, g);
    return g;
}

static inline struct opset random_opset(struct random_graph *r) {
    return (struct opset){
        .domain = random_maybe_text(r, 2), .version = random_int(r), .extra = random_extra(r)};
}

static inline void random_function(struct random_graph *r, int number) {
    struct function f = {.name = pool_intern(r->m->pool, str_format(r->a, "fun ction%d", number)),
                         .domain = random_text(r),
                         .overload = random_maybe_text(r, 3),
                         .doc = random_maybe_text(r, 4),
                         .metadata = random_pairs(r, 4),
                         .extra = random_extra(r)};
    f.body = graph_new(r->m, NULL);
    random_fill(r, f.body, random_below(r, 5));
    // What a graph says about itself, a function says in its own fields.
    f.body->doc = NULL;
    f.body->metadata = (struct pairs){0};
    f.body->extra = (struct bytes){0};
    f.n_opsets = random_below(r, 3);
    f.opsets = ARENA_ARRAY(r->a, struct opset, f.n_opsets);
    for (size_t i = 0; i < f.n_opsets; i++)
        f.opsets[i] = random_opset(r);
    f.n_attrs = random_below(r, 3);
    f.attrs = ARENA_ARRAY(r->a, const char *, f.n_attrs);
    for (size_t i = 0; i < f.n_attrs; i++)
        f.attrs[i] = random_text(r);
    f.n_defaults = random_below(r, 3);
    f.defaults = ARENA_ARRAY(r->a, struct attr, f.n_defaults);
    for (size_t i = 0; i < f.n_defaults; i++)
        f.defaults[i] = random_attr(r, f.body, random_text(r), false);
    (void)VEC_PUSH(r->a, &r->m->functions, f);
}

static inline struct model *random_model(struct arena *a, struct pool *names, uint64_t seed) {
    struct model *m = model_new(a, names);
    struct random_graph r = {.rng = rng_make(seed, 0), .a = a, .m = m};
    m->ir_version = (int64_t)random_below(&r, 12);
    m->producer = random_maybe_text(&r, 2);
    m->producer_version = random_maybe_text(&r, 2);
    m->domain = random_maybe_text(&r, 3);
    m->doc = random_maybe_text(&r, 3);
    m->version = random_one_in(&r, 3) ? random_int(&r) : 0;
    m->metadata = random_pairs(&r, 3);
    m->extra = random_extra(&r);
    m->facts = (unsigned)random_below(&r, FACT_ALL + 1) & ~(unsigned)FACT_TOPO;
    for (uint64_t k = random_below(&r, 4); k > 0; k--)
        (void)VEC_PUSH(a, &m->opsets, random_opset(&r));
    for (uint64_t k = random_below(&r, 3); k > 0; k--)
        (void)VEC_PUSH(a, &m->device_names, pool_intern(names, str_format(a, "dev %d", (int)k)));
    for (uint64_t k = random_below(&r, 3); k > 0; k--)
        (void)VEC_PUSH(a, &m->configurations, random_bytes(&r, 10));
    for (uint64_t k = random_below(&r, 3); k > 0; k--)
        (void)VEC_PUSH(a, &m->training, random_span(&r, random_bytes(&r, 10)));
    m->graph->name = random_maybe_text(&r, 2);
    random_fill(&r, m->graph, random_below(&r, 12));
    for (int k = (int)random_below(&r, 3); k > 0; k--)
        random_function(&r, k);
    return m;
}
