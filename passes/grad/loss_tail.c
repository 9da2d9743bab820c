// How a value is computed, as far as it tells which loss is meant: see loss.h. The walk goes from
// the value towards the inputs, through views and elementwise operators, to the first operator that
// decides: Softmax and Sigmoid have logits; the classes of a Gemm or MatMul are on the last axis,
// those of a Conv on the second. On the way back, the class axis is mapped through the views.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/grad/loss.h"
#include "passes/shape/shape.h"

enum { MAX_STEPS = 64 };

struct walk {
    const struct graph *g;
    struct loss_tail tail;
    node_id path[MAX_STEPS];  // from the value to the deciding node
    value_id from[MAX_STEPS]; // the operand of each that the walk followed
    int n;
    bool changed; // elementwise operators have changed the values
};

static const struct node *maker(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    return x->def.i ? graph_node(g, x->def) : NULL;
}

static bool is_constant(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    return x->init || (x->def.i && graph_node(g, x->def)->op == OP_Constant);
}

static bool is_view(enum op op) {
    return op == OP_Cast || op == OP_Flatten || op == OP_Identity || op == OP_Reshape ||
           op == OP_Squeeze || op == OP_Transpose || op == OP_Unsqueeze;
}

// Operators that keep what an axis means.
static bool passes_through(enum op op) {
    switch (op) {
    case OP_Abs:
    case OP_AveragePool:
    case OP_Dropout:
    case OP_Elu:
    case OP_Exp:
    case OP_Gelu:
    case OP_GlobalAveragePool:
    case OP_GlobalMaxPool:
    case OP_HardSwish:
    case OP_LeakyRelu:
    case OP_MaxPool:
    case OP_Neg:
    case OP_PRelu:
    case OP_Pad:
    case OP_ReduceMax:
    case OP_ReduceMean:
    case OP_ReduceSum:
    case OP_Relu:
    case OP_Resize:
    case OP_Slice:
    case OP_Softplus:
    case OP_Sqrt:
        return true;
    default:
        return false;
    }
}

static int32_t rank_of(const struct graph *g, value_id v) {
    const struct type *t = graph_value(g, v)->type;
    return t && t->has_shape ? t->rank : 0;
}

static int64_t inner_size(const struct type *t, int32_t axis) {
    int64_t n = 1;
    for (int32_t i = axis + 1; i < t->rank; i++)
        n *= t->dims[i].size;
    return n;
}

// The axis of the output that holds the elements of an axis of the input.
static int32_t map_axis(const struct graph *g, value_id from, const struct node *n, int32_t axis) {
    const struct type *in = graph_value(g, from)->type, *out = graph_value(g, n->out[0])->type;
    const struct attr *perm = node_attr(n, "perm");
    if (axis == NO_AXIS || !type_is_static(in) || !type_is_static(out))
        return NO_AXIS;
    if (n->op == OP_Transpose) {
        for (int32_t i = 0; i < out->rank; i++)
            if ((perm ? perm->ints[i] : out->rank - 1 - i) == axis)
                return i;
        return NO_AXIS;
    }
    if (in->rank == out->rank && !is_view(n->op))
        return axis;
    for (int32_t i = 0; i < out->rank; i++) // the same elements, or without reduced dimensions
        if (out->dims[i].size == in->dims[axis].size &&
            (!is_view(n->op) || inner_size(out, i) == inner_size(in, axis)))
            return i;
    return NO_AXIS;
}

static void end(struct walk *w, enum loss_end e, const struct node *n, int32_t axis) {
    w->tail.end = e;
    w->tail.op = n->type;
    for (int i = w->n - 1; i >= 0; i--) // from the deciding node back to the value
        axis = map_axis(w->g, w->from[i], graph_node(w->g, w->path[i]), axis);
    w->tail.class_axis = axis;
}

static void end_logits(struct walk *w, enum loss_end e, const struct node *n) {
    int32_t rank = rank_of(w->g, n->in[0]);
    int64_t axis = node_int(n, "axis", -1);
    w->tail.end = w->changed ? LOSS_END_BOUNDED : e;
    w->tail.op = n->type;
    w->tail.class_axis = NO_AXIS;
    if (w->changed)
        return;
    w->tail.logits = n->in[0];
    const struct node *flat = maker(w->g, n->in[0]); // how the pass upgrade writes an old Softmax
    if (flat && flat->op == OP_Flatten && e == LOSS_END_SOFTMAX && axis == -1 &&
        node_int(flat, "axis", 1) == rank_of(w->g, flat->in[0]) - 1) {
        w->tail.logits = flat->in[0];
        rank = rank_of(w->g, flat->in[0]);
    }
    w->tail.is_log_softmax = n->op == OP_LogSoftmax;
    w->tail.class_axis = e != LOSS_END_SOFTMAX ? NO_AXIS : (int32_t)(axis < 0 ? axis + rank : axis);
}

// The operand of an elementwise operator to follow: the one that is no constant. Two that are none
// are added up scores, unless they have the rank of hidden states.
static value_id data_operand(const struct walk *w, const struct node *n) {
    bool first = is_constant(w->g, n->in[0]), second = is_constant(w->g, n->in[1]);
    if (first != second)
        return first ? n->in[1] : n->in[0];
    return n->op == OP_Add && !first && rank_of(w->g, n->out[0]) != 3 ? n->in[0] : VALUE_NONE;
}

static bool is_binary(enum op op) {
    return op == OP_Add || op == OP_Sub || op == OP_Mul || op == OP_Div;
}

