// Replaces all nodes that have a division by their parts, in one walk in topological order; then
// sorts by group and slot (shard_inner.h).
#include <stdlib.h>
#include <string.h>

#include "passes/shard/shard_inner.h"

// Whether the parts can join the open group: they read only what is there before it, and pieces of
// their own part.
static bool joins_group(const struct sharding *s, const struct shard_cut *c) {
    if (s->region != c->choice.region)
        return false;
    for (uint32_t j = 0; j < c->n.n_in; j++) {
        if (!c->n.in[j].i)
            continue;
        int32_t axis = shard_operand_axis(c, j);
        if (axis < 0 && !shard_may_use_whole(s, c->n.in[j]))
            return false;
        for (uint32_t k = 0; axis >= 0 && k < c->choice.n; k++)
            if (!shard_may_take(s, c->n.in[j], shard_operand_range(c, j, axis, k), k))
                return false;
    }
    return true;
}

static status divide_node(struct sharding *s, node_id id, const struct shard_choice *choice) {
    struct shard_cut c = {.n = *graph_node(s->g, id), .r = *choice->rule, .choice = *choice};
    c.name = node_path(s->g, id, s->a);
    assert(choice->label <= c.r.n_labels && choice->n >= 2);
    c.r.s->n = &c.n; // the parts before it have no single producer any more, and nodes have moved
    if (!joins_group(s, &c))
        shard_open_group(s, choice->region);
    graph_remove_node(s->g, id);
    s->b.scope = graph_value(s->g, c.n.out[0])->name;
    if (c.r.label[choice->label].join == SHARD_MOMENTS)
        shard_moments(s, &c);
    else
        shard_parts(s, &c);
    return s->b.failed;
}

static void use_captured(void *to, value_id v, node_id user) {
    (void)user;
    shard_whole(to, v);
}

// An undivided node is placed behind the parts of the open group if it needs one of them, else
// before: in the first part.
static status keep_node(struct sharding *s, node_id id) {
    bool is_free = true;
    node_captured(s->g, id, use_captured, s);
    struct node n = *graph_node(s->g, id);
    for (uint32_t k = 0; k < n.n_in; k++)
        if (n.in[k].i)
            is_free &= shard_may_use_whole(s, shard_whole(s, n.in[k]));
    is_free &= !node_subgraph(&n, 0);
    if (!s->b.failed && !VEC_PUSH(s->g->model->arena, &s->g->order, id))
        return diag_out_of_memory(s->d);
    for (uint32_t k = 0; !is_free && k < n.n_out; k++)
        if (n.out[k].i)
            s->made[n.out[k].i] = s->group;
    shard_place(s, s->group, is_free ? 0 : SHARD_TAIL);
    return s->b.failed;
}

struct ranked {
    struct shard_place at;
    size_t seq;
};

static int by_place(const void *x, const void *y) {
    const struct ranked *a = x, *b = y;
    if (a->at.group != b->at.group)
        return a->at.group < b->at.group ? -1 : 1;
    if (a->at.slot != b->at.slot)
        return a->at.slot < b->at.slot ? -1 : 1;
    return a->seq < b->seq ? -1 : 1;
}

static status sort(struct sharding *s) {
    size_t n = s->places.n;
    struct ranked *at = ARENA_ARRAY(s->a, struct ranked, n);
    if (!at)
        return diag_out_of_memory(s->d);
    for (size_t i = 0; i < n; i++)
        at[i] = (struct ranked){s->places.at[i], i};
    qsort(at, n, sizeof *at, by_place);
    for (size_t i = 0; i < n; i++)
        s->g->order.at[i] = at[i].at.node;
    return ST_OK;
}

status shard_apply(struct model *m, const struct shard_choice *choice, struct pass_context *c) {
    struct graph *g = m->graph;
    struct sharding s = {.g = g,
                         .a = c->arena,
                         .d = c->diags,
                         .b = builder_make(g, c->diags),
                         .n_values = g->values.n,
                         .group = 1,
                         .slices = map_make(c->arena),
                         .local = map_make(c->arena)};
    size_t n = g->order.n;
    node_id *order = arena_copy(c->arena, g->order.at, n * sizeof *order);
    s.b.infer = shape_infer;
    s.of = ARENA_ARRAY(c->arena, struct shard_pieces, g->values.n);
    s.made = ARENA_ARRAY(c->arena, uint32_t, g->values.n);
    if (!order || !s.of || !s.made)
        return diag_out_of_memory(c->diags);
    g->order.n = 0;
    status st = ST_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = choice[order[i].i].label ? divide_node(&s, order[i], &choice[order[i].i])
                                      : keep_node(&s, order[i]);
    for (size_t i = 0; i < g->outputs.n && !st; i++)
        shard_whole(&s, g->outputs.at[i]);
    st = st ? st : s.b.failed;
    st = st ? st : sort(&s);
    m->facts &= ~(unsigned)FACT_COSTS;
    return st ? st : pass_run_all(PASS_PIPELINE(&pass_dce), m, c);
}
