// A layout as JSON: docs/layout.md.
#include "ir/json/json_write.h"
#include "passes/layout/layout.h"

static const char *node_label(const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    return n->name && *n->name       ? n->name
           : n->n_out && n->out[0].i ? graph_value(g, n->out[0])->name
                                     : n->type;
}

static void add_buffer(struct json_writer *w, const struct graph *g,
                       const struct layout_buffer *b) {
    json_write_object(w, NULL);
    json_write_int(w, "offset", b->offset);
    json_write_int(w, "bytes", b->bytes);
    json_write_int(w, "from", b->from);
    json_write_int(w, "to", b->to);
    json_write_int(w, "stream", b->stream);
    if (b->workspace.i)
        json_write_text(w, "workspace", node_label(g, b->workspace));
    else
        json_write_text(w, "for", graph_value(g, b->first)->name);
    json_write_end(w);
}

static void add_steps(struct json_writer *w, const struct graph *g, const struct layout *l) {
    json_write_line(w);
    json_write_array(w, "steps");
    for (size_t i = 0; i < g->order.n; i++) {
        json_write_line(w);
        json_write_object(w, NULL);
        json_write_text(w, "node", node_label(g, g->order.at[i]));
        json_write_int(w, "stream", l->stream[g->order.at[i].i]);
        json_write_end(w);
    }
    json_write_end(w);
}

static void add_buffers(struct json_writer *w, const struct graph *g, const struct layout *l) {
    json_write_line(w);
    json_write_array(w, "buffers");
    for (size_t i = 1; i < l->buffers.n; i++) {
        json_write_line(w);
        add_buffer(w, g, &l->buffers.at[i]);
    }
    json_write_end(w);
    json_write_line(w);
    json_write_object(w, "tensors");
    for (size_t v = 1; v < g->values.n; v++) {
        if (!l->of[v])
            continue;
        json_write_line(w);
        json_write_int(w, g->values.at[v].name, (int64_t)l->of[v] - 1);
    }
    json_write_end(w);
}

static void add_waits(struct json_writer *w, const struct graph *g, const struct layout *l) {
    json_write_line(w);
    json_write_array(w, "waits");
    for (size_t i = 0; i < l->waits.n; i++) {
        json_write_line(w);
        json_write_object(w, NULL);
        json_write_text(w, "after", node_label(g, l->waits.at[i].after));
        json_write_text(w, "before", node_label(g, l->waits.at[i].before));
        json_write_end(w);
    }
    json_write_end(w);
}

void layout_json(struct str *out, const struct graph *g, const struct layout *l) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-layout");
    json_write_int(&w, "arena_bytes", l->arena_bytes);
    json_write_int(&w, "live_bytes", l->live_bytes);
    json_write_int(&w, "bound_bytes", l->bound_bytes);
    json_write_int(&w, "fixed_bytes", l->persistent_bytes);
    json_write_int(&w, "alignment", l->alignment);
    add_steps(&w, g, l);
    add_buffers(&w, g, l);
    add_waits(&w, g, l);
    json_write_finish(&w);
}
