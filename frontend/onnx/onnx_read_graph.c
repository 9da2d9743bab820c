// Graphs and functions. Nodes may come in any order in the file and refer to each other by name, so
// a graph is read in two rounds: first every value that something makes (inputs, initializers,
// outputs of nodes), then what reads them. Names that a subgraph does not define itself are looked
// for in the enclosing graphs, whose first round is over by then. Types come last, as they may
// speak of values that are long gone.
#include <string.h>

#include "frontend/onnx/onnx_reading.h"

static struct reading_path node_place(const struct reading_path *graph, const Onnx__NodeProto *p,
                                      size_t i) {
    const char *name = p->name && *p->name ? p->name : p->n_output ? p->output[0] : NULL;
    return (struct reading_path){.in = graph,
                                 .what = "node",
                                 .name = name,
                                 .type = p->op_type ? p->op_type : "?",
                                 .index = i};
}

// A value that something makes; it must not be there yet.
static value_id define(struct reading *r, const struct reading_path *where, struct graph *g,
                       const char *name) {
    if (graph_find(g, name).i) {
        reading_wrong(r, DIAG_DUPLICATE_NAME, where, "the name \"%s\" is taken in this graph",
                      name);
        return VALUE_NONE;
    }
    value_id v = graph_add_value(g, name, NULL);
    if (!v.i)
        reading_room(r, NULL);
    return v;
}

static void check(struct reading *r, bool had_room) {
    if (!had_room)
        reading_room(r, NULL);
}

static void define_inputs(struct reading *r, const struct reading_path *where, struct graph *g,
                          const Onnx__GraphProto *p) {
    for (size_t i = 0; i < p->n_input; i++) {
        const char *name = p->input[i]->name;
        struct reading_path here = {.in = where, .what = "input", .name = name};
        if (!name || !*name) {
            reading_wrong(r, DIAG_MALFORMED, where, "input %zu has no name", i);
            continue;
        }
        value_id v = define(r, &here, g, name);
        if (v.i)
            check(r, graph_add_input(g, v));
    }
}

// An initializer of the same name as an input is that input's default.
static value_id define_init(struct reading *r, const struct reading_path *where, struct graph *g,
                            const char *name) {
    value_id v = name ? graph_find(g, name) : VALUE_NONE;
    if (!name || !*name)
        reading_wrong(r, DIAG_MALFORMED, where, "the initializer has no name");
    else if (!v.i || graph_value(g, v)->init || graph_value(g, v)->sparse_init)
        return define(r, where, g, name);
    return v;
}

static void read_inits(struct reading *r, const struct reading_path *where, struct graph *g,
                       const Onnx__GraphProto *p) {
    for (size_t i = 0; i < p->n_initializer; i++) {
        struct reading_path here = {
            .in = where, .what = "initializer", .name = p->initializer[i]->name};
        value_id v = define_init(r, &here, g, p->initializer[i]->name);
        struct tensor *t = reading_tensor(r, &here, p->initializer[i]);
        if (!v.i || !t)
            continue;
        check(r, graph_add_init(g, v, t));
        if (!graph_value(g, v)->is_input)
            graph_value(g, v)->type = reading_room(r, (void *)tensor_type(r->a, t));
    }
    for (size_t i = 0; i < p->n_sparse_initializer; i++) {
        const Onnx__SparseTensorProto *sp = p->sparse_initializer[i];
        const char *name = sp->values ? sp->values->name : NULL;
        struct reading_path here = {.in = where, .what = "initializer", .name = name};
        value_id v = define_init(r, &here, g, name);
        struct sparse *s = reading_sparse(r, &here, sp);
        if (!v.i || !s)
            continue;
        graph_value(g, v)->sparse_init = s;
        check(r, VEC_PUSH(r->a, &g->sparse_inits, v));
    }
}

static void define_outputs(struct reading *r, const struct reading_path *where, struct graph *g,
                           Onnx__NodeProto *const *nodes, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < nodes[i]->n_output; k++)
            if (*nodes[i]->output[k]) {
                struct reading_path here = node_place(where, nodes[i], i);
                define(r, &here, g, nodes[i]->output[k]);
            }
}

