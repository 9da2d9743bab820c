// Outputs that nobody reads, such as the indices of a MaxPool whose repetition gives its own to the
// backward pass. ONNX Runtime computes them, and since it frees a tensor behind its last reader, it
// never frees them. Those that an operator may leave out are left out. Not the mask of a Dropout,
// which keeps it random (rewrite_masks.c); nor what says by its number of outputs what to do.
#include "passes/rewrite/rewrite.h"

static bool may_drop(const struct node *n, uint32_t k) {
    if (n->op == OP_UNKNOWN || n->op == OP_Dropout || n->op == OP_Split ||
        n->op == OP_BatchNormalization || op_info(n->op)->flags & OPF_CONTROL)
        return false;
    return k > 0 && k >= (uint32_t)op_info(n->op)->min_out;
}

void rewrite_drop_results(struct graph *g, struct node *n, const bool *is_read) {
    for (uint32_t k = n->n_out; k-- > 0;) {
        value_id v = n->out[k];
        if ((v.i && is_read[v.i]) || !may_drop(n, k))
            continue;
        if (v.i)
            graph_value(g, v)->def = NODE_NONE;
        n->out[k] = VALUE_NONE;
        n->n_out -= k + 1 == n->n_out;
    }
}

status rewrite_drop_unread(struct rewrite *r) {
    struct graph *g = r->g;
    struct uses uses;
    bool *is_read = ARENA_ARRAY(r->c->arena, bool, g->values.n);
    if (!is_read || !graph_uses(g, r->c->arena, &uses))
        return diag_no_room(r->c->diags);
    for (uint32_t v = 1; v < g->values.n; v++)
        is_read[v] = uses.start[v + 1] > uses.start[v] || graph_value(g, (value_id){v})->is_output;
    for (size_t i = 0; i < g->order.n; i++)
        rewrite_drop_results(g, graph_node(g, g->order.at[i]), is_read);
    return ST_OK;
}
