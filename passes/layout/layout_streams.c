// Concurrency-aware layout: colours by longest paths, and waits between streams. The heuristic is
// that of the lecture "Memory Optimization" (CSE 599G1, 2017): the longest path through the graph
// gets the first colour, and its nodes weigh nothing from then on; the next longest path gets the
// second colour, and so on; the remaining nodes get the last. Memory is reused within a colour
// only, so two long paths that could run concurrently never share any.
//
// Before an address is reused, all readers of its previous content must be done. Readers on the
// same stream have run by then. For readers on other streams that no dependency orders, a wait for
// the last reader of each stream is added.
#include "passes/layout/layout.h"

struct colouring {
    const struct graph *g;
    int64_t *weight;   // per node; 0: coloured
    int64_t *best;     // per node: weight of the heaviest path that ends with it
    node_id *previous; // per node: its predecessor on that path
};

struct longest {
    const struct colouring *c;
    node_id from;
    int64_t weight;
};

static void consider(void *to, value_id v, node_id user) {
    struct longest *l = to;
    node_id def = v.i ? graph_value(l->c->g, v)->def : NODE_NONE;
    (void)user;
    if (def.i && (!l->from.i || l->c->best[def.i] > l->weight)) {
        l->from = def;
        l->weight = l->c->best[def.i];
    }
}

// The end of the heaviest path; the first of equal ones.
static node_id heaviest_end(struct colouring *c) {
    node_id end = NODE_NONE;
    for (size_t i = 0; i < c->g->order.n; i++) {
        node_id id = c->g->order.at[i];
        const struct node *n = graph_node(c->g, id);
        struct longest l = {.c = c};
        for (uint32_t k = 0; k < n->n_in; k++)
            consider(&l, n->in[k], id);
        node_captured(c->g, id, consider, &l);
        c->previous[id.i] = l.from;
        // No overflow: weights are at most INT64_MAX / number of nodes.
        c->best[id.i] = l.weight + c->weight[id.i];
        if (!end.i || c->best[id.i] > c->best[end.i])
            end = id;
    }
    return end;
}

status layout_colour(const struct graph *g, int32_t n_streams, struct arena *a, struct diags *d,
                     uint32_t *stream) {
    struct colouring c = {.g = g,
                          .weight = ARENA_ARRAY(a, int64_t, g->nodes.n),
                          .best = ARENA_ARRAY(a, int64_t, g->nodes.n),
                          .previous = ARENA_ARRAY(a, node_id, g->nodes.n)};
    if (!c.weight || !c.best || !c.previous)
        return diag_out_of_memory(d);
    int64_t max_weight = INT64_MAX / (int64_t)(g->order.n + 1);
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        int64_t weight = n->cost > 0 ? n->cost : 1;
        c.weight[g->order.at[i].i] = weight > max_weight ? max_weight : weight;
        stream[g->order.at[i].i] = (uint32_t)n_streams - 1;
    }
    for (uint32_t colour = 0; colour + 1 < (uint32_t)n_streams; colour++) {
        node_id end = heaviest_end(&c);
        if (!end.i || c.best[end.i] == 0)
            break; // all nodes are coloured
        for (node_id at = end; at.i; at = c.previous[at.i])
            if (c.weight[at.i] > 0) {
                stream[at.i] = colour;
                c.weight[at.i] = 0;
            }
    }
    return ST_OK;
}

struct waiting {
    struct layout *l;
    struct layout_clock *c;
    struct arena *a;
    struct layout_owners owners;
    node_id *last; // [buffer * n_streams + stream]: the last node there that reads or makes it
};

static void touch(void *to, value_id v, node_id user) {
    struct waiting *t = to;
    uint32_t b = t->l->of[v.i];
    if (b)
        t->last[(size_t)b * t->c->n_streams + t->c->stream[user.i]] = user;
}

// Node n, which overwrites a buffer, waits for all nodes that read or made the buffer.
static bool wait_for_users(struct waiting *t, uint32_t lost, node_id n) {
    struct layout_clock *c = t->c;
    for (uint32_t k = 0; k < c->n_streams; k++) {
        node_id last = t->last[(size_t)lost * c->n_streams + k];
        if (!last.i || last.i == n.i || layout_clock_done(c, last, n))
            continue;
        layout_clock_wait(c, n, last);
        if (!VEC_PUSH(t->a, &t->l->waits, (struct layout_wait){last, n}))
            return false;
    }
    return true;
}

static bool take_buffers(struct waiting *t, const uint32_t *made, size_t n_made, node_id n) {
    for (size_t i = 0; i < n_made; i++) {
        const struct layout_buffer *b = &t->l->buffers.at[made[i]];
        if (!layout_owners_take(&t->owners, b->offset, b->offset + b->bytes, made[i]))
            return false;
        for (size_t k = 0; k < t->owners.lost.n; k++)
            if (!wait_for_users(t, t->owners.lost.at[k], n))
                return false;
    }
    return true;
}

status layout_add_waits(const struct graph *g, struct arena *a, struct diags *d, struct layout *l) {
    struct layout_clock c;
    uint32_t n_streams = 1;
    for (size_t i = 0; i < g->order.n; i++)
        if (l->stream[g->order.at[i].i] >= n_streams)
            n_streams = l->stream[g->order.at[i].i] + 1;
    status st = layout_clock_make(g, l->stream, n_streams, a, d, &c);
    if (st)
        return st;
    struct waiting t = {.l = l,
                        .c = &c,
                        .a = a,
                        .owners = {.a = a},
                        .last = arena_array(a, l->buffers.n, n_streams * sizeof(node_id))};
    node_id *previous = ARENA_ARRAY(a, node_id, n_streams);
    uint32_t *made = ARENA_ARRAY(a, uint32_t, l->buffers.n), at = 1;
    if (!t.last || !previous || !made)
        return diag_out_of_memory(d);
    for (size_t i = 0; i < g->order.n; i++) { // buffers are in the order in which they are made
        node_id id = g->order.at[i];
        const struct node *n = graph_node(g, id);
        size_t n_made = 0;
        layout_clock_start(&c, g, id, previous[l->stream[id.i]]);
        previous[l->stream[id.i]] = id;
        for (; at < l->buffers.n && l->buffers.at[at].from == i; at++)
            made[n_made++] = at;
        if (!take_buffers(&t, made, n_made, id))
            return diag_out_of_memory(d);
        for (uint32_t k = 0; k < n->n_in; k++)
            touch(&t, n->in[k], id);
        for (uint32_t k = 0; k < n->n_out; k++)
            touch(&t, n->out[k], id);
        for (size_t k = 0; k < n_made; k++) // workspaces too, which hold no value
            t.last[(size_t)made[k] * n_streams + l->stream[id.i]] = id;
        node_captured(g, id, touch, &t);
    }
    return ST_OK;
}