// The value of that name, here or in an enclosing graph; none is noted as dangling.
static value_id resolve(struct reading *r, const struct reading_path *where, struct graph *g,
                        const char *name) {
    value_id v = graph_resolve(g, name);
    const struct graph *home = g;
    while (!v.i && home && !graph_find(home, name).i)
        home = home->outer;
    if (!v.i && home)
        reading_room(r, NULL); // it is there, but there was no room for its stand-in
    else if (!v.i)
        reading_wrong(r, DIAG_DANGLING_NAME, where,
                      where->type ? "reads \"%s\", which nothing makes" : "nothing makes \"%s\"",
                      name);
    return v;
}

static void read_node(struct reading *r, const struct reading_path *graph, struct graph *g,
                      const Onnx__NodeProto *p, size_t index) {
    struct reading_path here = node_place(graph, p, index);
    if (!p->op_type || !*p->op_type)
        reading_wrong(r, DIAG_MALFORMED, &here, "the node has no operator");
    if (p->n_input >= UINT32_MAX || p->n_output >= UINT32_MAX || p->n_attribute >= UINT32_MAX)
        reading_wrong(r, DIAG_LIMIT, &here, "the node has too many operands");
    size_t n_ids = p->n_input + p->n_output;
    value_id *in = reading_room(r, ARENA_ARRAY(r->scratch, value_id, n_ids));
    if (!in || r->st == ST_LIMIT)
        return;
    value_id *out = in + p->n_input;
    for (size_t k = 0; k < p->n_input; k++)
        if (*p->input[k])
            in[k] = resolve(r, &here, g, p->input[k]);
    for (size_t k = 0; k < p->n_output; k++)
        if (*p->output[k])
            out[k] = graph_find(g, p->output[k]);
    node_id id = graph_add_node(g, p->domain ? p->domain : "", p->op_type ? p->op_type : "", in,
                                (uint32_t)p->n_input, out, (uint32_t)p->n_output);
    if (!id.i) {
        reading_room(r, NULL);
        return;
    }
    // Subgraphs do not add nodes here, so the pointer stays good.
    struct node *n = graph_node(g, id);
    n->name = reading_name(r, p->name);
    n->doc = reading_name(r, p->doc_string);
    n->overload = reading_name(r, p->overload);
    n->metadata = reading_pairs(r, p->metadata_props, p->n_metadata_props);
    n->devices = reading_packed(r, (const ProtobufCMessage *const *)p->device_configurations,
                                p->n_device_configurations, 10);
    n->extra = reading_extra(r, &p->base);
    n->attrs = reading_attrs(r, &here, g, p->attribute, p->n_attribute);
    n->n_attrs = n->attrs ? (uint32_t)p->n_attribute : 0;
}

static void read_nodes(struct reading *r, const struct reading_path *where, struct graph *g,
                       Onnx__NodeProto *const *nodes, size_t n) {
    for (size_t i = 0; i < n && r->st != ST_LIMIT; i++)
        read_node(r, where, g, nodes[i], i);
}

// What a ValueInfoProto says of a value. One that is both an output and declared among value_info
// is spoken of twice; what was said first stays, and the second has to agree.
static void read_info(struct reading *r, const struct reading_path *where, struct graph *g,
                      value_id id, const Onnx__ValueInfoProto *p) {
    const struct type *t = reading_type(r, where, p->type);
    struct value *v = graph_value(g, id);
    bool derived = v->init && !v->is_input; // the type is the initializer's own, nobody declared it
    if (!v->type || derived || v->outer.i)
        v->type = t ? t : v->type;
    else if (t && !type_equal(t, v->type))
        r->n_disagreeing++;
    if (!v->doc)
        v->doc = reading_name(r, p->doc_string);
    if (p->n_metadata_props && !v->metadata.n)
        v->metadata = reading_pairs(r, p->metadata_props, p->n_metadata_props);
    if (p->base.n_unknown_fields && !v->extra.n)
        v->extra = reading_extra(r, &p->base);
}

static void read_outputs(struct reading *r, const struct reading_path *where, struct graph *g,
                         const Onnx__GraphProto *p) {
    for (size_t i = 0; i < p->n_output; i++) {
        const char *name = p->output[i]->name;
        struct reading_path here = {.in = where, .what = "output", .name = name};
        value_id v = resolve(r, &here, g, name ? name : "");
        if (!v.i)
            continue;
        check(r, graph_add_output(g, v));
        read_info(r, &here, g, v, p->output[i]);
    }
}

