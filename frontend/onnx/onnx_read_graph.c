// Graphs and functions. Nodes may be in any order in the file and refer to values by name, so a
// graph is read in two rounds: first all definitions (inputs, initializers, node outputs), then the
// uses. Names that a subgraph does not define are resolved in the enclosing graphs, whose
// definitions are complete by then. Declared types come last, as value_info may name values that
// nothing defines.
#include <string.h>

#include "frontend/onnx/reader.h"

static struct reader_path node_path_of(const struct reader_path *graph, const Onnx__NodeProto *p,
                                       size_t i) {
    const char *name = p->name && *p->name ? p->name : p->n_output ? p->output[0] : NULL;
    return (struct reader_path){.in = graph,
                                .what = "node",
                                .name = name,
                                .type = p->op_type ? p->op_type : "?",
                                .index = i};
}

// Adds a value; its name must be new in the graph.
static value_id define(struct reader *r, const struct reader_path *where, struct graph *g,
                       const char *name) {
    if (graph_find(g, name).i) {
        reader_error(r, DIAG_DUPLICATE_NAME, where,
                     "\"%s\" is already defined in this graph; each value needs a name of its own",
                     name);
        return VALUE_NONE;
    }
    value_id v = graph_add_value(g, name, NULL);
    if (!v.i)
        reader_out_of_memory(r);
    return v;
}

static void check_memory(struct reader *r, bool succeeded) {
    if (!succeeded)
        reader_out_of_memory(r);
}

static void define_inputs(struct reader *r, const struct reader_path *where, struct graph *g,
                          const Onnx__GraphProto *p) {
    for (size_t i = 0; i < p->n_input; i++) {
        const char *name = p->input[i]->name;
        struct reader_path here = {.in = where, .what = "input", .name = name};
        if (!name || !*name) {
            reader_error(r, DIAG_MALFORMED, where, "input %zu has no name", i);
            continue;
        }
        value_id v = define(r, &here, g, name);
        if (v.i)
            check_memory(r, graph_add_input(g, v));
    }
}

// An initializer of the same name as an input is that input's default.
static value_id define_init(struct reader *r, const struct reader_path *where, struct graph *g,
                            const char *name) {
    value_id v = name ? graph_find(g, name) : VALUE_NONE;
    if (!name || !*name)
        reader_error(r, DIAG_MALFORMED, where, "the initializer has no name");
    else if (!v.i || graph_value(g, v)->init || graph_value(g, v)->sparse_init)
        return define(r, where, g, name);
    return v;
}

static void read_inits(struct reader *r, const struct reader_path *where, struct graph *g,
                       const Onnx__GraphProto *p) {
    for (size_t i = 0; i < p->n_initializer; i++) {
        struct reader_path here = {
            .in = where, .what = "initializer", .name = p->initializer[i]->name};
        value_id v = define_init(r, &here, g, p->initializer[i]->name);
        struct tensor *t = reader_tensor(r, &here, p->initializer[i]);
        if (!v.i || !t)
            continue;
        check_memory(r, graph_add_init(g, v, t));
        if (!graph_value(g, v)->is_input)
            graph_value(g, v)->type = reader_require(r, (void *)tensor_type(r->a, t));
    }
    for (size_t i = 0; i < p->n_sparse_initializer; i++) {
        const Onnx__SparseTensorProto *sp = p->sparse_initializer[i];
        const char *name = sp->values ? sp->values->name : NULL;
        struct reader_path here = {.in = where, .what = "initializer", .name = name};
        value_id v = define_init(r, &here, g, name);
        struct sparse *s = reader_sparse(r, &here, sp);
        if (!v.i || !s)
            continue;
        graph_value(g, v)->sparse_init = s;
        check_memory(r, VEC_PUSH(r->a, &g->sparse_inits, v));
    }
}

static void define_outputs(struct reader *r, const struct reader_path *where, struct graph *g,
                           Onnx__NodeProto *const *nodes, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < nodes[i]->n_output; k++)
            if (*nodes[i]->output[k]) {
                struct reader_path here = node_path_of(where, nodes[i], i);
                define(r, &here, g, nodes[i]->output[k]);
            }
}

