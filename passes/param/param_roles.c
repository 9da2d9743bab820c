// Which constant tensors are parameters: see param_roles.h. The use of a tensor decides. A table
// names the operands that operators take as weights, and those that never are; tensors that are
// added or multiplied are parameters when they have several elements and are no mask. Stages: one
// walk forward finds the values that are computed from constants alone, and those that weights have
// gone into; one walk backward carries the roles from the uses to the tensors, through views
// (Transpose, Reshape, …) and through expressions of constants (weight normalization); at last the
// elements of added and multiplied tensors are looked at.
//
// Exporters store parameters either as initializers or as Constant nodes. In a model whose weight
// matrices are initializers, results of Constant nodes are parts of formulas: anchors, tables,
// scales that the source code computes.
#include "passes/param/param_roles.h"

#include <string.h>

#include "passes/param/param_values.h"

#define ANY_SLOT UINT32_MAX

enum use {
    USE_WEIGHT, // as a parameter, of any number of elements
    USE_MATRIX, // the same; tells where this model stores its parameters
    USE_STATE,  // an initial state: learned, unless it is zero
    USE_NEVER,
};

// Rows of one operator stand together, the more special first.
static const struct row {
    enum op op;
    uint32_t slot;
    enum use use;
    const char *what;
} table[] = {
    {OP_Conv, 1, USE_MATRIX, "weight of Conv"},
    {OP_Conv, 2, USE_WEIGHT, "bias of Conv"},
    {OP_ConvTranspose, 1, USE_MATRIX, "weight of ConvTranspose"},
    {OP_ConvTranspose, 2, USE_WEIGHT, "bias of ConvTranspose"},
    {OP_DeformConv, 1, USE_MATRIX, "weight of DeformConv"},
    {OP_DeformConv, 3, USE_WEIGHT, "bias of DeformConv"},
    {OP_Gemm, 2, USE_WEIGHT, "bias of Gemm"},
    {OP_Gemm, ANY_SLOT, USE_MATRIX, "weight of Gemm"},
    {OP_MatMul, ANY_SLOT, USE_MATRIX, "weight of MatMul"},
    {OP_Einsum, ANY_SLOT, USE_MATRIX, "weight of Einsum"},
    {OP_BatchNormalization, 1, USE_WEIGHT, "scale of BatchNormalization"},
    {OP_BatchNormalization, 2, USE_WEIGHT, "bias of BatchNormalization"},
    {OP_BatchNormalization, 3, USE_NEVER, "running mean of BatchNormalization"},
    {OP_BatchNormalization, 4, USE_NEVER, "running variance of BatchNormalization"},
    {OP_InstanceNormalization, 1, USE_WEIGHT, "scale of InstanceNormalization"},
    {OP_InstanceNormalization, 2, USE_WEIGHT, "bias of InstanceNormalization"},
    {OP_LayerNormalization, 1, USE_WEIGHT, "scale of LayerNormalization"},
    {OP_LayerNormalization, 2, USE_WEIGHT, "bias of LayerNormalization"},
    {OP_GroupNormalization, 1, USE_WEIGHT, "scale of GroupNormalization"},
    {OP_GroupNormalization, 2, USE_WEIGHT, "bias of GroupNormalization"},
    {OP_RMSNormalization, 1, USE_WEIGHT, "scale of RMSNormalization"},
    {OP_PRelu, 1, USE_WEIGHT, "slope of PRelu"},
    {OP_Attention, 3, USE_NEVER, "mask of Attention"},
    {OP_Attention, ANY_SLOT, USE_WEIGHT, "operand of Attention"},
    {OP_Gather, 0, USE_WEIGHT, "table of Gather"},
    {OP_GatherElements, 0, USE_WEIGHT, "table of GatherElements"},
    {OP_GatherND, 0, USE_WEIGHT, "table of GatherND"},
    {OP_LSTM, 1, USE_MATRIX, "weight of LSTM"},
    {OP_LSTM, 2, USE_MATRIX, "recurrent weight of LSTM"},
    {OP_LSTM, 3, USE_WEIGHT, "bias of LSTM"},
    {OP_LSTM, 5, USE_STATE, "initial state of LSTM"},
    {OP_LSTM, 6, USE_STATE, "initial cell of LSTM"},
    {OP_LSTM, 7, USE_WEIGHT, "peephole of LSTM"},
    {OP_GRU, 1, USE_MATRIX, "weight of GRU"},
    {OP_GRU, 2, USE_MATRIX, "recurrent weight of GRU"},
    {OP_GRU, 3, USE_WEIGHT, "bias of GRU"},
    {OP_GRU, 5, USE_STATE, "initial state of GRU"},
    {OP_RNN, 1, USE_MATRIX, "weight of RNN"},
    {OP_RNN, 2, USE_MATRIX, "recurrent weight of RNN"},
    {OP_RNN, 3, USE_WEIGHT, "bias of RNN"},
    {OP_RNN, 5, USE_STATE, "initial state of RNN"},
    {OP_Pow, ANY_SLOT, USE_NEVER, "exponent of Pow"},
    {OP_Clip, ANY_SLOT, USE_NEVER, "bound of Clip"},
    {OP_Max, ANY_SLOT, USE_NEVER, "bound of Max"},
    {OP_Min, ANY_SLOT, USE_NEVER, "bound of Min"},
    {OP_Pad, ANY_SLOT, USE_NEVER, "padding of Pad"},
    {OP_Resize, ANY_SLOT, USE_NEVER, "scale of Resize"},
    {OP_Upsample, ANY_SLOT, USE_NEVER, "scale of Upsample"},
    {OP_Dropout, ANY_SLOT, USE_NEVER, "ratio of Dropout"},
    {OP_DequantizeLinear, ANY_SLOT, USE_NEVER, "quantization scale"},
    {OP_QuantizeLinear, ANY_SLOT, USE_NEVER, "quantization scale"},
    {OP_NegativeLogLikelihoodLoss, 2, USE_NEVER, "class weight of the loss"},
    {OP_SoftmaxCrossEntropyLoss, 2, USE_NEVER, "class weight of the loss"},
};