static void read_infos(struct reading *r, const struct reading_path *where, struct graph *g,
                       Onnx__ValueInfoProto *const *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *name = at[i]->name;
        struct reading_path here = {.in = where, .what = "value_info", .name = name};
        if (!name || !*name) {
            reading_wrong(r, DIAG_MALFORMED, where, "value_info %zu has no name", i);
            continue;
        }
        value_id v = graph_find(g, name);
        if (!v.i)
            v = define(r, &here, g, name);
        if (!v.i)
            continue;
        if (graph_value(g, v)->has_info) {
            reading_wrong(r, DIAG_DUPLICATE_NAME, &here, "the value is declared twice");
            continue;
        }
        graph_value(g, v)->has_info = true;
        check(r, VEC_PUSH(r->a, &g->infos, v));
        read_info(r, &here, g, v, at[i]);
    }
}

void reading_graph(struct reading *r, const struct reading_path *in, struct graph *g,
                   const Onnx__GraphProto *p) {
    struct reading_path where = {.in = in, .name = p->name};
    g->name = reading_name(r, p->name);
    g->doc = reading_name(r, p->doc_string);
    g->metadata = reading_pairs(r, p->metadata_props, p->n_metadata_props);
    g->extra = reading_extra(r, &p->base);
    define_inputs(r, &where, g, p);
    read_inits(r, &where, g, p);
    define_outputs(r, &where, g, p->node, p->n_node);
    for (size_t i = 0; i < p->n_input; i++) {
        value_id v = p->input[i]->name ? graph_find(g, p->input[i]->name) : VALUE_NONE;
        struct reading_path here = {.in = &where, .what = "input", .name = p->input[i]->name};
        if (v.i)
            read_info(r, &here, g, v, p->input[i]);
    }
    read_nodes(r, &where, g, p->node, p->n_node);
    read_outputs(r, &where, g, p);
    read_infos(r, &where, g, p->value_info, p->n_value_info);
    for (size_t i = 0; i < p->n_quantization_annotation; i++) {
        const ProtobufCMessage *q = &p->quantization_annotation[i]->base;
        check(r, VEC_PUSH(r->a, &g->quantization, reading_packed(r, &q, 1, 0)));
    }
}

void reading_function(struct reading *r, const Onnx__FunctionProto *p, struct function *f) {
    struct reading_path where = {.what = "function", .name = p->name};
    f->name = reading_name(r, p->name);
    f->domain = reading_name(r, p->domain);
    f->overload = reading_name(r, p->overload);
    f->doc = reading_name(r, p->doc_string);
    f->metadata = reading_pairs(r, p->metadata_props, p->n_metadata_props);
    f->extra = reading_extra(r, &p->base);
    f->body = reading_room(r, graph_new(r->m, NULL));
    f->attrs = reading_room(r, ARENA_ARRAY(r->a, const char *, p->n_attribute));
    if (!f->body || !f->attrs)
        return;
    if (!p->name || !*p->name)
        reading_wrong(r, DIAG_MALFORMED, &where, "the function has no name");
    for (; f->n_attrs < p->n_attribute; f->n_attrs++)
        f->attrs[f->n_attrs] = reading_name(r, p->attribute[f->n_attrs]);
    struct graph *g = f->body;
    g->name = f->name;
    for (size_t i = 0; i < p->n_input; i++) {
        value_id v = *p->input[i] ? define(r, &where, g, p->input[i]) : VALUE_NONE;
        if (v.i)
            check(r, graph_add_input(g, v));
        else if (!*p->input[i])
            reading_wrong(r, DIAG_MALFORMED, &where, "input %zu has no name", i);
    }
    define_outputs(r, &where, g, p->node, p->n_node);
    read_nodes(r, &where, g, p->node, p->n_node);
    for (size_t i = 0; i < p->n_output; i++) {
        value_id v = graph_find(g, p->output[i]);
        if (v.i)
            check(r, graph_add_output(g, v));
        else
            reading_wrong(r, DIAG_DANGLING_NAME, &where, "nothing makes the output \"%s\"",
                          p->output[i]);
    }
    read_infos(r, &where, g, p->value_info, p->n_value_info);
    f->defaults = reading_attrs(r, &where, g, p->attribute_proto, p->n_attribute_proto);
    f->n_defaults = f->defaults ? p->n_attribute_proto : 0;
}
