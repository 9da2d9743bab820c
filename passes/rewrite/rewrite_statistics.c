// Protects running statistics. In training mode ONNX Runtime's BatchNormalization writes the new
// running mean and variance over the old ones, in the memory of the operand, unless they are graph
// outputs. For a recomputed node that memory is the caller's or an initializer's, and the next run
// would start from other values. Such a node reads copies, made just before it: Concat of one
// tensor is a copy, and an operand that is an alias keeps it from being folded into a constant. All
// recomputations of a node share its copies: ONNX Runtime would merge equal ones, and what they
// write has no reader.
#include "passes/rewrite/rewrite.h"

enum { N_STATISTICS = 2, FIRST_OPERAND = 3, FIRST_OUTPUT = 1 };

// The token after which a copy is made, so that heavy copies have their place among the heavy
// nodes: after the latest one, or after the other copy for the same node, which then reads both.
static value_id token_for_copy(struct rewrite *r, value_id original, value_id other) {
    int64_t size;
    value_id token = VALUE_NONE;
    const struct type *t = graph_value(r->g, original)->type;
    bool heavy = t && type_bytes(t, &size) && size > r->light_bytes;
    if (heavy && other.i)
        token = rewrite_empty(r, other);
    else if (heavy && r->heavy.i)
        token = rewrite_token(r, r->heavy);
    return token.i ? token : rewrite_hiding_token(r);
}

void rewrite_copy_statistics(struct rewrite *r, node_id id) {
    struct node n = *graph_node(r->g, id);
    value_id latest = VALUE_NONE;
    if (n.op != OP_BatchNormalization || !node_int(&n, "training_mode", 0))
        return;
    for (uint32_t k = 0; k < N_STATISTICS && !r->b.failed; k++) {
        value_id out = FIRST_OUTPUT + k < n.n_out ? n.out[FIRST_OUTPUT + k] : VALUE_NONE;
        value_id *in = &n.in[FIRST_OPERAND + k], original = *in;
        if (!out.i || graph_value(r->g, out)->is_output)
            continue;
        if (!r->copy[original.i].i) {
            value_id token = token_for_copy(r, original, latest);
            if (!token.i)
                continue;
            value_id alias = rewrite_anchor(r, original, token);
            latest = build_op(&r->b, "Concat", VALUES(alias), ATTRS(attr_int("axis", 0)));
            r->copy[original.i] = latest;
        }
        if (!r->b.failed)
            *in = r->copy[original.i];
    }
}
