// The pass `mixed`: with --mixed, the matrix work of a 32-bit model in 16 bits, as frameworks'
// automatic mixed precision does it. One walk along the order. Products (MatMul, Gemm, Conv, …)
// read 16-bit casts of their operands; operators that lose nothing by it (activations, sums, moves
// of data) follow when all their data are 16-bit already; everything else, such as normalizations,
// Softmax and the loss, stays in 32 bits and reads casts back. Parameters stay 32-bit inputs, so
// that they are the master copies, and the optimizer's state and the model's outputs have 32 bits.
// What is kept for the backward pass of a product are its 16-bit operands.
#include <math.h>
#include <string.h>

#include "ir/build.h"
#include "passes/param/param_roles.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

#define MAX_CONSTANT 64 // elements of a constant that are checked for the range
#define MAX_F16      65504.0

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"mixed", 0, OPTION_CHOICE, "none|f16|bf16", "none", 0, 0,
     "compute products of a 32-bit model in 16 bits; parameters, their updates and the loss stay "
     "in 32; f16 with an optimizer: --loss-scale dynamic unless another one is given"},
    {0}};

enum kind { KEEPS, FOLLOWS, PRODUCT };

struct mixed {
    struct graph *g;
    struct builder b;
    struct pass_context *c;
    enum elem low_elem;
    value_id *low;   // per value: its 16-bit form, or VALUE_NONE
    bool *made_low;  // per value: it is computed in 16 bits
    size_t n_values; // of the graph before
    struct param_role *roles;
    int64_t n_products, n_followers;
};

static enum kind kind_of(enum op op) {
    switch (op) {
    case OP_MatMul:
    case OP_Gemm:
    case OP_Conv:
    case OP_ConvTranspose:
    case OP_Einsum:
        return PRODUCT;
    case OP_Abs:
    case OP_Add:
    case OP_Concat:
    case OP_DepthToSpace:
    case OP_Dropout:
    case OP_Expand:
    case OP_Flatten:
    case OP_Identity:
    case OP_LeakyRelu:
    case OP_Max:
    case OP_MaxPool:
    case OP_Min:
    case OP_Mul:
    case OP_Neg:
    case OP_Relu:
    case OP_Reshape:
    case OP_Sigmoid:
    case OP_Slice:
    case OP_SpaceToDepth:
    case OP_Split:
    case OP_Squeeze:
    case OP_Sub:
    case OP_Tanh:
    case OP_Transpose:
    case OP_Unsqueeze:
        return FOLLOWS;
    default:
        return KEEPS;
    }
}

static bool is_wide(const struct mixed *x, value_id v) {
    const struct type *t = v.i ? graph_value(x->g, v)->type : NULL;
    return t && t->kind == TYPE_TENSOR && t->elem == ELEM_F32;
}

// Operands that are settings, not data.
static bool is_setting(const struct node *n, uint32_t k) {
    return n->op == OP_Dropout && k == 1;
}

// A parameter, or a constant whose numbers 16 bits can hold: not the bound of a mask.
static bool can_cast(const struct mixed *x, value_id v) {
    const struct tensor *t = graph_value(x->g, v)->init;
    double *numbers;
    int64_t n;
    if (!t || v.i >= x->n_values || !tensor_elements(t, &n))
        return false;
    if (x->roles[v.i].what && x->roles[v.i].kind == PARAM_PARAMETER)
        return true;
    struct diags ignored = diags_make(x->c->arena);
    if (n > MAX_CONSTANT || tensor_reals(t, x->c->arena, &ignored, &numbers))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(numbers[i]) <= MAX_F16))
            return false;
    return true;
}

// Operators that have no bfloat16 before operator set 22, nor do their gradients.
static bool needs_opset_22(enum op op) {
    return op == OP_Conv || op == OP_ConvTranspose || op == OP_MaxPool || op == OP_Einsum;
}

// Whether a node is computed in 16 bits.
static bool goes_low(const struct mixed *x, const struct node *n) {
    bool is_late =
        x->low_elem == ELEM_BF16 && needs_opset_22(n->op) && model_opset(x->g->model, "") < 22;
    enum kind kind = is_late ? KEEPS : kind_of(n->op);
    bool any = false, all = true;
    for (uint32_t k = 0; k < n->n_in; k++) {
        if (!is_wide(x, n->in[k]) || is_setting(n, k))
            continue;
        any |= x->made_low[n->in[k].i];
        all &= x->made_low[n->in[k].i] || can_cast(x, n->in[k]);
    }
    bool has_result = n->n_out && is_wide(x, n->out[0]);
    return has_result && (kind == PRODUCT || (kind == FOLLOWS && any && all));
}

