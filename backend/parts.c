// Partitions a placed graph: see parts.h. Stages: assign a round to every node, in order; list the
// parts and sort them; find the values that cross between parts.
#include "backend/parts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/copy.h"
#include "ir/devices.h"
#include "ir/keys.h"

struct partition {
    const struct graph *g;
    struct arena *arena;
    struct diags *diags;
    struct parts *out;
    uint32_t *round_of;      // per node
    uint32_t *current_round; // per device
    uint32_t *seen;          // per value: 1 + the last part that has it as an input
    bool *is_out;            // per value: an output of its part
    size_t part;             // the current part
    status failed;
};

static bool is_constant(const struct graph *g, node_id id) {
    return graph_node(g, id)->op == OP_Constant;
}

static void wait_for(void *to, value_id v, node_id user) {
    struct partition *c = to;
    node_id def = graph_value(c->g, v)->def;
    uint32_t device = graph_node(c->g, user)->device;
    if (devices_resident(c->g, v) || graph_node(c->g, def)->device == device)
        return;
    if (graph_node(c->g, user)->op != OP_Identity)
        c->failed = diag_error(
            c->diags, DIAG_UNPLACED, loc_path(c->g->model->path, node_path(c->g, user, c->arena)),
            "the node reads %s from another device without a transfer; run pass transfer first",
            graph_value(c->g, v)->name);
    if (c->current_round[device] <= c->round_of[def.i])
        c->current_round[device] = c->round_of[def.i] + 1;
}

static void each_operand(const struct graph *g, node_id id, visit_use *visit, void *to) {
    const struct node *n = graph_node(g, id);
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i)
            visit(to, n->in[k], id);
    node_captured(g, id, visit, to);
}

static status find_rounds(struct partition *c) {
    const struct graph *g = c->g;
    for (size_t i = 0; i < g->order.n && !c->failed; i++) {
        node_id id = g->order.at[i];
        if (is_constant(g, id))
            continue;
        if (!graph_node(g, id)->device)
            return diag_error(c->diags, DIAG_UNPLACED,
                              loc_path(g->model->path, node_path(g, id, c->arena)),
                              "the node has no device; plan the model with --rig first");
        each_operand(g, id, wait_for, c);
        c->round_of[id.i] = c->current_round[graph_node(g, id)->device];
    }
    return c->failed;
}

