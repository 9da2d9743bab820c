// Vector clocks over the nodes of a graph: see layout.h. Nodes of one stream run one after the
// other, so the number of nodes done on a stream determines which ones are done.
#include "passes/layout/layout.h"

static uint32_t *clock_of(const struct layout_clock *c, node_id n) {
    return &c->at[(size_t)n.i * c->n_streams];
}

status layout_clock_make(const struct graph *g, const uint32_t *stream, uint32_t n_streams,
                         struct arena *a, struct diags *d, struct layout_clock *out) {
    *out = (struct layout_clock){.n_streams = n_streams, .stream = stream};
    out->at = arena_array(a, g->nodes.n, n_streams * sizeof *out->at);
    out->place = ARENA_ARRAY(a, uint32_t, g->nodes.n);
    uint32_t *n_in = ARENA_ARRAY(a, uint32_t, n_streams);
    if (!out->at || !out->place || !n_in)
        return diag_out_of_memory(d);
    for (size_t i = 0; i < g->order.n; i++)
        out->place[g->order.at[i].i] = ++n_in[stream[g->order.at[i].i]];
    return ST_OK;
}

void layout_clock_wait(struct layout_clock *c, node_id n, node_id before) {
    uint32_t *at = clock_of(c, n);
    const uint32_t *from = clock_of(c, before);
    for (uint32_t k = 0; k < c->n_streams; k++)
        at[k] = from[k] > at[k] ? from[k] : at[k];
    uint32_t s = c->stream[before.i];
    if (c->place[before.i] > at[s])
        at[s] = c->place[before.i];
}

bool layout_clock_done(const struct layout_clock *c, node_id before, node_id n) {
    return clock_of(c, n)[c->stream[before.i]] >= c->place[before.i];
}

struct starting {
    struct layout_clock *c;
    const struct graph *g;
};

static void wait_for(void *to, value_id v, node_id user) {
    struct starting *s = to;
    node_id def = v.i ? graph_value(s->g, v)->def : NODE_NONE;
    if (def.i)
        layout_clock_wait(s->c, user, def);
}

void layout_clock_start(struct layout_clock *c, const struct graph *g, node_id id,
                        node_id previous) {
    struct starting s = {c, g};
    const struct node *n = graph_node(g, id);
    for (uint32_t k = 0; k < n->n_in; k++)
        wait_for(&s, n->in[k], id);
    node_captured(g, id, wait_for, &s);
    if (previous.i)
        layout_clock_wait(c, id, previous);
}
