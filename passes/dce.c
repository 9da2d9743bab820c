// Dead code elimination: removes dead nodes, and the initializers that only they read. Stages, for
// each graph and function: subgraphs first, so that values they no longer capture are dead in the
// enclosing graph too; then one backward walk through the order, which is topological, so that a
// node is visited after all of its readers.
#include "passes/pass.h"

static status dce_graph(struct graph *g, struct pass_context *c, int64_t *n_removed);

static status dce_subgraphs(const struct node *n, struct pass_context *c, int64_t *n_removed) {
    status st = ST_OK;
    for (uint32_t k = 0; k < n->n_attrs && !st; k++) {
        const struct attr *a = &n->attrs[k];
        if (a->kind == ATTR_GRAPH && a->g && !a->ref)
            st = dce_graph(a->g, c, n_removed);
        for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n && !st; s++)
            st = dce_graph(a->graphs[s], c, n_removed);
    }
    return st;
}

static void need_captured(const struct graph *sub, bool *needed) {
    for (size_t v = 1; sub && v < sub->values.n; v++)
        needed[sub->values.at[v].outer.i] = true; // [0] is unused
}

static void need_operands(const struct node *n, bool *needed) {
    for (uint32_t k = 0; k < n->n_in; k++)
        needed[n->in[k].i] = true;
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        const struct attr *a = &n->attrs[k];
        if (a->kind == ATTR_GRAPH && !a->ref)
            need_captured(a->g, needed);
        for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n; s++)
            need_captured(a->graphs[s], needed);
    }
}

static bool is_live(const struct node *n, const bool *needed) {
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i && needed[n->out[k].i])
            return true;
    return false;
}

static bool is_defined(const struct value *v) {
    return v->def.i || v->is_input || v->is_output || v->init || v->sparse_init || v->outer.i;
}

// Drops captures that are dead, and declarations of values that are no longer defined. `was`:
// values defined before.
static void drop_dead_values(struct graph *g, const bool *needed, const bool *was) {
    for (size_t v = 1; v < g->values.n; v++)
        if (!needed[v] && !g->values.at[v].has_info)
            g->values.at[v].outer = VALUE_NONE;
    size_t n = 0;
    for (size_t i = 0; i < g->infos.n; i++) {
        struct value *v = graph_value(g, g->infos.at[i]);
        v->has_info = is_defined(v) || !was[g->infos.at[i].i];
        if (v->has_info)
            g->infos.at[n++] = g->infos.at[i];
    }
    g->infos.n = n;
}

static status dce_graph(struct graph *g, struct pass_context *c, int64_t *n_removed) {
    bool *needed = ARENA_ARRAY(c->arena, bool, g->values.n);
    bool *was = ARENA_ARRAY(c->arena, bool, g->values.n);
    if (!needed || !was)
        return diag_out_of_memory(c->diags);
    for (size_t v = 1; v < g->values.n; v++)
        was[v] = is_defined(&g->values.at[v]);
    for (size_t i = 0; i < g->outputs.n; i++)
        needed[g->outputs.at[i].i] = true;
    for (size_t i = g->order.n; i-- > 0;) {
        node_id id = g->order.at[i];
        struct node *n = graph_node(g, id);
        if (!is_live(n, needed)) {
            graph_remove_node(g, id);
            ++*n_removed;
            continue;
        }
        status st = dce_subgraphs(n, c, n_removed);
        if (st)
            return st;
        need_operands(n, needed);
    }
    graph_sweep(g);
    for (size_t i = 0; i < g->inputs.n; i++) // inputs stay, also those with an initializer
        needed[g->inputs.at[i].i] = true;
    graph_keep_inits(g, needed);
    drop_dead_values(g, needed, was);
    return ST_OK;
}

static status run(struct model *m, struct pass_context *c) {
    int64_t n_removed = 0;
    status st = dce_graph(m->graph, c, &n_removed);
    for (size_t i = 0; i < m->functions.n && !st; i++)
        st = dce_graph(m->functions.at[i].body, c, &n_removed);
    pass_progress(c, "dce: %lld nodes removed", (long long)n_removed);
    return st;
}

const struct pass pass_dce = {
    .name = "dce",
    .summary = "remove dead nodes and initializers",
    .needs = FACT_TOPO,
    .run = run,
};
