// Model of the fusions of ONNX Runtime's optimization levels extended and all that change peak
// memory. Each removes a tensor that exists at the levels disabled and basic:
//   - the five nodes of a Gelu by Erf, and x * Sigmoid(x), also with a scaled x: Gelu, QuickGelu;
//   - Conv or Gemm with an activation that is the only reader of its result: FusedConv, FusedGemm;
//   - MatMul with a multiplication by a scalar constant, of its result or of an operand;
//   - MatMul with a Transpose of the last two dimensions of an operand: FusedMatMul reads the
//     operand of the Transpose, whose lifetime grows; the Transpose is removed unless it has other
//     readers.
// Pattern matching in three passes over the order: activations first, then operands of MatMul, then
// the operations on results. Other fusions need known shapes; passes/rewrite hides shapes, which
// prevents them.
#include "ir/runtime/runtime_fuse.h"

#include <assert.h>
#include <math.h>

#define SQRT_2       1.4142135623730951
#define NUMBER_ERROR 1e-5

struct fuse {
    struct graph *g;
    struct arena *a;
    struct diags *d;
    uint32_t *n_reads; // by value
};

static bool is_activation(enum op op) {
    return op == OP_Relu || op == OP_Sigmoid || op == OP_Tanh || op == OP_LeakyRelu ||
           op == OP_HardSigmoid;
}

static void count_read(void *to, value_id v, node_id user) {
    (void)user;
    ((uint32_t *)to)[v.i]++;
}

// The producer of v when v has a single reader and is no output; else NULL.
static struct node *sole_producer(const struct fuse *f, value_id v) {
    const struct value *at = v.i ? graph_value(f->g, v) : NULL;
    bool sole = at && at->def.i && f->n_reads[v.i] == 1 && !at->is_output;
    return sole ? graph_node(f->g, at->def) : NULL;
}

static bool is_f32(const struct fuse *f, value_id v) {
    const struct type *t = graph_value(f->g, v)->type;
    return t && t->elem == ELEM_F32;
}

static bool is_scalar(const struct fuse *f, const struct node *n, uint32_t k) {
    const struct value *v = k < n->n_in && n->in[k].i ? graph_value(f->g, n->in[k]) : NULL;
    int64_t n_elements;
    return v && v->init && !v->is_input && tensor_elements(v->init, &n_elements) && n_elements == 1;
}

// The scaled operand of a multiplication or division by a scalar constant; n_in: `n` is neither.
static uint32_t scaled_operand(const struct fuse *f, const struct node *n) {
    if ((n->op == OP_Mul || n->op == OP_Div) && is_scalar(f, n, 1))
        return 0;
    return n->op == OP_Mul && is_scalar(f, n, 0) ? 1 : n->n_in;
}

// `first` produces the result of `second` directly; `second` is removed.
static status absorb(struct fuse *f, struct node *first, node_id first_id, node_id second) {
    value_id *out = arena_copy(f->a, graph_node(f->g, second)->out, sizeof *out);
    if (!out)
        return diag_out_of_memory(f->d);
    graph_remove_node(f->g, second);
    graph_value(f->g, first->out[0])->def = NODE_NONE;
    graph_value(f->g, out[0])->def = first_id;
    graph_value(f->g, out[0])->def_slot = 0;
    first->out = out;
    first->n_out = 1;
    return ST_OK;
}

// Fuses an activation or a scaling into the producer of its operand.
static status fuse_result(struct fuse *f, node_id id) {
    struct node *n = graph_node(f->g, id);
    uint32_t k = is_activation(n->op) ? 0 : scaled_operand(f, n);
    struct node *before = k < n->n_in ? sole_producer(f, n->in[k]) : NULL;
    if (!before || !is_f32(f, n->out[0]) || n->n_out != 1 || before->n_out != 1)
        return ST_OK;
    bool fits = is_activation(n->op) ? before->op == OP_Conv || before->op == OP_Gemm
                                     : before->op == OP_MatMul;
    return fits ? absorb(f, before, graph_value(f->g, n->in[k])->def, id) : ST_OK;
}

