// Random models for tests: a function of the seed, structurally sound, and with a little of
// everything that a model can hold: all kinds of attributes, element types and payloads, subgraphs
// that read outer values, functions, symbols, odd names, metadata, unknown fields, planning facts.
#pragma once

#include <string.h>

#include "ir/base/rng.h"
#include "ir/graph.h"

struct random_graph {
    struct rng rng;
    struct arena *a;
    struct model *m;
    int depth;
};

static inline uint64_t random_below(struct random_graph *r, uint64_t n) {
    return rng_below(&r->rng, n);
}

static inline bool random_one_in(struct random_graph *r, uint64_t n) {
    return random_below(r, n) == 0;
}

static inline const char *random_text(struct random_graph *r) {
    static const char *const texts[] = {"x",
                                        "conv1",
                                        "/layer1/Conv_output:0",
                                        "aten::add",
                                        "odd name",
                                        "_",
                                        "",
                                        ":",
                                        "a:",
                                        "quote\"back\\slash",
                                        "line\nbreak\ttab\r",
                                        "\xc3\xbc\xe2\x82\xac",
                                        "bad\xff\xfeutf8",
                                        "12",
                                        "-3",
                                        "1e5",
                                        "graph",
                                        "% #{}()[]<>=,@$?*",
                                        "as",
                                        "span",
                                        "nan",
                                        "\x01\x7f"};
    const char *t = texts[random_below(r, sizeof texts / sizeof *texts)];
    return pool_intern(r->m->pool, t);
}

static inline const char *random_maybe_text(struct random_graph *r, uint64_t one_in) {
    return random_one_in(r, one_in) ? random_text(r) : NULL;
}

static inline struct bytes random_bytes(struct random_graph *r, size_t most) {
    size_t n = random_below(r, most + 1);
    uint8_t *at = arena_alloc(r->a, n);
    for (size_t i = 0; i < n; i++)
        at[i] = (uint8_t)rng_next(&r->rng);
    return (struct bytes){at, n};
}

static inline struct bytes random_extra(struct random_graph *r) {
    return random_one_in(r, 12) ? random_bytes(r, 9) : (struct bytes){0};
}

static inline struct pairs random_pairs(struct random_graph *r, uint64_t one_in) {
    struct pairs p = {0};
    if (!random_one_in(r, one_in))
        return p;
    p.n = 1 + random_below(r, 3);
    p.at = ARENA_ARRAY(r->a, struct pair, p.n);
    for (size_t i = 0; i < p.n; i++)
        p.at[i] = (struct pair){.key = random_maybe_text(r, 1),
                                .value = random_one_in(r, 9) ? NULL : random_text(r),
                                .extra = random_extra(r)};
    return p;
}

static inline struct span random_span(struct random_graph *r, struct bytes b) {
    struct source *s = ARENA_NEW(r->a, struct source);
    *s = (struct source){.path = "<memory>", .fd = -1, .memory = b.at, .n_bytes = (int64_t)b.n};
    return (struct span){s, 0, (int64_t)b.n};
}

static inline enum elem random_elem(struct random_graph *r) {
    return (enum elem)random_below(r, ELEM_LIMIT_ + 2); // also none, and some that do not exist
}

static inline const struct type *random_type(struct random_graph *r) {
    struct type *t = ARENA_NEW(r->a, struct type);
    t->kind = random_one_in(r, 6) ? (enum type_kind)random_below(r, TYPE_OPAQUE + 1) : TYPE_TENSOR;
    if (t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE || t->kind == TYPE_MAP)
        t->elem = random_elem(r);
    if ((t->kind == TYPE_TENSOR || t->kind == TYPE_SPARSE) && !random_one_in(r, 8)) {
        t->has_shape = true;
        t->rank = (int32_t)random_below(r, 5);
        struct dim *dims = ARENA_ARRAY(r->a, struct dim, t->rank);
        for (int32_t i = 0; i < t->rank; i++) {
            dims[i].size = (int64_t)random_below(r, 1000) - 1;
            if (random_one_in(r, 3)) {
                dims[i].size = DIM_UNKNOWN;
                dims[i].symbol = random_one_in(r, 4) ? NULL : random_text(r);
            }
            dims[i].denotation = random_maybe_text(r, 20);
        }
        t->dims = dims;
        t->shape_extra = random_extra(r);
        struct bytes *extras =
            random_one_in(r, 12) ? ARENA_ARRAY(r->a, struct bytes, t->rank) : NULL;
        for (int32_t i = 0; extras && i < t->rank; i++)
            extras[i] = random_extra(r);
        t->dim_extras = extras;
    }
    if ((t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL || t->kind == TYPE_MAP) &&
        !random_one_in(r, 5))
        t->child = random_type(r);
    if (t->kind == TYPE_OPAQUE) {
        t->opaque_domain = random_maybe_text(r, 2);
        t->opaque_name = random_maybe_text(r, 2);
    }
    t->denotation = random_maybe_text(r, 20);
    t->extra = random_extra(r);
    if (t->kind != TYPE_NONE)
        t->inner_extra = random_extra(r);
    return t;
}

