// A layout as JSON: docs/layout.md. Written by hand: it holds integers and names only.
#include "passes/layout/layout.h"

static const char *node_label(const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    return n->name && *n->name       ? n->name
           : n->n_out && n->out[0].i ? graph_value(g, n->out[0])->name
                                     : n->type;
}

static void add_buffer(struct str *out, const struct graph *g, const struct layout_buffer *b) {
    str_addf(out, "{\"offset\":%lld,\"bytes\":%lld,\"from\":%u,\"to\":%u,\"stream\":%u,",
             (long long)b->offset, (long long)b->bytes, b->from, b->to, b->stream);
    str_add(out, b->workspace.i ? "\"workspace\":" : "\"for\":");
    str_add_json(out,
                 b->workspace.i ? node_label(g, b->workspace) : graph_value(g, b->first)->name);
    str_add_char(out, '}');
}

void layout_json(struct str *out, const struct graph *g, const struct layout *l) {
    const char *separator = "\n";
    str_addf(out,
             "{\"format\":\"mfc-layout\",\"version\":1,\"arena_bytes\":%lld,\"live_bytes\":%lld,"
             "\"bound_bytes\":%lld,\"fixed_bytes\":%lld,\"alignment\":%lld,\n\"steps\":[",
             (long long)l->arena_bytes, (long long)l->live_bytes, (long long)l->bound_bytes,
             (long long)l->persistent_bytes, (long long)l->alignment);
    for (size_t i = 0; i < g->order.n; i++, separator = ",\n") {
        str_addf(out, "%s{\"node\":", separator);
        str_add_json(out, node_label(g, g->order.at[i]));
        str_addf(out, ",\"stream\":%u}", l->stream[g->order.at[i].i]);
    }
    str_add(out, "],\n\"buffers\":[");
    separator = "\n";
    for (size_t i = 1; i < l->buffers.n; i++, separator = ",\n") {
        str_add(out, separator);
        add_buffer(out, g, &l->buffers.at[i]);
    }
    str_add(out, "],\n\"tensors\":{");
    separator = "\n";
    for (size_t v = 1; v < g->values.n; v++) {
        if (!l->of[v])
            continue;
        str_add(out, separator);
        str_add_json(out, g->values.at[v].name);
        str_addf(out, ":%u", l->of[v] - 1);
        separator = ",\n";
    }
    str_add(out, "},\n\"waits\":[");
    separator = "\n";
    for (size_t i = 0; i < l->waits.n; i++, separator = ",\n") {
        str_addf(out, "%s{\"after\":", separator);
        str_add_json(out, node_label(g, l->waits.at[i].after));
        str_add(out, ",\"before\":");
        str_add_json(out, node_label(g, l->waits.at[i].before));
        str_add_char(out, '}');
    }
    str_add(out, "]}\n");
}