// Whether operand k is a constant of about this value.
static bool is_number(const struct fuse *f, const struct node *n, uint32_t k, double number) {
    double *at;
    return is_scalar(f, n, k) &&
           tensor_reals(graph_value(f->g, n->in[k])->init, f->a, f->d, &at) == ST_OK &&
           fabs(*at - number) < NUMBER_ERROR * number;
}

// The operand that this node combines with the number; n_in: it does no such thing.
static uint32_t beside_number(const struct fuse *f, const struct node *n, enum op op,
                              double number) {
    if (n->op != op || n->n_in != 2)
        return n->n_in;
    if (is_number(f, n, 1, number))
        return 0;
    return op != OP_Div && is_number(f, n, 0, number) ? 1 : n->n_in;
}

// The operand through which only this node reads the result of an `op`; n_in: there is none.
static uint32_t sole_operand(const struct fuse *f, const struct node *n, enum op op) {
    uint32_t k = 0;
    const struct node *producer;
    while (k < n->n_in && (!(producer = sole_producer(f, n->in[k])) || producer->op != op))
        k++;
    return k;
}

// Gives the chain of nodes that ends with `last`, each the sole reader of the one before, to its
// first node.
static status absorb_chain(struct fuse *f, const node_id *chain, size_t n, node_id last) {
    status st = ST_OK;
    for (size_t i = 1; i <= n && !st; i++)
        st = absorb(f, graph_node(f->g, chain[0]), chain[0], i < n ? chain[i] : last);
    return st;
}

// x / sqrt(2), Erf, + 1, * x, * 0.5
static status fuse_gelu(struct fuse *f, node_id id) {
    struct graph *g = f->g;
    const struct node *last = graph_node(g, id);
    uint32_t k = beside_number(f, last, OP_Mul, 0.5);
    const struct node *product = k < last->n_in ? sole_producer(f, last->in[k]) : NULL;
    uint32_t j = product && product->op == OP_Mul ? sole_operand(f, product, OP_Add) : UINT32_MAX;
    if (!product || product->op != OP_Mul || j >= product->n_in || !is_f32(f, last->out[0]))
        return ST_OK;
    const struct node *sum = graph_node(g, graph_value(g, product->in[j])->def);
    uint32_t i = beside_number(f, sum, OP_Add, 1);
    const struct node *erf = i < sum->n_in ? sole_producer(f, sum->in[i]) : NULL;
    const struct node *part = erf && erf->op == OP_Erf ? sole_producer(f, erf->in[0]) : NULL;
    uint32_t x = part ? beside_number(f, part, OP_Div, SQRT_2) : UINT32_MAX;
    if (part && x >= part->n_in)
        x = beside_number(f, part, OP_Mul, 1 / SQRT_2);
    if (!part || x >= part->n_in || part->in[x].i != product->in[1 - j].i)
        return ST_OK;
    node_id chain[] = {graph_value(g, erf->in[0])->def, graph_value(g, sum->in[i])->def,
                       graph_value(g, product->in[j])->def, graph_value(g, last->in[k])->def};
    f->n_reads[part->in[x].i]--;
    return absorb_chain(f, chain, sizeof chain / sizeof *chain, id);
}

