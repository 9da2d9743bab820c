// Printer of a graph: documentation and metadata, inputs, parameters, nodes in order, outputs, then
// declarations. A declaration is printed only for facts that the other lines do not imply; a
// typical graph has none.
#include <stdlib.h>
#include <string.h>

#include "ir/text/print.h"

// The rare fields of a value or node, at the end of its line.
static void print_rest(struct str *out, const char *doc, const struct pairs *metadata,
                       struct bytes extra) {
    if (doc) {
        str_add(out, " doc=");
        print_quoted(out, doc);
    }
    if (metadata->n) {
        str_add(out, " metadata=");
        print_pairs(out, metadata);
    }
    if (extra.n) {
        str_add(out, " extra=");
        print_hex(out, extra.at, extra.n);
    }
}

static void value_line(struct printer *p, const char *keyword, const struct value *v,
                       bool with_type) {
    print_begin(p, keyword);
    str_add_char(p->out, ' ');
    print_value(p->out, v);
    if (with_type && v->type) {
        str_add(p->out, " : ");
        print_type(p->out, v->type);
    }
    print_rest(p->out, v->doc, &v->metadata, v->extra);
    print_end(p);
}

static void param_line(struct printer *p, const struct value *v) {
    print_begin(p, v->is_constant ? "const " : "param ");
    print_value(p->out, v);
    str_add(p->out, " : ");
    print_elem(p->out, v->init->elem);
    print_dims(p->out, v->init->dims, v->init->rank);
    if (v->init->payload != PAYLOAD_NONE)
        str_add(p->out, " = ");
    print_payload(p, v->init);
    print_tensor_facts(p, v->init, v->name);
    print_end(p);
}

static void sparse_param_line(struct printer *p, const struct value *v) {
    print_begin(p, "param ");
    print_value(p->out, v);
    if (v->type && !v->is_input) {
        str_add(p->out, " : ");
        print_type(p->out, v->type);
    }
    str_add(p->out, " = ");
    print_sparse(p, v->sparse_init);
    print_end(p);
}

static void print_results(struct printer *p, const struct graph *g, const struct node *n) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        str_add(p->out, k ? ", " : "");
        if (n->out[k].i)
            print_value(p->out, graph_value(g, n->out[k]));
        else
            str_add_char(p->out, '_');
    }
    str_add(p->out, n->n_out ? " = " : "() = ");
}

static void print_operands(struct printer *p, const struct graph *g, const struct node *n) {
    str_add_char(p->out, '(');
    for (uint32_t k = 0; k < n->n_in; k++) {
        str_add(p->out, k ? ", " : "");
        if (n->in[k].i)
            print_value(p->out, graph_value(g, n->in[k]));
        else
            str_add_char(p->out, '_');
    }
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        str_add(p->out, k + n->n_in ? ", " : "");
        print_attr(p, &n->attrs[k]);
    }
    str_add_char(p->out, ')');
}

static void print_result_types(struct printer *p, const struct graph *g, const struct node *n) {
    uint32_t n_typed = n->n_out;
    while (n_typed && !graph_value(g, n->out[n_typed - 1])->type)
        n_typed--;
    for (uint32_t k = 0; k < n_typed; k++) {
        str_add(p->out, k ? ", " : " : ");
        print_type(p->out, graph_value(g, n->out[k])->type); // value 0 has no type
    }
}

// A recomputed node is identified by its first result.
static const struct value *name_of_node(const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    for (uint32_t k = 0; id.i && !n->removed && k < n->n_out; k++)
        if (n->out[k].i)
            return graph_value(g, n->out[k]);
    return NULL;
}

static void node_line(struct printer *p, const struct graph *g, const struct node *n) {
    print_begin(p, "");
    print_results(p, g, n);
    print_operator(p->out, n->type, n->domain, n->overload);
    print_operands(p, g, n);
    print_result_types(p, g, n);
    if (n->cost >= 0)
        str_addf(p->out, " cost=%lld", (long long)n->cost);
    if (n->workspace_bytes)
        str_addf(p->out, " workspace=%lld", (long long)n->workspace_bytes);
    const struct value *again = name_of_node(g, n->again);
    if (again) {
        str_add(p->out, " again(");
        print_value(p->out, again);
        str_add_char(p->out, ')');
    }
    if (n->device) {
        str_add(p->out, " @");
        print_word(p->out, g->model->device_names.at[n->device - 1]);
    }
    if (n->name) {
        str_add(p->out, " name=");
        print_word(p->out, n->name);
    }
    if (n->devices.n) {
        str_add(p->out, " devices=");
        print_hex(p->out, n->devices.at, n->devices.n);
    }
    print_rest(p->out, n->doc, &n->metadata, n->extra);
    print_end(p);
}

// Marks the values that nodes read: one without a definition needs a declaration.
static bool *find_read(struct printer *p, const struct graph *g) {
    bool *read = ARENA_ARRAY(&p->scratch, bool, g->values.n);
    struct uses uses;
    if (!read || !graph_uses(g, &p->scratch, &uses)) {
        p->st = diag_out_of_memory(p->d);
        return NULL;
    }
    for (size_t v = 1; v < g->values.n; v++)
        read[v] = uses.start[v] != uses.start[v + 1];
    return read;
}

