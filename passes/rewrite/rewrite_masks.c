// Keeps random Dropouts. ONNX Runtime removes a Dropout whose mask is dead, even in training mode,
// where it is random: the results would be wrong. So the mask is always read: the first reader of
// the Dropout's result reads it through an alias that exists only after the mask.
#include "passes/rewrite/rewrite.h"
#include "passes/shape/shape.h"

static bool is_random(const struct rewrite *r, node_id id) {
    const struct node *n = graph_node(r->g, id);
    struct shape s = {r->g, id, n, r->c->arena, r->c->diags, 0};
    double on;
    bool has_mode = n->op == OP_Dropout && n->n_in > 2 && n->in[2].i;
    return has_mode && (!shape_real(&s, 2, &on) || on != 0);
}

static value_id add_mask(struct rewrite *r, node_id id) {
    struct graph *g = r->g;
    struct arena *a = g->model->arena;
    struct node *n = graph_node(g, id);
    const struct type *y = n->out[0].i ? graph_value(g, n->out[0])->type : NULL;
    const struct type *t = y ? type_tensor(a, ELEM_BOOL, y->dims, y->rank) : NULL;
    const char *like = y ? str_format(a, "%s.mask", graph_value(g, n->out[0])->name) : NULL;
    const char *name = like ? graph_fresh_name(g, like) : NULL;
    value_id v = name && t ? graph_add_value(g, name, t) : VALUE_NONE;
    value_id *out = ARENA_ARRAY(a, value_id, 2);
    if (!v.i || !out)
        return VALUE_NONE;
    out[0] = n->out[0];
    out[1] = v;
    n->out = out;
    n->n_out = 2;
    graph_value(g, v)->def = id;
    graph_value(g, v)->def_slot = 1;
    return v;
}

status rewrite_add_masks(struct rewrite *r) {
    struct graph *g = r->g;
    struct uses uses;
    r->unread_mask = ARENA_ARRAY(r->c->arena, value_id, g->nodes.n);
    if (!r->unread_mask || !graph_uses(g, r->c->arena, &uses))
        return diag_out_of_memory(r->c->diags);
    for (size_t i = 0; i < g->order.n; i++) {
        node_id id = g->order.at[i];
        const struct node *n = graph_node(g, id);
        if (!is_random(r, id))
            continue;
        value_id mask = n->n_out > 1 ? n->out[1] : VALUE_NONE;
        bool is_read = mask.i && (uses.start[mask.i + 1] > uses.start[mask.i] ||
                                  graph_value(g, mask)->is_output);
        if (!is_read && !mask.i && !(mask = add_mask(r, id)).i)
            return diag_out_of_memory(r->c->diags);
        if (!is_read)
            r->unread_mask[id.i] = mask;
    }
    return ST_OK;
}

void rewrite_read_masks(struct rewrite *r, node_id reader) {
    uint32_t n_in = graph_node(r->g, reader)->n_in;
    value_id *in = graph_node(r->g, reader)->in;
    for (uint32_t k = 0; k < n_in && !r->b.failed; k++) {
        node_id def = in[k].i ? graph_value(r->g, in[k])->def : NODE_NONE;
        if (!def.i || def.i >= r->n_nodes || !r->unread_mask[def.i].i)
            continue;
        value_id token = rewrite_empty(r, r->unread_mask[def.i]);
        r->unread_mask[def.i] = VALUE_NONE;
        in[k] = rewrite_anchor(r, in[k], token);
    }
}
