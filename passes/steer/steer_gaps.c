// Gaps: see steer_gaps.h. An opening of the first lane is a gap if every other lane has one after
// the same value, and before the same node or the one that has absorbed it: a MatMul into which a
// Transpose is fused reads the operand of the Transpose, and with it the alias that makes it wait.
// The operand is one that the fused node reads as well, so that the alias prevents no fusion.
#include "passes/steer/steer_gaps.h"

#include <assert.h>

static bool reads(const struct node *n, value_id v) {
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i == v.i)
            return true;
    return false;
}

// Whether a node that the lane may have fused waits for the alias in place of `user`.
static bool is_user(const struct graph *g, const struct steer_opening *o, node_id user,
                    value_id operand) {
    bool is_same = o->user.i == user.i || graph_node(g, user)->removed;
    return is_same && reads(graph_node(g, o->user), operand);
}

struct joining {
    struct steer_lanes *l;
    uint32_t *opening[STEER_MAX_LANES]; // by value: the opening after it, from 1; [0]: the first
    uint32_t *in_file;                  // by node of the first lane: its position
};

// The operand through which the user can be made to wait in all lanes: computed or an input, and
// the earliest in the file, so that producers and consumers that are adjacent stay so; n_in: none.
static uint32_t find_operand(const struct joining *j, const struct steer_gap *gap,
                             const struct steer_opening *const *o) {
    const struct graph *g = j->l->trace[0].r->g;
    const struct node *n = graph_node(g, gap->user);
    uint32_t best = n->n_in, n_in = n->op == OP_Reshape ? 1 : n->n_in;
    for (uint32_t k = 0; k < n_in; k++) {
        const struct value *v = n->in[k].i ? graph_value(g, n->in[k]) : NULL;
        if (!v || v->init || v->sparse_init || !type_is_static(v->type) ||
            (v->def.i && graph_node(g, v->def)->op == OP_Constant))
            continue;
        bool fits = true;
        for (uint32_t x = 1; x < j->l->n; x++)
            fits &= is_user(j->l->trace[x].r->g, o[x], gap->user, n->in[k]);
        node_id def = best < n->n_in ? graph_value(g, n->in[best])->def : NODE_NONE;
        if (fits && (best == n->n_in || j->in_file[v->def.i] < j->in_file[def.i]))
            best = k;
    }
    return best;
}

// Adds the gap of an opening of the first lane, if it is one.
static void add_gap(struct joining *j, const struct steer_opening *first) {
    struct steer_lanes *l = j->l;
    struct steer_gap gap = {.after = first->after, .user = first->user, .event = {first->event}};
    const struct steer_gap *last = l->n_gaps ? &l->gaps[l->n_gaps - 1] : NULL;
    const struct steer_opening *o[STEER_MAX_LANES] = {first};
    for (uint32_t x = 1; x < l->n; x++) {
        uint32_t k = j->opening[x][first->after.i];
        if (!k)
            return;
        o[x] = &l->trace[x].openings[k - 1];
        gap.event[x] = o[x]->event;
        if (last && gap.event[x] <= last->event[x])
            return;
    }
    gap.operand = find_operand(j, &gap, o);
    if (gap.operand < graph_node(l->trace[0].r->g, gap.user)->n_in)
        l->gaps[l->n_gaps++] = gap;
}

// Of several openings after one value only the first is after nothing else that is big.
static bool index_lane(struct joining *j, uint32_t x, struct arena *a) {
    const struct steer_trace *t = &j->l->trace[x];
    size_t n = j->l->trace[0].r->g->values.n;
    assert(t->r->g->values.n == n); // a copy
    j->opening[x] = ARENA_ARRAY(a, uint32_t, n);
    j->l->item_of[x] = ARENA_ARRAY(a, uint32_t, n);
    if (!j->opening[x] || !j->l->item_of[x])
        return false;
    for (uint32_t k = t->n_openings; k-- > 0;)
        j->opening[x][t->openings[k].after.i] = k + 1;
    for (uint32_t i = 1; i < t->n_items; i++) {
        uint32_t s = t->e->buffers.at[i].storage;
        if (s)
            j->l->item_of[x][t->r->s.first[s].i] = i;
    }
    return true;
}

bool steer_gaps_find(struct steer_lanes *io, struct arena *a) {
    assert(io && io->n > 0 && io->n <= STEER_MAX_LANES && a);
    const struct steer_trace *t = &io->trace[0];
    const struct graph *g = t->r->g;
    struct joining j = {.l = io, .in_file = ARENA_ARRAY(a, uint32_t, g->nodes.n)};
    io->gaps = ARENA_ARRAY(a, struct steer_gap, t->n_openings + 1);
    io->n_gaps = 0;
    if (!io->gaps || !j.in_file)
        return false;
    for (uint32_t x = 0; x < io->n; x++)
        if (!index_lane(&j, x, a))
            return false;
    for (size_t i = 0; i < g->order.n; i++)
        j.in_file[g->order.at[i].i] = (uint32_t)i + 1;
    for (uint32_t k = 0; k < t->n_openings; k++)
        if (j.opening[0][t->openings[k].after.i] == k + 1)
            add_gap(&j, &t->openings[k]);
    return true;
}
