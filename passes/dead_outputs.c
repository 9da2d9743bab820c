// Dead outputs: see dead_outputs.h.
#include "passes/dead_outputs.h"

bool dead_outputs_may_drop(const struct node *n, uint32_t k) {
    if (n->op == OP_UNKNOWN || n->op == OP_Dropout || n->op == OP_Split ||
        n->op == OP_BatchNormalization || op_info(n->op)->flags & OPF_CONTROL)
        return false;
    return k > 0 && k >= (uint32_t)op_info(n->op)->min_out;
}

void dead_outputs_drop(struct graph *g, struct node *n, const bool *is_live) {
    for (uint32_t k = n->n_out; k-- > 0;) {
        value_id v = n->out[k];
        if ((v.i && is_live[v.i]) || !dead_outputs_may_drop(n, k))
            continue;
        if (v.i)
            graph_value(g, v)->def = NODE_NONE;
        n->out[k] = VALUE_NONE;
        n->n_out -= k + 1 == n->n_out;
    }
}
