// The pass `expand`: once gradients are made, activations that the model's opset lacks, or for
// which ONNX Runtime has no kernel, become formulas (passes/recognize/formulas.h). Before, they
// stay: the gradient of one operator keeps less than those of its parts.
#include "passes/pass.h"
#include "passes/recognize/formulas.h"
#include "passes/shape/shape.h"

struct expand {
    struct graph *g;
    struct builder b;
    int64_t opset;
    int64_t n_expanded;
};

// The formula of a node; VALUE_NONE: it stays.
static value_id formula_of(struct expand *x, const struct node *n) {
    const struct type *t = n->n_in ? graph_value(x->g, n->in[0])->type : NULL;
    if (!t || n->domain[0])
        return VALUE_NONE;
    switch (n->op) {
    case OP_Gelu: // has a kernel
        if (x->opset >= op_info(OP_Gelu)->since)
            return VALUE_NONE;
        return node_text(x->g, n, "approximate", "none")[0] == 't'
                   ? formula_gelu_tanh(&x->b, t->elem, n->in[0])
                   : formula_gelu(&x->b, t->elem, n->in[0]);
    case OP_HardSwish:
        return formula_hard_swish(&x->b, n->in[0]);
    case OP_Mish:
        return formula_mish(&x->b, n->in[0]);
    case OP_Swish:
        return formula_swish(&x->b, t->elem, n->in[0], node_real(n, "alpha", 1));
    default:
        return VALUE_NONE;
    }
}

// The node becomes the last one of its formula.
static void expand_node(struct expand *x, node_id id) {
    struct node old = *graph_node(x->g, id); // building moves nodes
    x->b.scope = node_called(x->g, id);
    value_id y = formula_of(x, &old);
    if (!y.i || x->b.failed)
        return;
    node_id last = graph_value(x->g, y)->def;
    struct node *n = graph_node(x->g, id), *from = graph_node(x->g, last);
    n->op = from->op;
    n->type = from->type;
    n->in = from->in;
    n->n_in = from->n_in;
    n->attrs = from->attrs;
    n->n_attrs = from->n_attrs;
    graph_value(x->g, y)->def = NODE_NONE;
    graph_remove_node(x->g, last);
    x->n_expanded++;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    size_t n = g->order.n;
    node_id *order = arena_copy(c->arena, g->order.at, n * sizeof *order);
    struct expand x = {.g = g, .b = builder_make(g, c->diags), .opset = model_opset(m, "")};
    x.b.infer = shape_infer;
    if (!order)
        return diag_out_of_memory(c->diags);
    g->order.n = 0;
    for (size_t i = 0; i < n; i++) {
        expand_node(&x, order[i]);
        if (!VEC_PUSH(m->arena, &g->order, order[i]))
            return diag_out_of_memory(c->diags);
    }
    graph_sweep(g);
    pass_progress(c, "expand: %lld nodes replaced", (long long)x.n_expanded);
    return x.b.failed;
}

const struct pass pass_expand = {
    .name = "expand",
    .summary = "write out activations that the opset or ONNX Runtime lacks",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .run = run,
};