static inline const struct type *random_maybe_type(struct random_graph *r) {
    return random_one_in(r, 3) ? NULL : random_type(r);
}

static inline const int64_t *random_dims(struct random_graph *r, int32_t *rank) {
    *rank = (int32_t)random_below(r, 4);
    int64_t *dims = ARENA_ARRAY(r->a, int64_t, *rank);
    for (int32_t i = 0; i < *rank; i++)
        dims[i] = (int64_t)random_below(r, 5);
    return dims;
}

// Varints as protobuf packs them, now and then one that is too long.
static inline struct bytes random_varints(struct random_graph *r) {
    uint8_t *at = arena_alloc(r->a, 64);
    size_t n = 0;
    for (uint64_t k = random_below(r, 6); k > 0; k--) {
        uint64_t x = rng_next(&r->rng) >> random_below(r, 64);
        if (random_one_in(r, 3))
            x = -x;
        for (; x > 127; x >>= 7)
            at[n++] = (uint8_t)(x | 128);
        at[n++] = (uint8_t)x;
    }
    if (n && random_one_in(r, 10)) {
        at[n - 1] |= 128;
        at[n++] = 0;
    }
    return (struct bytes){at, n};
}

static inline void random_payload(struct random_graph *r, struct tensor *t) {
    t->payload = (enum payload)random_below(r, PAYLOAD_EXTERNAL + 1);
    if (t->payload == PAYLOAD_STRINGS) {
        t->n_strings = random_below(r, 4);
        struct bytes *list = ARENA_ARRAY(r->a, struct bytes, t->n_strings);
        for (size_t i = 0; i < t->n_strings; i++)
            list[i] = random_bytes(r, 8);
        t->strings = list;
        return;
    }
    bool varints = t->payload == PAYLOAD_INT32S || t->payload == PAYLOAD_INT64S ||
                   t->payload == PAYLOAD_UINT64S;
    struct bytes b = varints ? random_varints(r) : random_bytes(r, random_one_in(r, 40) ? 600 : 40);
    if (!varints && !random_one_in(r, 8))
        b.n &= ~(size_t)15; // whole elements
    if (t->payload == PAYLOAD_EXTERNAL) {
        t->external = random_pairs(r, 1);
        if (random_one_in(r, 2))
            return;
    }
    if (t->payload != PAYLOAD_NONE)
        t->data = random_span(r, b);
}

static inline struct tensor *random_tensor(struct random_graph *r, const char *name) {
    struct tensor *t = ARENA_NEW(r->a, struct tensor);
    t->name = name ? name : random_maybe_text(r, 3);
    t->doc = random_maybe_text(r, 12);
    t->elem = random_elem(r);
    t->dims = random_dims(r, &t->rank);
    random_payload(r, t);
    if (random_one_in(r, 20)) {
        t->has_segment = true;
        t->segment_begin = (int64_t)random_below(r, 100);
        t->segment_end = (int64_t)rng_next(&r->rng);
        t->segment_extra = random_extra(r);
    }
    t->metadata = random_pairs(r, 15);
    t->extra = random_extra(r);
    return t;
}

static inline struct sparse *random_sparse(struct random_graph *r, const char *name) {
    struct sparse *s = ARENA_NEW(r->a, struct sparse);
    s->values = random_tensor(r, name);
    s->indices = random_one_in(r, 6) ? NULL : random_tensor(r, NULL);
    s->dims = random_dims(r, &s->rank);
    s->extra = random_extra(r);
    return s;
}

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
    node_id id = graph_add_node(g, ops[o].domain, ops[o].type, in, ops[o].n_in, out, ops[o].n_out);
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
    m->facts = (unsigned)random_below(&r, 256) & ~(unsigned)FACT_TOPO;
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