static int by_round(const void *a, const void *b) {
    const struct part *x = a, *y = b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

static struct part *part_of_node(struct partition *c, node_id id) {
    struct part key = {.device = graph_node(c->g, id)->device, .round = c->round_of[id.i]};
    return bsearch(&key, c->out->at, c->out->n, sizeof key, by_round);
}

// One entry per node, sorted, without duplicates.
static bool list_parts(struct partition *c) {
    const struct graph *g = c->g;
    size_t n = 0;
    c->out->at = ARENA_ARRAY(c->arena, struct part, g->order.n);
    if (!c->out->at)
        return false;
    for (size_t i = 0; i < g->order.n; i++)
        if (!is_constant(g, g->order.at[i]))
            c->out->at[n++] = (struct part){.device = graph_node(g, g->order.at[i])->device,
                                            .round = c->round_of[g->order.at[i].i]};
    qsort(c->out->at, n, sizeof *c->out->at, by_round);
    for (size_t i = 0; i < n; i++)
        if (!i || by_round(&c->out->at[i], &c->out->at[c->out->n - 1]))
            c->out->at[c->out->n++] = c->out->at[i];
    bool ok = true;
    for (size_t i = 0; i < g->order.n && ok; i++) {
        node_id id = g->order.at[i];
        if (is_constant(g, id))
            continue;
        struct part *p = part_of_node(c, id);
        const struct node *node = graph_node(g, id);
        ok = VEC_PUSH(c->arena, &p->nodes, id);
        for (uint32_t k = 0; k < node->n_out; k++)
            c->out->of[node->out[k].i] = node->out[k].i ? (uint32_t)(p - c->out->at) + 1 : 0;
    }
    return ok;
}

static void add_output(struct partition *c, value_id v) {
    struct part *maker = &c->out->at[c->out->of[v.i] - 1];
    if (!c->is_out[v.i] && !VEC_PUSH(c->arena, &maker->out, v))
        c->failed = diag_out_of_memory(c->diags);
    c->is_out[v.i] = true;
}

static void add_operand(void *to, value_id v, node_id user) {
    struct partition *c = to;
    uint32_t here = (uint32_t)c->part + 1;
    const struct value *at = graph_value(c->g, v);
    bool is_fed = at->is_input && !at->init && !at->sparse_init;
    (void)user;
    if (c->seen[v.i] == here || c->out->of[v.i] == here || (!c->out->of[v.i] && !is_fed))
        return;
    c->seen[v.i] = here;
    if (!at->type)
        c->failed = diag_error(c->diags, DIAG_UNSUPPORTED, loc_file(c->g->model->path),
                               "the type of %s, which passes from one part to another, is unknown; "
                               "declare it in value_info",
                               at->name);
    if (!VEC_PUSH(c->arena, &c->out->at[c->part].in, v))
        c->failed = diag_out_of_memory(c->diags);
    if (!is_fed)
        add_output(c, v);
}

static status find_crossings(struct partition *c) {
    for (size_t i = 0; i < c->g->outputs.n; i++) {
        value_id v = c->g->outputs.at[i];
        if (!c->out->of[v.i])
            return diag_error(c->diags, DIAG_UNSUPPORTED, loc_file(c->g->model->path),
                              "output %s is an input or a constant, which no device computes; "
                              "remove it from the outputs",
                              graph_value(c->g, v)->name);
        add_output(c, v);
    }
    for (c->part = 0; c->part < c->out->n; c->part++)
        for (size_t i = 0; i < c->out->at[c->part].nodes.n && !c->failed; i++)
            each_operand(c->g, c->out->at[c->part].nodes.at[i], add_operand, c);
    return c->failed;
}

status parts_of(const struct graph *g, struct arena *a, struct diags *d, struct parts *out) {
    *out = (struct parts){.of = ARENA_ARRAY(a, uint32_t, g->values.n)};
    struct partition c = {.g = g,
                          .arena = a,
                          .diags = d,
                          .out = out,
                          .round_of = ARENA_ARRAY(a, uint32_t, g->nodes.n),
                          .current_round = ARENA_ARRAY(a, uint32_t, g->model->device_names.n + 1),
                          .seen = ARENA_ARRAY(a, uint32_t, g->values.n),
                          .is_out = ARENA_ARRAY(a, bool, g->values.n)};
    if (!out->of || !c.round_of || !c.current_round || !c.seen || !c.is_out)
        return diag_out_of_memory(d);
    status st = find_rounds(&c);
    if (st)
        return st;
    return list_parts(&c) ? find_crossings(&c) : diag_out_of_memory(d);
}

static void mark_needed(void *to, value_id v, node_id user) {
    bool *needed = to;
    (void)user;
    needed[v.i] = true;
}

// Keeps the nodes of the part and the constants that they read; removes all others.
static bool keep_nodes(struct graph *g, const struct part *p, bool *needed, struct arena *a) {
    bool *kept = ARENA_ARRAY(a, bool, g->nodes.n);
    size_t n = 0;
    if (!kept)
        return false;
    for (size_t i = 0; i < p->nodes.n; i++) {
        each_operand(g, p->nodes.at[i], mark_needed, needed);
        kept[p->nodes.at[i].i] = true;
    }
    for (size_t i = 0; i < g->order.n; i++) {
        node_id id = g->order.at[i];
        bool read = is_constant(g, id) && needed[graph_node(g, id)->out[0].i];
        if (kept[id.i] || read)
            g->order.at[n++] = id;
        else
            graph_remove_node(g, id);
    }
    g->order.n = n;
    return true;
}

static bool set_inputs(struct graph *g, const struct part *p, const bool *needed) {
    size_t n = 0;
    for (size_t i = 0; i < g->inputs.n; i++)
        if (needed[g->inputs.at[i].i])
            g->inputs.at[n++] = g->inputs.at[i];
        else
            graph_value(g, g->inputs.at[i])->is_input = false;
    g->inputs.n = n;
    bool ok = true;
    for (size_t i = 0; i < p->in.n && ok; i++) {
        graph_value(g, p->in.at[i])->def = NODE_NONE;
        if (!graph_value(g, p->in.at[i])->is_input)
            ok = graph_add_input(g, p->in.at[i]);
    }
    return ok;
}

static bool set_outputs(struct graph *g, const struct part *p) {
    for (size_t i = 0; i < g->outputs.n; i++)
        graph_value(g, g->outputs.at[i])->is_output = false;
    g->outputs.n = 0;
    bool ok = true;
    for (size_t i = 0; i < p->out.n && ok; i++)
        ok = graph_add_output(g, p->out.at[i]);
    return ok;
}

struct model *part_model(const struct model *m, const struct parts *parts, size_t i,
                         struct arena *a) {
    assert(i < parts->n);
    const struct part *p = &parts->at[i];
    struct model *copy = model_copy(m, a);
    bool *needed = ARENA_ARRAY(a, bool, m->graph->values.n);
    if (!copy || !needed)
        return NULL;
    struct graph *g = copy->graph;
    for (size_t k = 0; k < g->infos.n; k++)
        graph_value(g, g->infos.at[k])->has_info = false;
    g->infos.n = 0;
    if (!keep_nodes(g, p, needed, a))
        return NULL;
    graph_keep_inits(g, needed);
    bool ok = set_inputs(g, p, needed) && set_outputs(g, p) &&
              pairs_set(&copy->metadata, a, KEY_DEVICE, m->device_names.at[p->device - 1]);
    return ok ? copy : NULL;
}
