// Tensor parallelism of products, as requests: the columns of the product. In the forward pass
// these are the columns of its result, which the gradient of the operand sums over, and which are
// rows or columns of the gradient of the parameter.
#include <stdlib.h>
#include <string.h>

#include "passes/plan/divide_inner.h"
#include "passes/shard/shard.h"

bool divide_can_name(const char *name) {
    return !strpbrk(name, ",*?\n");
}

static int64_t bytes_of(const struct graph *g, value_id v) {
    int64_t n = 0;
    const struct type *t = graph_value(g, v)->type;
    return t && type_bytes(t, &n) ? n : 0;
}

static int by_bytes(const void *a, const void *b) {
    const struct divide_product *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return (x->node.i > y->node.i) - (x->node.i < y->node.i);
}

// A product is worth dividing by its parameter when that is larger than what goes in and out.
void divide_find_products(struct divider *x) {
    const struct graph *g = x->m->graph;
    for (size_t i = 0; i < g->order.n && x->n_products < DIVIDE_MAX_PRODUCTS; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if ((n->op != OP_Gemm && n->op != OP_MatMul) || n->n_in < 2 ||
            !divide_can_name(node_called(g, g->order.at[i])))
            continue;
        value_id w = n->in[1];
        bool is_parameter = graph_value(g, w)->init != NULL;
        int64_t bytes = bytes_of(g, w), moved = bytes_of(g, n->in[0]) + bytes_of(g, n->out[0]);
        if (is_parameter && bytes > moved && graph_value(g, w)->type->rank == 2)
            x->product[x->n_products++] = (struct divide_product){g->order.at[i], w, bytes};
    }
    qsort(x->product, x->n_products, sizeof *x->product, by_bytes);
}

static void add_request(struct divider *x, struct str *out, node_id n, uint32_t label) {
    const char *name = node_called(x->m->graph, n);
    if (label && divide_can_name(name))
        str_addf(out, ",%s:%u:%d", name, label, x->ways);
}

static bool is_read_label(const struct shard_rule *r, uint32_t k, int32_t dim, uint32_t *out) {
    const struct type *t = shard_in_type(r, k);
    *out = t && dim < t->rank ? r->in[k][dim].label : 0;
    return *out != 0;
}

// A node of the backward pass that reads the weight, or makes its gradient from the operand of the
// product; `at`: the dimension of the weight that is divided.
static status request_gradient(struct divider *x, struct str *out, const struct divide_product *l,
                               node_id id, int32_t at) {
    struct graph *g = x->m->graph;
    const struct node *n = graph_node(g, id), *product = graph_node(g, l->node);
    const struct type *weight = graph_value(g, l->weight)->type;
    uint32_t read_as = UINT32_MAX, label = 0;
    bool makes_gradient = false;
    for (uint32_t k = 0; k < n->n_in; k++) {
        read_as = n->in[k].i == l->weight.i ? k : read_as;
        makes_gradient |= n->in[k].i == product->in[0].i;
    }
    makes_gradient &= (n->op == OP_Gemm || n->op == OP_MatMul);
    if (read_as == UINT32_MAX && !makes_gradient)
        return ST_OK;
    struct shard_rule r;
    status st = shard_rule_of(g, id, x->c->arena, x->c->diags, &r);
    if (st || !r.n_labels)
        return st;
    const struct type *y = shard_out_type(&r, 0);
    if (read_as != UINT32_MAX)
        is_read_label(&r, read_as, at, &label);
    else if (y && y->rank == weight->rank && y->rank > at &&
             y->dims[at].size == weight->dims[at].size &&
             y->dims[1 - at].size == weight->dims[1 - at].size)
        label = r.out[0][at].label;
    add_request(x, out, id, label);
    return ST_OK;
}

status divide_request_product(struct divider *x, struct str *out, const struct divide_product *l) {
    struct graph *g = x->m->graph;
    struct shard_rule r;
    uint32_t label;
    status st = shard_rule_of(g, l->node, x->c->arena, x->c->diags, &r);
    if (st)
        return st;
    const struct type *y = shard_out_type(&r, 0);
    uint32_t columns = r.n_labels && y ? r.out[0][y->rank - 1].label : 0;
    int32_t at = 0; // where they are in the parameter
    while (is_read_label(&r, 1, at, &label) && label != columns)
        at++;
    if (!columns || label != columns)
        return ST_OK;
    add_request(x, out, l->node, columns);
    for (size_t i = 0; i < g->order.n && !st; i++)
        if (g->order.at[i].i != l->node.i)
            st = request_gradient(x, out, l, g->order.at[i], at);
    return st;
}
