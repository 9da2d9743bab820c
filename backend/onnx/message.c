// The ONNX messages from the model down to attributes: see message.h.
#include "backend/onnx/message.h"

static void graph_content(struct message *m, const struct graph *g);

// A value of a subgraph may be an alias of one of an enclosing graph; the file uses the name of the
// latter.
static const char *value_name(const struct graph *g, value_id id) {
    if (!id.i)
        return "";
    const struct value *v = graph_value(g, id);
    while (v->outer.i && g->outer) {
        g = g->outer;
        v = graph_value(g, v->outer);
    }
    return v->name;
}

static void value_info(struct message *m, uint32_t field, const struct graph *g, value_id id) {
    const struct value *v = graph_value(g, id);
    size_t at = emit_begin(&m->e, field);
    emit_text(&m->e, 1, value_name(g, id));
    message_type(m, 2, v->type);
    emit_text(&m->e, 3, v->doc);
    message_metadata(m, 4, v->metadata);
    emit_fields(&m->e, v->extra);
    emit_end(&m->e, at);
}

static void nested_graph(struct message *m, uint32_t field, const struct graph *g) {
    size_t at = emit_begin(&m->e, field);
    graph_content(m, g);
    emit_end(&m->e, at);
}

// The value fields below doc_string (13). A reference to a function's attribute has none.
static void attr_value(struct message *m, const struct attr *a) {
    switch (a->kind) {
    case ATTR_FLOAT:
        emit_float(&m->e, 2, a->f);
        break;
    case ATTR_INT:
        emit_int(&m->e, 3, a->i);
        break;
    case ATTR_STRING:
        emit_bytes(&m->e, 4, a->s);
        break;
    case ATTR_TENSOR:
        message_tensor(m, 5, a->t, NULL, false);
        break;
    case ATTR_GRAPH:
        nested_graph(m, 6, a->g);
        break;
    case ATTR_FLOATS:
        for (size_t i = 0; i < a->n; i++)
            emit_float(&m->e, 7, a->floats[i]);
        break;
    case ATTR_INTS:
        for (size_t i = 0; i < a->n; i++)
            emit_int(&m->e, 8, a->ints[i]);
        break;
    case ATTR_STRINGS:
        for (size_t i = 0; i < a->n; i++)
            emit_bytes(&m->e, 9, a->strings[i]);
        break;
    case ATTR_TENSORS:
        for (size_t i = 0; i < a->n; i++)
            message_tensor(m, 10, a->tensors[i], NULL, false);
        break;
    case ATTR_GRAPHS:
        for (size_t i = 0; i < a->n; i++)
            nested_graph(m, 11, a->graphs[i]);
        break;
    default:
        break;
    }
}

static void attr(struct message *m, uint32_t field, const struct attr *a) {
    struct emit *e = &m->e;
    bool has_value = !a->ref;
    size_t at = emit_begin(e, field);
    emit_text(e, 1, a->name);
    if (has_value)
        attr_value(m, a);
    emit_text(e, 13, a->doc);
    if (has_value && a->kind == ATTR_TYPE)
        message_type(m, 14, a->type);
    if (has_value && a->kind == ATTR_TYPES)
        for (size_t i = 0; i < a->n; i++)
            message_type(m, 15, a->types[i]);
    if (a->kind)
        emit_int(e, 20, a->kind);
    emit_text(e, 21, a->ref);
    if (has_value && a->kind == ATTR_SPARSE)
        message_sparse(m, 22, a->sparse, NULL, false);
    if (has_value && a->kind == ATTR_SPARSES)
        for (size_t i = 0; i < a->n; i++)
            message_sparse(m, 23, a->sparses[i], NULL, false);
    emit_fields(e, a->extra);
    emit_end(e, at);
}

static void node(struct message *m, uint32_t field, const struct graph *g, node_id id) {
    struct emit *e = &m->e;
    const struct node *n = graph_node(g, id);
    if (n->removed)
        return;
    size_t at = emit_begin(e, field);
    for (uint32_t i = 0; i < n->n_in; i++)
        emit_text(e, 1, value_name(g, n->in[i]));
    for (uint32_t i = 0; i < n->n_out; i++)
        emit_text(e, 2, value_name(g, n->out[i]));
    emit_text(e, 3, n->name);
    emit_text(e, 4, n->type);
    for (uint32_t i = 0; i < n->n_attrs; i++)
        attr(m, 5, &n->attrs[i]);
    emit_text(e, 6, n->doc);
    if (n->domain && *n->domain)
        emit_text(e, 7, n->domain);
    if (n->overload && *n->overload) {
        message_needs(m, IR_METADATA);
        emit_text(e, 8, n->overload);
    }
    // Formally a field of IR version 10. Readers of older versions skip unknown fields, but would
    // refuse a newer version; and every node of a plan has metadata.
    message_pairs(m, 9, n->metadata);
    if (n->devices.n)
        message_needs(m, IR_DEVICES);
    emit_fields(e, n->devices);
    emit_fields(e, n->extra);
    emit_end(e, at);
}

