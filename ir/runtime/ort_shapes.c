// Model of ONNX Runtime's static shape inference: see ort_shapes.h. ONNX Runtime applies ONNX's
// shape inference. This file does not compute shapes; it decides whether inference succeeds. For
// that question the rules of all operators fall into the six kinds below. One forward pass over a
// topological order propagates "known" from declared values to node outputs.
//
// The kinds are coarser than ONNX's rules and err towards "known". An error in that direction costs
// at most one superfluous hidden operand in passes/rewrite.
#include "ir/runtime/ort_shapes.h"

#include <assert.h>

enum kind {
    BY_ALL,     // needs the shapes of all inputs
    BY_FIRST,   // needs the shape of the first input
    BY_CONTENT, // needs the shape of the first input and the content of the other operands
    BY_SHAPE,   // needs the content of one operand only
    BY_NOTHING, // given by the attributes
    BY_DATA,    // depends on data: unknown before the run
};

static enum kind kind_of(enum op op) {
    switch (op) {
    case OP_Scatter:
    case OP_ScatterElements:
    case OP_ScatterND:
    case OP_TensorScatter:
    case OP_CumSum:
    case OP_Dropout:
        return BY_FIRST;
    case OP_CenterCropPad:
    case OP_OneHot:
    case OP_Pad:
    case OP_ReduceL1:
    case OP_ReduceL2:
    case OP_ReduceLogSum:
    case OP_ReduceLogSumExp:
    case OP_ReduceMax:
    case OP_ReduceMean:
    case OP_ReduceMin:
    case OP_ReduceProd:
    case OP_ReduceSum:
    case OP_ReduceSumSquare:
    case OP_Resize:
    case OP_Slice:
    case OP_Split:
    case OP_Squeeze:
    case OP_Tile:
    case OP_TopK:
    case OP_Unsqueeze:
    case OP_Upsample:
        return BY_CONTENT;
    case OP_AffineGrid:
    case OP_ConstantOfShape:
    case OP_Expand:
    case OP_MaxUnpool:
    case OP_Range:
    case OP_Reshape:
        return BY_SHAPE;
    case OP_Constant:
    case OP_RandomNormal:
    case OP_RandomUniform:
        return BY_NOTHING;
    case OP_UNKNOWN:
    case OP_Compress:
    case OP_If:
    case OP_Loop:
    case OP_NonMaxSuppression:
    case OP_NonZero:
    case OP_Scan:
    case OP_Unique:
        return BY_DATA;
    default:
        return BY_ALL;
    }
}

uint32_t ort_shapes_operand(const struct graph *g, node_id id) {
    assert(g && id.i && id.i < g->nodes.n);
    const struct node *n = graph_node(g, id);
    uint32_t k = 0;
    if (kind_of(n->op) == BY_SHAPE && n->op != OP_ConstantOfShape && n->op != OP_Range)
        k = n->op == OP_MaxUnpool && n->n_in > 2 ? 2 : 1;
    return k < n->n_in && n->in[k].i ? k : n->n_in;
}

bool ort_shapes_declared(const struct graph *g, value_id id) {
    assert(g && id.i && id.i < g->values.n);
    const struct value *v = graph_value(g, id);
    return v->init || v->sparse_init ||
           ((v->is_input || v->is_output || v->has_info) && v->type && type_is_static(v->type));
}

// Its content is known, and a caller cannot override it (an initializer that is also an input can
// be overridden).
static bool is_constant(const struct graph *g, value_id id) {
    const struct value *v = graph_value(g, id);
    return (v->init && !v->is_input) || (v->def.i && graph_node(g, v->def)->op == OP_Constant);
}

bool ort_shapes_inferred(const struct graph *g, node_id id, const bool *known, size_t n_known) {
    assert(g && id.i && id.i < g->nodes.n && (known || !n_known));
    const struct node *n = graph_node(g, id);
    enum kind kind = kind_of(n->op);
    uint32_t operand = kind == BY_SHAPE ? ort_shapes_operand(g, id) : 0;
    if (kind == BY_DATA || kind == BY_NOTHING)
        return kind == BY_NOTHING;
    for (uint32_t k = 0; k < n->n_in; k++) {
        value_id v = n->in[k];
        if (!v.i)
            continue;
        bool needs_content = (kind == BY_CONTENT && k > 0) || (kind == BY_SHAPE && k == operand);
        bool needs_shape = kind == BY_ALL || (kind != BY_SHAPE && k == 0);
        if (needs_content && !is_constant(g, v))
            return false;
        if (needs_shape && (v.i >= n_known || !known[v.i]))
            return false;
    }
    return true;
}

// Running statistics: a number per channel, whatever is normalized.
static bool is_statistic(const struct node *n, uint32_t output) {
    return n->op == OP_BatchNormalization && output > 0;
}

bool *ort_shapes_known(const struct graph *g, bool is_wrapped, struct arena *a) {
    assert(g && a);
    bool *known = ARENA_ARRAY(a, bool, g->values.n);
    if (!known)
        return NULL;
    for (uint32_t v = 1; v < g->values.n; v++) {
        bool is_result = g->values.at[v].is_output && g->values.at[v].def.i;
        known[v] = ort_shapes_declared(g, (value_id){v}) && !(is_wrapped && is_result);
    }
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool inferred = ort_shapes_inferred(g, g->order.at[i], known, g->values.n);
        for (uint32_t k = 0; k < n->n_out; k++)
            known[n->out[k].i] |= inferred || is_statistic(n, k);
    }
    known[0] = false;
    return known;
}
