// Model of constant folding: a node whose operands are all constants is computed when the session
// is made, and its results become initializers. One pass over the order, which must be topological.
#include "ir/runtime/runtime_fold.h"

#include <assert.h>

static bool is_constant(const struct graph *g, value_id id) {
    const struct value *v = graph_value(g, id);
    return (v->init && !v->is_input) || (v->def.i && graph_node(g, v->def)->op == OP_Constant);
}

static bool is_folded(const struct graph *g, const struct node *n) {
    if (n->op == OP_UNKNOWN || n->op == OP_Constant ||
        op_info(n->op)->flags & (OPF_RANDOM | OPF_CONTROL))
        return false;
    bool reads = false;
    for (uint32_t k = 0; k < n->n_in; k++) {
        if (n->in[k].i && !is_constant(g, n->in[k]))
            return false;
        reads |= n->in[k].i != 0;
    }
    return reads;
}

bool runtime_folds(const struct graph *g) {
    assert(g);
    for (size_t i = 0; i < g->order.n; i++)
        if (is_folded(g, graph_node(g, g->order.at[i])))
            return true;
    return false;
}

void runtime_fold(struct graph *g) {
    assert(g);
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        if (is_folded(g, n)) {
            n->op = OP_Constant;
            n->n_in = 0;
        }
    }
}
