// A model as a picture: see dot.h. Nodes are boxes, coloured by device; those that recompute are
// striped with orange, transfers are violet, control nodes grey and dashed. Inputs, parameters and
// outputs are ellipses; an edge carries the type of its value.
// Subgraphs are frames beside the node that has them. Names in the picture are made of the
// frame's number and the id, so that nothing has to be escaped but labels.
#include "backend/dot.h"

#include <string.h>

#include "ir/keys.h"
#include "ir/text/text.h"

struct dot {
    struct str *out;
    int n_frames; // numbered so far
};

static const char *const device_colours[] = {"#dbe9ff", "#ffe3d3", "#dff5dc", "#efe0fa",
                                             "#fff4c2", "#d9f4f4", "#fadde6", "#e8e8e8"};

static void add_label(struct str *out, const char *text) {
    // A label is a C-like string of its own: a backslash has a meaning, a line break has not.
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

static void ellipse(struct dot *x, int frame, char kind, uint32_t id, const struct value *v,
                    const char *style) {
    str_addf(x->out, "  f%d%c%u [shape=ellipse,%s,label=\"", frame, kind, id, style);
    add_label(x->out, v->name);
    str_add(x->out, v->type ? "\\n" : "");
    add_type(x->out, v);
    str_add(x->out, "\"];\n");
}

static void box(struct dot *x, int frame, const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    const size_t n_colours = sizeof device_colours / sizeof *device_colours;
    const char *role = pairs_get(&n->metadata, KEY_ROLE);
    const char *colour = n->device ? device_colours[(n->device - 1) % n_colours] : "#f7f7f7";
    bool again = n->again.i || (role && strcmp(role, "recomputed") == 0); // in files, only the role
    const char *second = again ? ":#f2a65a" : "", *style = again ? "striped" : "filled";
    if (role && strcmp(role, "transfer") == 0)
        colour = "#cdb4e8";
    else if (role && strcmp(role, "control") == 0)
        style = "\"dashed\",color=gray,fontcolor=gray40";
    str_addf(x->out, "  f%dn%u [shape=box,fillcolor=\"%s%s\",style=%s,label=\"", frame, id.i,
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

// Where a value comes from: a node or an ellipse, of this frame or of an enclosing one.
static void add_origin(struct dot *x, const struct graph *g, const int *frames, int depth,
                       value_id v) {
    while (depth > 0 && graph_value(g, v)->outer.i) {
        v = graph_value(g, v)->outer;
        g = g->outer;
        depth--;
    }
    node_id def = graph_value(g, v)->def;
    str_addf(x->out, "f%d%c%u", frames[depth], def.i ? 'n' : 'v', def.i ? def.i : v.i);
}

static void edge(struct dot *x, const struct graph *g, const int *frames, int depth, value_id v,
                 char kind, uint32_t to) {
    str_add(x->out, "  ");
    add_origin(x, g, frames, depth, v);
    str_addf(x->out, " -> f%d%c%u [label=\"", frames[depth], kind, to);
    add_type(x->out, graph_value(g, v));
    str_add(x->out, "\"];\n");
}

enum { FRAME_DEPTH = 64 };

static void frame(struct dot *x, const struct graph *g, int *frames, int depth);

static void inner_frame(struct dot *x, const struct graph *g, const struct attr *a, int *frames,
                        int depth) {
    if (!g || depth + 1 >= FRAME_DEPTH)
        return;
    frames[depth + 1] = ++x->n_frames;
    str_addf(x->out, "  subgraph cluster_%d {\n  label=\"", x->n_frames);
    add_label(x->out, a->name);
    str_add(x->out, "\";\n");
    frame(x, g, frames, depth + 1);
    str_add(x->out, "  }\n");
}

static void frame_node(struct dot *x, const struct graph *g, node_id id, int *frames, int depth) {
    const struct node *n = graph_node(g, id);
    box(x, frames[depth], g, id);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i)
            edge(x, g, frames, depth, n->in[k], 'n', id.i);
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        const struct attr *a = &n->attrs[k];
        if (a->kind == ATTR_GRAPH && !a->ref)
            inner_frame(x, a->g, a, frames, depth);
        for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n; s++)
            inner_frame(x, a->graphs[s], a, frames, depth);
    }
}

static void frame(struct dot *x, const struct graph *g, int *frames, int depth) {
    for (uint32_t i = 1; i < g->values.n; i++) {
        const struct value *v = &g->values.at[i];
        if (v->is_input)
            ellipse(x, frames[depth], 'v', i, v, "style=bold");
        else if (v->init || v->sparse_init)
            ellipse(x, frames[depth], 'v', i, v, "color=gray,fontcolor=gray40");
    }
    for (size_t i = 0; i < g->order.n; i++)
        frame_node(x, g, g->order.at[i], frames, depth);
    for (size_t i = 0; i < g->outputs.n; i++) {
        value_id v = g->outputs.at[i];
        ellipse(x, frames[depth], 'o', v.i, graph_value(g, v), "style=bold");
        edge(x, g, frames, depth, v, 'o', v.i);
    }
}

status dot_print(struct str *out, const struct model *m, struct diags *d) {
    struct dot x = {.out = out};
    int frames[FRAME_DEPTH] = {0};
    str_add(out, "digraph \"");
    add_label(out, m->graph->name ? m->graph->name : "graph");
    str_add(
        out,
        "\" {\n  node [fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\",fontsize=10];\n");
    frame(&x, m->graph, frames, 0);
    str_add(out, "}\n");
    return out->failed ? diag_out_of_memory(d) : ST_OK;
}