static void inits(struct message *m, const struct graph *g) {
    for (size_t i = 0; i < g->inits.n; i++) {
        const struct value *v = graph_value(g, g->inits.at[i]);
        if (!v->init)
            continue;
        if (!v->is_input)
            message_needs(m, IR_LOOSE_INITS);
        message_tensor(m, 5, v->init, v->name, true);
    }
}

static void sparse_inits(struct message *m, const struct graph *g) {
    for (size_t i = 0; i < g->sparse_inits.n; i++) {
        const struct value *v = graph_value(g, g->sparse_inits.at[i]);
        if (v->sparse_init)
            message_sparse(m, 15, v->sparse_init, v->name, true);
    }
}

static void graph_content(struct message *m, const struct graph *g) {
    struct emit *e = &m->e;
    for (size_t i = 0; i < g->order.n; i++)
        node(m, 1, g, g->order.at[i]);
    emit_text(e, 2, g->name);
    inits(m, g);
    emit_text(e, 10, g->doc);
    for (size_t i = 0; i < g->inputs.n; i++)
        value_info(m, 11, g, g->inputs.at[i]);
    for (size_t i = 0; i < g->outputs.n; i++)
        value_info(m, 12, g, g->outputs.at[i]);
    for (size_t i = 0; i < g->infos.n; i++)
        value_info(m, 13, g, g->infos.at[i]);
    if (g->quantization.n)
        message_needs(m, IR_QUANTIZATION);
    for (size_t i = 0; i < g->quantization.n; i++)
        emit_bytes(e, 14, g->quantization.at[i]);
    sparse_inits(m, g);
    message_metadata(m, 16, g->metadata);
    emit_fields(e, g->extra);
}

static void opset(struct message *m, uint32_t field, const struct opset *o) {
    size_t at = emit_begin(&m->e, field);
    emit_text(&m->e, 1, o->domain);
    emit_int(&m->e, 2, o->version);
    emit_fields(&m->e, o->extra);
    emit_end(&m->e, at);
}

static void function(struct message *m, uint32_t field, const struct function *f) {
    struct emit *e = &m->e;
    const struct graph *g = f->body;
    message_needs(m, IR_FUNCTIONS);
    if (f->n_defaults)
        message_needs(m, IR_DEFAULTS);
    if (g->infos.n || (f->overload && *f->overload))
        message_needs(m, IR_METADATA);
    size_t at = emit_begin(e, field);
    emit_text(e, 1, f->name);
    for (size_t i = 0; i < g->inputs.n; i++)
        emit_text(e, 4, value_name(g, g->inputs.at[i]));
    for (size_t i = 0; i < g->outputs.n; i++)
        emit_text(e, 5, value_name(g, g->outputs.at[i]));
    for (size_t i = 0; i < f->n_attrs; i++)
        emit_text(e, 6, f->attrs[i]);
    for (size_t i = 0; i < g->order.n; i++)
        node(m, 7, g, g->order.at[i]);
    emit_text(e, 8, f->doc);
    for (size_t i = 0; i < f->n_opsets; i++)
        opset(m, 9, &f->opsets[i]);
    emit_text(e, 10, f->domain);
    for (size_t i = 0; i < f->n_defaults; i++)
        attr(m, 11, &f->defaults[i]);
    for (size_t i = 0; i < g->infos.n; i++)
        value_info(m, 12, g, g->infos.at[i]);
    emit_text(e, 13, f->overload);
    message_metadata(m, 14, f->metadata);
    emit_fields(e, f->extra);
    emit_end(e, at);
}

// The IR version precedes the fields that it depends on: the measuring walk finds the lowest one,
// and any version takes one byte.
void message_model(struct message *m) {
    struct emit *e = &m->e;
    const struct model *model = m->model;
    int64_t version = model->ir_version;
    emit_int(e, 1, version > m->min_ir_version ? version : m->min_ir_version);
    emit_text(e, 2, model->producer);
    emit_text(e, 3, model->producer_version);
    emit_text(e, 4, model->domain);
    if (model->version)
        emit_int(e, 5, model->version);
    emit_text(e, 6, model->doc);
    nested_graph(m, 7, model->graph);
    for (size_t i = 0; i < model->opsets.n; i++)
        opset(m, 8, &model->opsets.at[i]);
    message_pairs(m, 14, model->metadata);
    if (model->training.n)
        message_needs(m, IR_TRAINING);
    for (size_t i = 0; i < model->training.n; i++)
        emit_span(e, 20, model->training.at[i]);
    for (size_t i = 0; i < model->functions.n; i++)
        function(m, 25, &model->functions.at[i]);
    if (model->configurations.n)
        message_needs(m, IR_DEVICES);
    for (size_t i = 0; i < model->configurations.n; i++)
        emit_bytes(e, 26, model->configurations.at[i]);
    emit_fields(e, model->extra);
}