static const struct row *find_row(enum op op, uint32_t slot) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == op && (table[i].slot == slot || table[i].slot == ANY_SLOT))
            return &table[i];
    return NULL;
}

// How a tensor is used, with what that says of it.
enum found_kind {
    FOUND_NOTHING,
    FOUND_NEVER,
    FOUND_STATE,
    FOUND_TERM,      // multiplied or added
    FOUND_DATA_TERM, // the same, before any weight: normalization of an image
    FOUND_BIAS,      // added to a product with a weight
    FOUND_WEIGHT,
    FOUND_MATRIX,
};

struct found {
    enum found_kind kind;
    const char *what;
};

struct roles {
    const struct graph *g;
    struct arena *arena;
    bool *derived;  // per value: computed from constants alone
    bool *weighted; // per value: a weight has gone into it
    struct found *found;
    bool failed;
};

// Operators whose result holds elements of the first operand.
static bool is_view(enum op op) {
    switch (op) {
    case OP_Cast:
    case OP_CastLike:
    case OP_DequantizeLinear:
    case OP_Expand:
    case OP_Flatten:
    case OP_Identity:
    case OP_QuantizeLinear:
    case OP_Reshape:
    case OP_Slice:
    case OP_Split:
    case OP_Squeeze:
    case OP_Tile:
    case OP_Transpose:
    case OP_Unsqueeze:
        return true;
    default:
        return false;
    }
}

static bool is_term(enum op op) {
    return op == OP_Add || op == OP_Sub || op == OP_Mul || op == OP_Div || op == OP_Sum ||
           op == OP_Where || op == OP_Concat;
}

static bool is_product(const struct roles *r, value_id v) {
    const struct value *x = graph_value(r->g, v);
    const struct node *n = x->def.i ? graph_node(r->g, x->def) : NULL;
    return n && r->weighted[v.i] &&
           (n->op == OP_MatMul || n->op == OP_Conv || n->op == OP_ConvTranspose);
}

static void walk_forward(struct roles *r) {
    const struct graph *g = r->g;
    for (size_t v = 1; v < g->values.n; v++)
        r->derived[v] |= g->values.at[v].init != NULL;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool derived = !(op_info(n->op)->flags & (OPF_RANDOM | OPF_CONTROL)), weighted = false;
        for (uint32_t k = 0; k < n->n_in; k++) {
            const struct row *row = find_row(n->op, k);
            derived &= !n->in[k].i || r->derived[n->in[k].i];
            weighted |= n->in[k].i && r->weighted[n->in[k].i];
            weighted |= n->in[k].i && row && row->use <= USE_MATRIX && r->derived[n->in[k].i];
        }
        derived |= n->op == OP_Shape || n->op == OP_Size;
        for (uint32_t k = 0; k < n->n_out; k++) {
            r->derived[n->out[k].i] = derived;
            r->weighted[n->out[k].i] = weighted && !derived;
        }
    }
    r->derived[0] = r->weighted[0] = false;
}

static int64_t elements(const struct roles *r, value_id v) {
    const struct value *x = graph_value(r->g, v);
    int64_t n = -1;
    if (x->init)
        return tensor_elements(x->init, &n) ? n : -1;
    return x->type && type_elements(x->type, &n) ? n : -1;
}

