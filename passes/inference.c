// The pass `inference`: training mode off. BatchNormalization normalizes with its running
// statistics and no longer computes new ones, Dropout does nothing. It holds for subgraphs and
// functions, and for the forms of all operator sets from 7 on.
#include "ir/build.h"
#include "passes/pass.h"

struct inference {
    struct pass_context *c;
    const struct model *m;
    int64_t n_changed;
    status st;
};

// Only the first output is computed outside of training.
static status drop_statistics(struct inference *x, struct graph *g, node_id id,
                              const struct uses *uses) {
    struct node *n = graph_node(g, id);
    for (uint32_t k = 1; k < n->n_out; k++) {
        value_id v = n->out[k];
        if (!v.i)
            continue;
        if (graph_value(g, v)->is_output || uses->start[v.i] < uses->start[v.i + 1])
            return diag_error(
                x->c->diags, DIAG_UNSUPPORTED, loc_path(x->m->path, node_path(g, id, x->c->arena)),
                "output %u, a statistic of the batch, is read, but there is none when "
                "training mode is off",
                k);
        graph_value(g, v)->def = NODE_NONE;
    }
    n->n_out = 1;
    return ST_OK;
}

static status stop_normalization(struct inference *x, struct graph *g, node_id id,
                                 const struct uses *uses) {
    struct node *n = graph_node(g, id);
    bool trains = node_int(n, "training_mode", 0) != 0;
    const char *name = pool_intern(x->m->pool, "training_mode");
    if (!trains && n->n_out < 2)
        return ST_OK;
    x->n_changed++;
    status st = drop_statistics(x, g, id, uses);
    if (st || !trains)
        return st;
    struct attr off = attr_int(name, 0);
    return name && graph_set_attr(g, id, off) ? ST_OK : diag_out_of_memory(x->c->diags);
}

static void stop_dropout(struct inference *x, struct graph *g, node_id id) {
    struct node *n = graph_node(g, id);
    if (n->n_in < 3) // its third input switches it on
        return;
    n->n_in = 2;
    while (n->n_in > 1 && !n->in[n->n_in - 1].i)
        n->n_in--;
    x->n_changed++;
}

static status switch_graph(struct inference *x, struct graph *g) {
    struct uses uses;
    status st = graph_uses(g, x->c->arena, &uses) ? ST_OK : diag_out_of_memory(x->c->diags);
    for (size_t i = 0; i < g->order.n && !st; i++) {
        node_id id = g->order.at[i];
        struct graph *sub;
        enum op op = graph_node(g, id)->op;
        if (op == OP_BatchNormalization)
            st = stop_normalization(x, g, id, &uses);
        else if (op == OP_Dropout)
            stop_dropout(x, g, id);
        for (size_t k = 0; !st && (sub = node_subgraph(graph_node(g, id), k)); k++)
            st = switch_graph(x, sub);
    }
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    struct inference x = {.c = c, .m = m};
    status st = switch_graph(&x, m->graph);
    for (size_t i = 0; i < m->functions.n && !st; i++)
        st = switch_graph(&x, m->functions.at[i].body);
    if (!st && x.n_changed)
        st = pass_run(&pass_dce, m, c); // the constants that switched training on
    pass_progress(c, "inference: training mode off in %lld nodes", (long long)x.n_changed);
    return st;
}

const struct pass pass_inference = {
    .name = "inference",
    .summary = "switch training mode off: BatchNormalization, Dropout",
    .needs = FACT_TOPO,
    .run = run,
};