static value_id low_form(struct mixed *x, value_id v) {
    if (!x->low[v.i].i) {
        x->b.scope = "mixed";
        x->low[v.i] = build_op(&x->b, "Cast", VALUES(v), ATTRS(attr_int("to", x->low_elem)));
    }
    return x->low[v.i];
}

// The result of a node that goes low gets a 16-bit value of its own.
static void make_low_result(struct mixed *x, node_id id, uint32_t k) {
    struct arena *a = x->g->model->arena;
    value_id y = graph_node(x->g, id)->out[k];
    const struct type *t = graph_value(x->g, y)->type;
    const struct type *low = type_tensor(a, x->low_elem, t->dims, t->rank);
    char *stem = str_format(a, "%s.low", graph_value(x->g, y)->name);
    const char *name = stem ? graph_fresh_name(x->g, stem) : NULL;
    value_id v = name && low ? graph_add_value(x->g, name, low) : VALUE_NONE;
    if (!v.i) {
        x->b.failed = diag_out_of_memory(x->c->diags);
        return;
    }
    graph_node(x->g, id)->out[k] = v;
    graph_value(x->g, v)->def = id;
    graph_value(x->g, v)->def_slot = k;
    graph_value(x->g, y)->def = NODE_NONE;
    x->low[y.i] = v;
    x->made_low[y.i] = true;
}

static void lower(struct mixed *x, node_id id) {
    uint32_t n_in = graph_node(x->g, id)->n_in, n_out = graph_node(x->g, id)->n_out;
    for (uint32_t k = 0; k < n_in && !x->b.failed; k++) {
        value_id v = graph_node(x->g, id)->in[k];
        if (!is_wide(x, v) || is_setting(graph_node(x->g, id), k))
            continue;
        value_id low = low_form(x, v); // moves the nodes
        graph_node(x->g, id)->in[k] = low;
    }
    for (uint32_t k = 0; k < n_out && !x->b.failed; k++)
        if (is_wide(x, graph_node(x->g, id)->out[k]))
            make_low_result(x, id, k);
}

// Casts back, where 32 bits are still read, or are an output.
static status widen(struct mixed *x) {
    struct uses uses;
    if (!graph_uses(x->g, x->c->arena, &uses))
        return diag_out_of_memory(x->c->diags);
    for (uint32_t v = 1; v < x->n_values; v++) {
        value_id y = {v};
        if (!x->made_low[v] ||
            (uses.start[v] == uses.start[v + 1] && !graph_value(x->g, y)->is_output))
            continue;
        node_id n = graph_add_node(x->g, "", "Cast", VALUES(x->low[v]), VALUES(y));
        if (!n.i ||
            !graph_set_attr(x->g, n, attr_int(pool_intern(x->g->model->pool, "to"), ELEM_F32)))
            return diag_out_of_memory(x->c->diags);
    }
    return graph_sort(x->g, x->c->diags);
}

static status run(struct model *m, struct pass_context *c) {
    const char *kind = options_text(c->options, "mixed");
    struct graph *g = m->graph;
    struct mixed x = {.g = g, .b = builder_make(g, c->diags), .c = c, .n_values = g->values.n};
    if (strcmp(kind, "none") == 0)
        return ST_OK;
    x.b.infer = shape_infer;
    x.low_elem = strcmp(kind, "f16") == 0 ? ELEM_F16 : ELEM_BF16;
    x.low = ARENA_ARRAY(c->arena, value_id, x.n_values);
    x.made_low = ARENA_ARRAY(c->arena, bool, x.n_values);
    x.roles = param_roles(g, c->arena);
    if (!x.low || !x.made_low || !x.roles)
        return diag_out_of_memory(c->diags);
    size_t n_nodes = g->order.n;
    for (size_t i = 0; i < n_nodes && !x.b.failed; i++) {
        node_id id = g->order.at[i];
        if (!goes_low(&x, graph_node(g, id)))
            continue;
        bool is_product = kind_of(graph_node(g, id)->op) == PRODUCT;
        x.n_products += is_product;
        x.n_followers += !is_product;
        lower(&x, id);
    }
    if (x.b.failed)
        return x.b.failed;
    if (!x.n_products)
        return diag_error(
            c->diags, DIAG_USAGE, loc_file(m->path),
            "--mixed %s: the model has no product of 32-bit floats%s", kind,
            x.low_elem == ELEM_BF16 ? "; convolutions have bfloat16 from operator set 22 on" : "");
    pass_progress(c, "mixed: %lld products and %lld other nodes in %s", (long long)x.n_products,
                  (long long)x.n_followers, kind);
    return widen(&x);
}

const struct pass pass_mixed = {
    .name = "mixed",
    .summary = "compute products in 16 bits, parameters and loss in 32",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
