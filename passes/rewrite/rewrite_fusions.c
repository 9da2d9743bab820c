// Prevents fusions that only a plan makes possible. ONNX Runtime fuses the parts of a Gelu or of a
// normalization when the values between them have no other reader, and the fused kernel rounds
// differently. In the baseline step the backward pass reads these values. In a plan it may read a
// recomputation instead: then the first computation would be fused and the recomputation not, and
// the two would differ in the last bits, from each other and from the baseline step. So a value
// between such parts that is newly fusible, having fewer readers than in the baseline step, is read
// through an alias, which prevents the fusion.
#include "passes/rewrite/rewrite.h"

// The operators that the fusions are built around.
static bool is_centre(enum op op) {
    return op == OP_Erf || op == OP_Tanh || op == OP_Sigmoid || op == OP_Sqrt ||
           op == OP_LayerNormalization;
}

static bool made_by_centre(const struct graph *g, value_id v) {
    node_id def = v.i ? graph_value(g, v)->def : NODE_NONE;
    return def.i && is_centre(graph_node(g, def)->op);
}

// Whether the value between two nodes is next to a centre: read by it, made by it, or made from its
// result.
static bool is_inner(const struct graph *g, const struct node *maker, const struct node *reader) {
    bool inner = is_centre(maker->op);
    // Not a Conv: fused with an activation, it stays exact.
    if (op_info(maker->op)->flags & OPF_ELEMENTWISE)
        inner |= is_centre(reader->op);
    for (uint32_t k = 0; k < maker->n_in; k++)
        inner |= made_by_centre(g, maker->in[k]);
    return inner;
}

static node_id origin(const struct graph *g, node_id id) {
    node_id of = graph_node(g, id)->again;
    return of.i ? of : id;
}

// Per original node: the only reader of its results and those of its recomputations, taken as the
// original of that reader; the node itself when there are several readers.
static node_id *only_readers(const struct rewrite *r, const struct uses *uses) {
    const struct graph *g = r->g;
    node_id *only = ARENA_ARRAY(r->c->arena, node_id, g->nodes.n);
    for (size_t i = 0; only && i < g->order.n; i++) {
        node_id id = g->order.at[i], of = origin(g, id);
        const struct node *n = graph_node(g, id);
        if (!n->n_out || !n->out[0].i)
            continue;
        for (uint32_t u = uses->start[n->out[0].i]; u < uses->start[n->out[0].i + 1]; u++) {
            node_id reader = origin(g, uses->node[u]);
            only[of.i] = !only[of.i].i || only[of.i].i == reader.i ? reader : of;
        }
        if (graph_value(g, n->out[0])->is_output)
            only[of.i] = of;
    }
    return only;
}

status rewrite_find_fusible(struct rewrite *r) {
    struct graph *g = r->g;
    const struct uses *uses = &r->uses;
    r->newly_fusible = ARENA_ARRAY(r->c->arena, bool, g->values.n);
    node_id *only = only_readers(r, uses);
    if (!r->newly_fusible || !only)
        return diag_out_of_memory(r->c->diags);
    for (size_t i = 0; i < g->order.n; i++) {
        node_id id = g->order.at[i];
        const struct node *n = graph_node(g, id);
        value_id v = n->n_out == 1 ? n->out[0] : VALUE_NONE;
        if (!v.i || graph_value(g, v)->is_output || uses->start[v.i + 1] != uses->start[v.i] + 1)
            continue;
        bool had_more = only[origin(g, id).i].i == origin(g, id).i;
        r->newly_fusible[v.i] =
            had_more && is_inner(g, n, graph_node(g, uses->node[uses->start[v.i]]));
    }
    return ST_OK;
}

void rewrite_prevent_fusion(struct rewrite *r, node_id reader) {
    uint32_t n_in = graph_node(r->g, reader)->n_in;
    value_id *in = graph_node(r->g, reader)->in;
    for (uint32_t k = 0; k < n_in && !r->b.failed; k++) {
        if (!in[k].i || in[k].i >= r->n_vals || !r->newly_fusible[in[k].i] ||
            !rewrite_can_anchor(r->g, in[k]))
            continue;
        value_id token = rewrite_hiding_token(r);
        if (token.i)
            in[k] = rewrite_anchor(r, in[k], token);
        r->n_unfused += token.i != 0;
    }
}