static bool is_normalization(const struct node *n, int32_t rank) {
    return n->op == OP_LayerNormalization || n->op == OP_LpNormalization ||
           n->op == OP_RMSNormalization || n->op == OP_MeanVarianceNormalization ||
           (n->op == OP_BatchNormalization && rank <= 2);
}

static bool is_spatial(enum op op) {
    return op == OP_Conv || op == OP_ConvTranspose || op == OP_DepthToSpace ||
           op == OP_BatchNormalization || op == OP_InstanceNormalization;
}

// Dropout in evaluation, Slice, and reductions over dimensions of size 1.
static bool keeps_values(const struct graph *g, const struct node *n) {
    int64_t before, after;
    bool reduces = n->op == OP_ReduceMean || n->op == OP_ReduceSum || n->op == OP_ReduceMax ||
                   n->op == OP_GlobalAveragePool || n->op == OP_GlobalMaxPool;
    return n->op == OP_Dropout || n->op == OP_Slice ||
           (reduces && type_elements(graph_value(g, n->in[0])->type, &before) &&
            type_elements(graph_value(g, n->out[0])->type, &after) && before == after);
}

// One node; the value to go on with, or none: decided.
static value_id visit(struct walk *w, const struct node *n) {
    int32_t rank = rank_of(w->g, n->out[0]);
    if (is_view(n->op) || passes_through(n->op)) {
        w->changed |= !is_view(n->op) && !keeps_values(w->g, n);
        return n->in[0];
    }
    if (n->op == OP_Softmax || n->op == OP_LogSoftmax)
        end_logits(w, LOSS_END_SOFTMAX, n);
    else if (n->op == OP_Sigmoid)
        end_logits(w, LOSS_END_SIGMOID, n);
    else if (n->op == OP_Tanh || n->op == OP_Clip || n->op == OP_HardSigmoid)
        end(w, LOSS_END_BOUNDED, n, NO_AXIS);
    else if (n->op == OP_Gemm || n->op == OP_MatMul)
        end(w, LOSS_END_SCORES, n, rank - 1);
    else if (is_normalization(n, rank))
        end(w, LOSS_END_NORMALIZED, n, NO_AXIS);
    else if (is_spatial(n->op))
        end(w, LOSS_END_SCORES, n, rank > 1 ? 1 : NO_AXIS);
    else if (is_binary(n->op)) {
        w->changed = true;
        value_id next = data_operand(w, n);
        if (!next.i)
            end(w, LOSS_END_OTHER, n, NO_AXIS);
        return next;
    } else
        end(w, LOSS_END_OTHER, n, NO_AXIS);
    return VALUE_NONE;
}

// A reduction over all axes, the batch among them.
static bool reduces_all(const struct graph *g, node_id id, struct arena *a) {
    const struct node *n = graph_node(g, id);
    struct diags ignored = diags_make(a);
    struct shape s = {(struct graph *)g, id, n, a, &ignored, model_opset(g->model, "")};
    int32_t rank = rank_of(g, n->in[0]);
    int64_t *axes, n_axes;
    bool known;
    if (shape_axes(&s, 1, rank, &axes, &n_axes, &known) || !known)
        return false;
    return n_axes == rank || (n_axes == 0 && node_int(n, "noop_with_empty_axes", 0) == 0);
}

// One number that comes from a reduction, through operators on single numbers. A score of a single
// sample is one number, too, but the result of a layer.
static bool is_reduced(const struct graph *g, value_id v, struct arena *a, int *left) {
    const struct node *n = maker(g, v);
    int64_t count;
    const struct type *t = graph_value(g, v)->type;
    if (!n || !t || !type_elements(t, &count) || count != 1 || --*left < 0)
        return false;
    switch (n->op) {
    case OP_NegativeLogLikelihoodLoss:
    case OP_SoftmaxCrossEntropyLoss:
        return true;
    case OP_ReduceL1:
    case OP_ReduceL2:
    case OP_ReduceMean:
    case OP_ReduceSum:
    case OP_ReduceSumSquare:
        return reduces_all(g, graph_value(g, v)->def, a) || is_reduced(g, n->in[0], a, left);
    case OP_Add:
    case OP_Div:
    case OP_Mul:
    case OP_Sub:
        return is_reduced(g, n->in[0], a, left) || is_reduced(g, n->in[1], a, left);
    case OP_Cast:
    case OP_Identity:
    case OP_Log:
    case OP_Neg:
    case OP_Reshape:
    case OP_Sqrt:
    case OP_Squeeze:
    case OP_Unsqueeze:
        return is_reduced(g, n->in[0], a, left);
    default:
        return false;
    }
}

struct loss_tail loss_tail_of(const struct graph *g, value_id v, struct arena *a) {
    struct walk w = {.g = g, .tail = {LOSS_END_OTHER, v, NO_AXIS, "an input", false}};
    int left = MAX_STEPS;
    if (is_reduced(g, v, a, &left)) {
        w.tail.end = LOSS_END_REDUCED;
        w.tail.op = maker(g, v)->type;
        return w.tail;
    }
    for (value_id at = v; at.i;) {
        const struct node *n = maker(g, at);
        if (!n || n->n_out == 0 || w.n == MAX_STEPS)
            break;
        value_id next = visit(&w, n);
        if (next.i) {
            w.from[w.n] = next;
            w.path[w.n++] = graph_value(g, at)->def;
        }
        at = next;
    }
    return w.tail;
}