static const char *term_words(enum op op, enum found_kind kind) {
    return kind == FOUND_BIAS                  ? "bias"
           : kind == FOUND_DATA_TERM           ? "normalization of an input"
           : op == OP_Mul || op == OP_Div      ? "scale"
           : op == OP_Where || op == OP_Concat ? "learned elements"
                                               : "added tensor";
}

// A tensor that is added to data or multiplied with them.
static struct found term(const struct roles *r, const struct node *n, uint32_t slot) {
    if (n->op == OP_Where && slot == 0)
        return (struct found){FOUND_NEVER, "condition of Where"};
    bool weighted = false, product = false, image = false;
    for (uint32_t k = 0; k < n->n_in; k++) {
        const struct type *t = graph_value(r->g, n->in[k])->type;
        if (k == slot || !n->in[k].i)
            continue;
        weighted |= r->weighted[n->in[k].i];
        product |= is_product(r, n->in[k]);
        image |= t && t->has_shape && t->rank == 4;
    }
    int64_t count = elements(r, n->in[slot]);
    bool adds = n->op == OP_Add || n->op == OP_Sub || n->op == OP_Sum;
    enum found_kind kind = product && adds                                 ? FOUND_BIAS
                           : !weighted && image && count > 0 && count <= 4 ? FOUND_DATA_TERM
                                                                           : FOUND_TERM;
    return (struct found){kind, term_words(n->op, kind)};
}

static struct found stronger(struct found a, struct found b) {
    return b.kind > a.kind ? b : a;
}

static struct found of_outputs(const struct roles *r, const struct node *n) {
    struct found all = {0};
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i)
            all = stronger(all, r->found[n->out[k].i]);
    return all;
}

static struct found use_of(const struct roles *r, const struct node *n, uint32_t slot) {
    static const enum found_kind kinds[] = {[USE_WEIGHT] = FOUND_WEIGHT,
                                            [USE_MATRIX] = FOUND_MATRIX,
                                            [USE_STATE] = FOUND_STATE,
                                            [USE_NEVER] = FOUND_NEVER};
    bool all_derived = n->n_out > 0 && n->out[0].i && r->derived[n->out[0].i];
    const struct row *row = find_row(n->op, slot);
    if (slot == 0 && (is_view(n->op) || n->op == OP_Pad || n->op == OP_Clip || n->op == OP_Resize ||
                      n->op == OP_Dropout))
        return of_outputs(r, n);
    if (all_derived && (!row || row->use != USE_NEVER || (n->op == OP_Pow && slot == 0))) {
        struct found f = of_outputs(r, n);
        bool is_number =
            n->n_in > 1 && elements(r, n->in[slot]) == 1 && elements(r, n->out[0]) != 1;
        return is_number && f.kind ? (struct found){FOUND_NEVER, "number in a formula"} : f;
    }
    if (row)
        return (struct found){kinds[row->use], row->what};
    if (is_term(n->op))
        return term(r, n, slot);
    if (n->op == OP_UNKNOWN && elements(r, n->in[slot]) != 1)
        return (struct found){FOUND_WEIGHT, "operand of an unknown operator"};
    return (struct found){FOUND_NEVER, "operand of a formula"};
}

static void walk_backward(struct roles *r);

// What subgraphs do with values of this graph.
static void merge_subgraphs(struct roles *r, const struct node *n) {
    for (size_t i = 0; !r->failed; i++) {
        const struct graph *inner = node_subgraph(n, i);
        if (!inner)
            return;
        size_t n_values = inner->values.n;
        struct roles s = {.g = inner,
                          .arena = r->arena,
                          .derived = ARENA_ARRAY(r->arena, bool, n_values),
                          .weighted = ARENA_ARRAY(r->arena, bool, n_values),
                          .found = ARENA_ARRAY(r->arena, struct found, n_values)};
        if ((r->failed = !s.derived || !s.weighted || !s.found))
            return;
        for (size_t v = 1; v < n_values; v++)
            s.derived[v] = r->derived[inner->values.at[v].outer.i];
        walk_forward(&s);
        walk_backward(&s);
        r->failed = s.failed;
        for (size_t v = 1; v < n_values; v++) {
            value_id outer = inner->values.at[v].outer;
            if (outer.i)
                r->found[outer.i] = stronger(r->found[outer.i], s.found[v]);
        }
    }
}

static void walk_backward(struct roles *r) {
    for (size_t i = r->g->order.n; i-- > 0;) {
        const struct node *n = graph_node(r->g, r->g->order.at[i]);
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k].i && r->derived[n->in[k].i])
                r->found[n->in[k].i] = stronger(r->found[n->in[k].i], use_of(r, n, k));
        if (op_info(n->op)->flags & OPF_CONTROL)
            merge_subgraphs(r, n);
    }
}