// The value of that name, in this graph or an enclosing one. An undefined name is an error.
static value_id resolve(struct reader *r, const struct reader_path *where, struct graph *g,
                        const char *name) {
    value_id v = graph_resolve(g, name);
    const struct graph *home = g;
    while (!v.i && home && !graph_find(home, name).i)
        home = home->outer;
    if (!v.i && home)
        reader_out_of_memory(r); // defined, but its alias in this graph could not be allocated
    else if (!v.i)
        reader_error(r, DIAG_DANGLING_NAME, where,
                     where->type ? "reads \"%s\", which is not defined" : "\"%s\" is not defined",
                     name);
    return v;
}

static void read_node(struct reader *r, const struct reader_path *graph, struct graph *g,
                      const Onnx__NodeProto *p, size_t index) {
    struct reader_path here = node_path_of(graph, p, index);
    if (!p->op_type || !*p->op_type)
        reader_error(r, DIAG_MALFORMED, &here, "the node has no operator type");
    if (p->n_input >= UINT32_MAX || p->n_output >= UINT32_MAX || p->n_attribute >= UINT32_MAX)
        reader_error(r, DIAG_LIMIT, &here, "the node has too many operands");
    size_t n_ids = p->n_input + p->n_output;
    value_id *in = reader_require(r, ARENA_ARRAY(r->scratch, value_id, n_ids));
    if (!in || r->st == ST_LIMIT)
        return;
    value_id *out = in + p->n_input;
    for (size_t k = 0; k < p->n_input; k++)
        if (*p->input[k])
            in[k] = resolve(r, &here, g, p->input[k]);
    for (size_t k = 0; k < p->n_output; k++)
        if (*p->output[k])
            out[k] = graph_find(g, p->output[k]);
    node_id id = graph_add_node(g, p->domain ? p->domain : "", p->op_type ? p->op_type : "",
                                (struct values){in, (uint32_t)p->n_input},
                                (struct values){out, (uint32_t)p->n_output});
    if (!id.i) {
        reader_out_of_memory(r);
        return;
    }
    // Subgraphs add no nodes to this graph, so the pointer stays valid.
    struct node *n = graph_node(g, id);
    n->name = reader_name(r, p->name);
    n->doc = reader_name(r, p->doc_string);
    n->overload = reader_name(r, p->overload);
    n->metadata = reader_pairs(r, p->metadata_props, p->n_metadata_props);
    n->devices = reader_packed(r, (const ProtobufCMessage *const *)p->device_configurations,
                               p->n_device_configurations, 10);
    n->extra = reader_extra(r, &p->base);
    n->attrs = reader_attrs(r, &here, g, p->attribute, p->n_attribute);
    n->n_attrs = n->attrs ? (uint32_t)p->n_attribute : 0;
}

static void read_nodes(struct reader *r, const struct reader_path *where, struct graph *g,
                       Onnx__NodeProto *const *nodes, size_t n) {
    for (size_t i = 0; i < n && r->st != ST_LIMIT; i++)
        read_node(r, where, g, nodes[i], i);
}

// Takes type, doc and metadata of a value from a ValueInfoProto. A value may be declared twice, as
// an output and in value_info: the first declaration is used, and the second must agree.
static void read_info(struct reader *r, const struct reader_path *where, struct graph *g,
                      value_id id, const Onnx__ValueInfoProto *p) {
    const struct type *t = reader_type(r, where, p->type);
    struct value *v = graph_value(g, id);
    bool derived = v->init && !v->is_input; // the type comes from the initializer
    if (!v->type || derived || v->outer.i)
        v->type = t ? t : v->type;
    else if (t && !type_equal(t, v->type))
        r->n_disagreeing++;
    if (!v->doc)
        v->doc = reader_name(r, p->doc_string);
    if (p->n_metadata_props && !v->metadata.n)
        v->metadata = reader_pairs(r, p->metadata_props, p->n_metadata_props);
    if (p->base.n_unknown_fields && !v->extra.n)
        v->extra = reader_extra(r, &p->base);
}

static void read_outputs(struct reader *r, const struct reader_path *where, struct graph *g,
                         const Onnx__GraphProto *p) {
    for (size_t i = 0; i < p->n_output; i++) {
        const char *name = p->output[i]->name;
        struct reader_path here = {.in = where, .what = "output", .name = name};
        value_id v = resolve(r, &here, g, name ? name : "");
        if (!v.i)
            continue;
        check_memory(r, graph_add_output(g, v));
        read_info(r, &here, g, v, p->output[i]);
    }
}