// Whether the type of a parameter needs no line of its own: it is that of its tensor, and ONNX has
// no separate entry for it.
static bool is_plain(const struct value *v) {
    const struct type *t = v->type;
    if (!t)
        return true;
    if (v->has_info || v->is_output)
        return false;
    if (t->kind != TYPE_TENSOR || t->elem != v->init->elem || !t->has_shape ||
        t->rank != v->init->rank || t->denotation || t->extra.n || t->inner_extra.n ||
        t->shape_extra.n)
        return false;
    for (int32_t i = 0; i < t->rank; i++)
        if (t->dims[i].size != v->init->dims[i] || t->dims[i].denotation ||
            (t->dim_extras && t->dim_extras[i].n))
            return false;
    return true;
}

// Declares the facts of a value that the previous lines do not imply.
static void declaration_line(struct printer *p, const struct value *v) {
    bool more = v->doc || v->metadata.n || v->extra.n;
    if (v->is_input)
        return;
    if (v->outer.i) {
        bool typed = v->type && (v->has_info || v->is_output); // else it has the outer type
        if (more || typed)
            value_line(p, "outer", v, typed);
    } else if (v->init) {
        if (more || !is_plain(v))
            value_line(p, "value", v, !is_plain(v));
    } else if (v->def.i || v->sparse_init) {
        if (more)
            value_line(p, "value", v, false);
    } else {
        value_line(p, "value", v, true); // no definition
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp((*(const struct value *const *)a)->name, (*(const struct value *const *)b)->name);
}

// Defined values come in the order of their definitions, the others by name. Ids depend on how the
// graph was built and must not affect the text.
static void declaration_lines(struct printer *p, const struct graph *g) {
    bool *read = find_read(p, g);
    const struct value **others = ARENA_ARRAY(&p->scratch, const struct value *, g->values.n);
    if (!read || !others) {
        p->st = diag_out_of_memory(p->d);
        return;
    }
    for (size_t i = 0; i < g->inits.n; i++)
        declaration_line(p, graph_value(g, g->inits.at[i]));
    for (size_t i = 0; i < g->sparse_inits.n; i++)
        declaration_line(p, graph_value(g, g->sparse_inits.at[i]));
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k].i)
                declaration_line(p, graph_value(g, n->out[k]));
    }
    size_t n_others = 0;
    for (size_t i = 1; i < g->values.n; i++) {
        const struct value *v = &g->values.at[i];
        if (!v->init && !v->sparse_init && !v->def.i &&
            (v->outer.i || v->has_info || v->is_output || read[i]))
            others[n_others++] = v;
    }
    qsort(others, n_others, sizeof *others, by_name);
    for (size_t i = 0; i < n_others; i++)
        declaration_line(p, others[i]);
}

bool print_is_declared_by_default(const struct graph *g, value_id id) {
    const struct value *v = graph_value(g, id);
    return id.i && v->type && !v->is_input && !v->is_output && !v->init && !v->sparse_init;
}

static bool infos_are_default(const struct graph *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *node = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < node->n_out; k++)
            if (print_is_declared_by_default(g, node->out[k])) {
                if (n == g->infos.n || g->infos.at[n].i != node->out[k].i)
                    return false;
                n++;
            }
    }
    return n == g->infos.n;
}

static void infos_line(struct printer *p, const struct graph *g) {
    if (infos_are_default(g))
        return;
    print_begin(p, "infos (");
    for (size_t i = 0; i < g->infos.n; i++) {
        str_add(p->out, i ? ", " : "");
        print_value(p->out, graph_value(g, g->infos.at[i]));
    }
    str_add_char(p->out, ')');
    print_end(p);
}

void print_graph_lines(struct printer *p, const struct graph *g) {
    print_text_line(p, "doc", g->doc);
    print_metadata_lines(p, &g->metadata);
    if (g->extra.n)
        print_hex_line(p, "extra", g->extra);
    for (size_t i = 0; i < g->quantization.n; i++)
        print_hex_line(p, "quantization", g->quantization.at[i]);
    for (size_t i = 0; i < g->inputs.n; i++)
        value_line(p, "input", graph_value(g, g->inputs.at[i]), true);
    for (size_t i = 0; i < g->inits.n; i++)
        param_line(p, graph_value(g, g->inits.at[i]));
    for (size_t i = 0; i < g->sparse_inits.n; i++)
        sparse_param_line(p, graph_value(g, g->sparse_inits.at[i]));
    for (size_t i = 0; i < g->order.n; i++)
        node_line(p, g, graph_node(g, g->order.at[i]));
    for (size_t i = 0; i < g->outputs.n; i++) {
        print_begin(p, "output ");
        print_value(p->out, graph_value(g, g->outputs.at[i]));
        print_end(p);
    }
    declaration_lines(p, g);
    infos_line(p, g);
}

// Reader and verifier limit the nesting of subgraphs, so recursion is bounded.
void print_graph_body(struct printer *p, const struct graph *g) {
    str_add(p->out, "{\n");
    p->indent++;
    print_graph_lines(p, g);
    p->indent--;
    print_begin(p, "}");
}