// Simplifiers turn Constant nodes of PyTorch's exporter into initializers; the names stay.
static bool is_named_constant(const char *name) {
    return str_match("*Constant_output_0", name) || str_match("*Constant_*_output_0", name);
}

static bool is_node_constant(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    bool made = x->def.i && graph_node(g, x->def)->op == OP_Constant;
    return made || (x->init && is_named_constant(x->name));
}

const struct tensor *param_roles_tensor(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    const struct node *n = x->def.i ? graph_node(g, x->def) : NULL;
    const struct tensor *t = x->init;
    if (n && n->op == OP_Constant && n->n_attrs == 1 && n->attrs[0].kind == ATTR_TENSOR)
        t = n->attrs[0].t;
    return t && elem_is_float(t->elem) ? t : NULL;
}

static struct param_role constant(const char *what) {
    return (struct param_role){PARAM_CONSTANT, what};
}

// A single number is a parameter when it has the name of one: frameworks name parameters by the
// path of their module, and exporters name the numbers of formulas.
static bool is_parameter_name(const char *name) {
    static const char *const patterns[] = {
        "*.weight",     "*.bias",      "*.scale", "*.gamma",       "*.alpha", "*.beta",
        "*logit_scale", "*logit_bias", "*.gate",  "*.temperature", "*.gain"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (str_match(patterns[i], name))
            return true;
    return false;
}

static struct param_role decide_term(struct found f, const char *name, const struct tensor *t,
                                     struct arena *a) {
    int64_t count = 0;
    bool counted = tensor_elements(t, &count);
    if (counted && count <= 1) {
        bool is_rank_0 = t->rank == 0;
        if (f.kind == FOUND_TERM && is_parameter_name(name))
            return (struct param_role){PARAM_PARAMETER, f.what};
        if (f.kind == FOUND_BIAS && !is_rank_0)
            return (struct param_role){PARAM_PARAMETER, f.what};
        return (struct param_role){is_rank_0 ? PARAM_CONSTANT : PARAM_LOOSE, "a single number"};
    }
    if (f.kind == FOUND_DATA_TERM)
        return (struct param_role){PARAM_LOOSE, f.what};
    enum param_values values = param_values_of(t, a);
    if (values == PARAM_VALUES_MASK)
        return constant("mask");
    if (values == PARAM_VALUES_ZERO && strcmp(f.what, "learned elements") == 0)
        return constant("padding");
    return (struct param_role){PARAM_PARAMETER, f.what};
}

static struct param_role decide(const struct roles *r, value_id v, bool nodes_are_formulas) {
    const struct value *x = graph_value(r->g, v);
    const struct tensor *t = param_roles_tensor(r->g, v);
    struct found f = r->found[v.i];
    if (!t || f.kind == FOUND_NOTHING)
        return (struct param_role){0};
    if (x->is_constant)
        return constant(f.kind == FOUND_NEVER ? f.what : "part of a formula");
    if (nodes_are_formulas && is_node_constant(r->g, v))
        return constant("part of a formula: a Constant node, and weights are initializers");
    switch (f.kind) {
    case FOUND_MATRIX:
    case FOUND_WEIGHT:
        return (struct param_role){PARAM_PARAMETER, f.what};
    case FOUND_STATE:
        return param_values_of(t, r->arena) == PARAM_VALUES_ZERO
                   ? constant(f.what)
                   : (struct param_role){PARAM_PARAMETER, f.what};
    case FOUND_TERM:
    case FOUND_DATA_TERM:
    case FOUND_BIAS:
        return decide_term(f, x->name, t, r->arena);
    default:
        return constant(f.what);
    }
}

struct param_role *param_roles(const struct graph *g, struct arena *a) {
    size_t n = g->values.n;
    struct param_role *out = ARENA_ARRAY(a, struct param_role, n);
    struct roles r = {.g = g,
                      .arena = a,
                      .derived = ARENA_ARRAY(a, bool, n),
                      .weighted = ARENA_ARRAY(a, bool, n),
                      .found = ARENA_ARRAY(a, struct found, n)};
    if (!out || !r.derived || !r.weighted || !r.found)
        return NULL;
    walk_forward(&r);
    walk_backward(&r);
    bool nodes_are_formulas = false;
    for (uint32_t v = 1; v < n; v++)
        nodes_are_formulas |= r.found[v].kind == FOUND_MATRIX && g->values.at[v].init &&
                              !g->values.at[v].is_constant && !is_node_constant(g, (value_id){v});
    for (uint32_t v = 1; v < n && !r.failed; v++)
        out[v] = decide(&r, (value_id){v}, nodes_are_formulas);
    return r.failed ? NULL : out;
}
