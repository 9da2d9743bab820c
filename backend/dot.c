// A model in the DOT language: see dot.h. Nodes are boxes, coloured by device; recomputed ones have
// orange stripes, transfers are violet, control nodes grey and dashed. Inputs, parameters and
// outputs are ellipses; the label of an edge is the type of its value. Subgraphs are clusters
// beside their node. DOT identifiers consist of the cluster's number and the id, so only labels
// need escaping.
#include "backend/dot.h"

#include <string.h>

#include "ir/keys.h"
#include "ir/text/text.h"

enum { MAX_DEPTH = 64 };

struct dot {
    struct str *out;
    int n_clusters;         // numbered so far
    int cluster[MAX_DEPTH]; // from the outermost graph to the current one: their numbers
    int depth;              // of the current graph
};

static const char *const device_colours[] = {"#dbe9ff", "#ffe3d3", "#dff5dc", "#efe0fa",
                                             "#fff4c2", "#d9f4f4", "#fadde6", "#e8e8e8"};

static void add_label(struct str *out, const char *text) {
    // In a label a backslash starts an escape sequence; control characters become spaces.
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            str_addf(out, "\\%c", *c);
        else
            str_add_char(out, (unsigned char)*c < 0x20 ? ' ' : *c);
}

static void add_type(struct str *out, const struct value *v) {
    struct str type = str_make(out->arena);
    if (v->type)
        print_type(&type, v->type);
    add_label(out, str_text(&type));
}

static int cluster(const struct dot *x) {
    return x->cluster[x->depth];
}

static void add_ellipse(struct dot *x, char kind, uint32_t id, const struct value *v,
                        const char *style) {
    str_addf(x->out, "  f%d%c%u [shape=ellipse,%s,label=\"", cluster(x), kind, id, style);
    add_label(x->out, v->name);
    str_add(x->out, v->type ? "\\n" : "");
    add_type(x->out, v);
    str_add(x->out, "\"];\n");
}

static void add_box(struct dot *x, const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    const size_t n_colours = sizeof device_colours / sizeof *device_colours;
    const char *role = pairs_get(&n->metadata, KEY_ROLE);
    const char *colour = n->device ? device_colours[(n->device - 1) % n_colours] : "#f7f7f7";
    bool is_recomputed =
        n->again.i || (role && strcmp(role, "recomputed") == 0); // a file has only the role
    const char *second = is_recomputed ? ":#f2a65a" : "";
    const char *style = is_recomputed ? "striped" : "filled";
    if (role && strcmp(role, "transfer") == 0)
        colour = "#cdb4e8";
    else if (role && strcmp(role, "control") == 0)
        style = "\"dashed\",color=gray,fontcolor=gray40";
    str_addf(x->out, "  f%dn%u [shape=box,fillcolor=\"%s%s\",style=%s,label=\"", cluster(x), id.i,
             colour, second, style);
    add_label(x->out, n->type);
    if (n->name && *n->name) {
        str_add(x->out, "\\n");
        add_label(x->out, n->name);
    }
    if (n->device && n->device <= g->model->device_names.n) {
        str_add(x->out, "\\n@");
        add_label(x->out, g->model->device_names.at[n->device - 1]);
    }
    str_add(x->out, "\"];\n");
}

// The definition of a value: a node or an ellipse, in this graph or an enclosing one.
static void add_definition(struct dot *x, const struct graph *g, value_id v) {
    int depth = x->depth;
    while (depth > 0 && graph_value(g, v)->outer.i) {
        v = graph_value(g, v)->outer;
        g = g->outer;
        depth--;
    }
    node_id def = graph_value(g, v)->def;
    str_addf(x->out, "f%d%c%u", x->cluster[depth], def.i ? 'n' : 'v', def.i ? def.i : v.i);
}

static void add_edge(struct dot *x, const struct graph *g, value_id v, char kind, uint32_t to) {
    str_add(x->out, "  ");
    add_definition(x, g, v);
    str_addf(x->out, " -> f%d%c%u [label=\"", cluster(x), kind, to);
    add_type(x->out, graph_value(g, v));
    str_add(x->out, "\"];\n");
}

static void add_graph(struct dot *x, const struct graph *g);

static void add_cluster(struct dot *x, const struct graph *g, const struct attr *a) {
    if (!g || x->depth + 1 >= MAX_DEPTH)
        return;
    x->cluster[++x->depth] = ++x->n_clusters;
    str_addf(x->out, "  subgraph cluster_%d {\n  label=\"", x->n_clusters);
    add_label(x->out, a->name);
    str_add(x->out, "\";\n");
    add_graph(x, g);
    str_add(x->out, "  }\n");
    x->depth--;
}

static void add_node(struct dot *x, const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    add_box(x, g, id);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i)
            add_edge(x, g, n->in[k], 'n', id.i);
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        const struct attr *a = &n->attrs[k];
        if (a->kind == ATTR_GRAPH && !a->ref)
            add_cluster(x, a->g, a);
        for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n; s++)
            add_cluster(x, a->graphs[s], a);
    }
}

static void add_graph(struct dot *x, const struct graph *g) {
    for (uint32_t i = 1; i < g->values.n; i++) {
        const struct value *v = &g->values.at[i];
        if (v->is_input)
            add_ellipse(x, 'v', i, v, "style=bold");
        else if (v->init || v->sparse_init)
            add_ellipse(x, 'v', i, v, "color=gray,fontcolor=gray40");
    }
    for (size_t i = 0; i < g->order.n; i++)
        add_node(x, g, g->order.at[i]);
    for (size_t i = 0; i < g->outputs.n; i++) {
        value_id v = g->outputs.at[i];
        add_ellipse(x, 'o', v.i, graph_value(g, v), "style=bold");
        add_edge(x, g, v, 'o', v.i);
    }
}

status dot_print(struct str *out, const struct model *m, struct diags *d) {
    struct dot x = {.out = out};

    str_add(out, "digraph \"");
    add_label(out, m->graph->name ? m->graph->name : "graph");
    str_add(
        out,
        "\" {\n  node [fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\",fontsize=10];\n");
    add_graph(&x, m->graph);
    str_add(out, "}\n");
    return out->failed ? diag_out_of_memory(d) : ST_OK;
}