// x * Sigmoid(x)
static status fuse_quick_gelu(struct fuse *f, node_id id) {
    struct graph *g = f->g;
    const struct node *last = graph_node(g, id);
    uint32_t k = last->op == OP_Mul && last->n_in == 2 ? sole_operand(f, last, OP_Sigmoid) : 2;
    if (k >= 2 || !is_f32(f, last->out[0]))
        return ST_OK;
    node_id chain[2] = {graph_value(g, last->in[k])->def};
    size_t n = 1;
    const struct node *sigmoid = graph_node(g, chain[0]), *scale = sole_producer(f, sigmoid->in[0]);
    uint32_t through = scale ? scaled_operand(f, scale) : 0;
    value_id x = sigmoid->in[0];
    if (scale && scale->op == OP_Mul && through < scale->n_in) {
        chain[1] = chain[0];
        chain[0] = graph_value(g, x)->def;
        x = scale->in[through];
        n = 2;
    }
    if (x.i != last->in[1 - k].i)
        return ST_OK;
    f->n_reads[x.i]--;
    return absorb_chain(f, chain, n, id);
}

static bool swaps_last_two(const struct node *n) {
    const struct attr *perm = node_attr(n, "perm");
    if (n->op != OP_Transpose || !perm || perm->kind != ATTR_INTS || perm->n < 2)
        return false;
    int64_t rank = (int64_t)perm->n;
    for (int64_t i = 0; i < rank - 2; i++)
        if (perm->ints[i] != i)
            return false;
    return perm->ints[rank - 2] == rank - 1 && perm->ints[rank - 1] == rank - 2;
}

// Replaces operand k of MatMul `id` by operand `through` of its producer; removes the producer when
// it has no other reader.
static status read_through(struct fuse *f, node_id id, uint32_t k, uint32_t through) {
    struct node *n = graph_node(f->g, id);
    value_id old = n->in[k];
    node_id producer = graph_value(f->g, old)->def;
    value_id *in = arena_copy(f->a, n->in, n->n_in * sizeof *in);
    if (!in)
        return diag_out_of_memory(f->d);
    n->in = in;
    in[k] = graph_node(f->g, producer)->in[through];
    f->n_reads[in[k].i]++;
    if (--f->n_reads[old.i] == 0 && !graph_value(f->g, old)->is_output) {
        f->n_reads[in[k].i]--;
        graph_remove_node(f->g, producer);
    }
    return ST_OK;
}

// Fuses scalings and transposes of operands into a MatMul.
static status fuse_operands(struct fuse *f, node_id id) {
    struct node *n = graph_node(f->g, id);
    status st = ST_OK;
    for (uint32_t k = 0; n->op == OP_MatMul && k < 2 && !st; k++) {
        if (!is_f32(f, n->in[k]))
            return ST_OK;
        const struct node *scale = sole_producer(f, n->in[k]);
        uint32_t through = scale ? scaled_operand(f, scale) : 0;
        if (scale && through < scale->n_in)
            st = read_through(f, id, k, through);
        node_id def = graph_value(f->g, n->in[k])->def;
        if (!st && def.i && swaps_last_two(graph_node(f->g, def)))
            st = read_through(f, id, k, 0);
    }
    return st;
}

status runtime_fuse(struct graph *g, struct arena *a, struct diags *d) {
    assert(g && a && d);
    struct fuse f = {g, a, d, ARENA_ARRAY(a, uint32_t, g->values.n)};
    status st = f.n_reads ? ST_OK : diag_out_of_memory(d);
    for (size_t i = 0; i < g->order.n && !st; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_in; k++)
            f.n_reads[n->in[k].i]++;
        node_captured(g, g->order.at[i], count_read, f.n_reads);
    }
    for (size_t i = 0; i < g->order.n && !st; i++) {
        st = fuse_gelu(&f, g->order.at[i]); // at the last of its nodes: none of them is removed
        if (!st && !graph_node(g, g->order.at[i])->removed)
            st = fuse_quick_gelu(&f, g->order.at[i]);
    }
    for (size_t i = 0; i < g->order.n && !st; i++)
        if (!graph_node(g, g->order.at[i])->removed)
            st = fuse_operands(&f, g->order.at[i]);
    for (size_t i = 0; i < g->order.n && !st; i++)
        if (!graph_node(g, g->order.at[i])->removed)
            st = fuse_result(&f, g->order.at[i]);
    graph_sweep(g);
    return st;
}
