// Protects running statistics. In training mode ONNX Runtime's BatchNormalization writes the new
// running mean and variance over the old ones, in the memory of the operand, unless they are graph
// outputs. For a recomputed node that memory is the caller's or an initializer's, and the next run
// would start from other values. Such a node reads copies: Concat of one tensor is a copy, and an
// operand that is an alias keeps it from being folded into a constant. All recomputations of a node
// share its copies: ONNX Runtime would merge equal ones, and what they write has no reader.
#include "passes/rewrite/rewrite.h"

enum { N_STATISTICS = 2, FIRST_OPERAND = 3, FIRST_OUTPUT = 1 };

void rewrite_copy_statistics(struct rewrite *r, node_id id) {
    struct node n = *graph_node(r->g, id);
    if (n.op != OP_BatchNormalization || !node_int(&n, "training_mode", 0))
        return;
    for (uint32_t k = 0; k < N_STATISTICS && !r->b.failed; k++) {
        value_id out = FIRST_OUTPUT + k < n.n_out ? n.out[FIRST_OUTPUT + k] : VALUE_NONE;
        value_id token = rewrite_hiding_token(r);
        if (!out.i || graph_value(r->g, out)->is_output || !token.i)
            continue;
        value_id *in = &n.in[FIRST_OPERAND + k], original = *in;
        if (!r->copy[original.i].i) {
            value_id alias = rewrite_anchor(r, original, token);
            r->copy[original.i] =
                build_op(&r->b, "Concat", VALUES(alias), ATTRS(attr_int("axis", 0)));
        }
        if (!r->b.failed)
            *in = r->copy[original.i];
    }
}