static void read_infos(struct reader *r, const struct reader_path *where, struct graph *g,
                       Onnx__ValueInfoProto *const *at, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const char *name = at[i]->name;
        struct reader_path here = {.in = where, .what = "value_info", .name = name};
        if (!name || !*name) {
            reader_error(r, DIAG_MALFORMED, where, "value_info %zu has no name", i);
            continue;
        }
        value_id v = graph_find(g, name);
        if (!v.i)
            v = define(r, &here, g, name);
        if (!v.i)
            continue;
        if (graph_value(g, v)->has_info) {
            reader_error(r, DIAG_DUPLICATE_NAME, &here, "the value is declared twice");
            continue;
        }
        graph_value(g, v)->has_info = true;
        check_memory(r, VEC_PUSH(r->a, &g->infos, v));
        read_info(r, &here, g, v, at[i]);
    }
}

static void reserve(struct reader *r, struct graph *g, const Onnx__GraphProto *p) {
    size_t n_values = p->n_input + p->n_initializer;
    for (size_t i = 0; i < p->n_node; i++)
        n_values += p->node[i]->n_output;
    check_memory(r, graph_reserve(g, n_values, p->n_node));
}

void reader_graph(struct reader *r, const struct reader_path *in, struct graph *g,
                  const Onnx__GraphProto *p) {
    struct reader_path where = {.in = in, .name = p->name};
    g->name = reader_name(r, p->name);
    g->doc = reader_name(r, p->doc_string);
    g->metadata = reader_pairs(r, p->metadata_props, p->n_metadata_props);
    g->extra = reader_extra(r, &p->base);
    reserve(r, g, p);
    define_inputs(r, &where, g, p);
    read_inits(r, &where, g, p);
    define_outputs(r, &where, g, p->node, p->n_node);
    for (size_t i = 0; i < p->n_input; i++) {
        value_id v = p->input[i]->name ? graph_find(g, p->input[i]->name) : VALUE_NONE;
        struct reader_path here = {.in = &where, .what = "input", .name = p->input[i]->name};
        if (v.i)
            read_info(r, &here, g, v, p->input[i]);
    }
    read_nodes(r, &where, g, p->node, p->n_node);
    read_outputs(r, &where, g, p);
    read_infos(r, &where, g, p->value_info, p->n_value_info);
    for (size_t i = 0; i < p->n_quantization_annotation; i++) {
        const ProtobufCMessage *q = &p->quantization_annotation[i]->base;
        check_memory(r, VEC_PUSH(r->a, &g->quantization, reader_packed(r, &q, 1, 0)));
    }
}

void reader_function(struct reader *r, const Onnx__FunctionProto *p, struct function *f) {
    struct reader_path where = {.what = "function", .name = p->name};
    f->name = reader_name(r, p->name);
    f->domain = reader_name(r, p->domain);
    f->overload = reader_name(r, p->overload);
    f->doc = reader_name(r, p->doc_string);
    f->metadata = reader_pairs(r, p->metadata_props, p->n_metadata_props);
    f->extra = reader_extra(r, &p->base);
    f->body = reader_require(r, graph_new(r->m, NULL));
    f->attrs = reader_require(r, ARENA_ARRAY(r->a, const char *, p->n_attribute));
    if (!f->body || !f->attrs)
        return;
    if (!p->name || !*p->name)
        reader_error(r, DIAG_MALFORMED, &where, "the function has no name");
    for (; f->n_attrs < p->n_attribute; f->n_attrs++)
        f->attrs[f->n_attrs] = reader_name(r, p->attribute[f->n_attrs]);
    struct graph *g = f->body;
    g->name = f->name;
    for (size_t i = 0; i < p->n_input; i++) {
        value_id v = *p->input[i] ? define(r, &where, g, p->input[i]) : VALUE_NONE;
        if (v.i)
            check_memory(r, graph_add_input(g, v));
        else if (!*p->input[i])
            reader_error(r, DIAG_MALFORMED, &where, "input %zu has no name", i);
    }
    define_outputs(r, &where, g, p->node, p->n_node);
    read_nodes(r, &where, g, p->node, p->n_node);
    for (size_t i = 0; i < p->n_output; i++) {
        value_id v = graph_find(g, p->output[i]);
        if (v.i)
            check_memory(r, graph_add_output(g, v));
        else
            reader_error(r, DIAG_DANGLING_NAME, &where, "the output \"%s\" is not defined",
                         p->output[i]);
    }
    read_infos(r, &where, g, p->value_info, p->n_value_info);
    f->defaults = reader_attrs(r, &where, g, p->attribute_proto, p->n_attribute_proto);
    f->n_defaults = f->defaults ? p->n_attribute_proto : 0;
}
