// Control dependencies in standard operators, in a form that ONNX Runtime's optimizer leaves alone:
//
//     token = Cast<int64>(Compress(d, [false]))   an empty vector that exists only after d
//     alias = Unsqueeze(v, axes = token)          v with no added axis: v itself, but only after d
//
// Nothing is copied: Compress selects no element, and Unsqueeze is a view. Why the optimizer keeps
// them:
//   - A token is empty; one of a single element would be recognised as a dimension and replaced.
//   - It is computed from data; Shape or Size of a static shape would be folded.
//   - The type of an alias is not declared; a Reshape and an Unsqueeze of known shape would become
//     one constant Reshape.
// The types of tokens are declared: to find a buffer for a vector of unknown length, ONNX Runtime's
// memory planner would search all free ones, which takes minutes in a graph of ten thousand nodes.
// Compress does not support rank 0, so a scalar is reshaped to a vector first.
#include "passes/rewrite/rewrite.h"

#include <assert.h>

bool rewrite_can_anchor(const struct graph *g, value_id v) {
    return v.i && type_is_static(graph_value(g, v)->type);
}

// The types that Compress and Cast support in ONNX Runtime.
static bool can_be_token(const struct graph *g, value_id v) {
    if (!rewrite_can_anchor(g, v))
        return false;
    enum elem e = graph_value(g, v)->type->elem;
    return e == ELEM_BOOL || e == ELEM_F16 || e == ELEM_BF16 || e == ELEM_F32 || e == ELEM_F64 ||
           (elem_is_int(e) && elem_bits(e) >= 8);
}

static value_id declare(struct rewrite *r, value_id v) {
    if (r->b.failed)
        return v;
    graph_value(r->g, v)->has_info = true;
    if (!VEC_PUSH(r->g->model->arena, &r->g->infos, v))
        r->b.failed = diag_out_of_memory(r->c->diags);
    return v;
}

value_id rewrite_empty(struct rewrite *r, value_id v) {
    const struct type *t = graph_value(r->g, v)->type;
    int64_t no = 0, one = 1;
    struct tensor *nothing = tensor_from_ints(r->g->model->arena, ELEM_BOOL, &no, &one, 1);
    enum elem e = t->elem;
    if (t->rank == 0)
        v = BUILD(&r->b, "Reshape", v, build_ints(&r->b, &one, 1));
    v = declare(r, BUILD(&r->b, "Compress", v, build_tensor(&r->b, nothing)));
    if (e == ELEM_I64)
        return v;
    return declare(r, build_op(&r->b, "Cast", VALUES(v), ATTRS(attr_int("to", ELEM_I64))));
}

// Made from the smallest output, since a token is one more reader of it.
value_id rewrite_token(struct rewrite *r, node_id after) {
    assert(after.i > 0 && after.i < r->n_nodes); // not a control node
    const struct node *n = graph_node(r->g, after);
    value_id best = VALUE_NONE;
    int64_t least = 0, size;
    if (r->token[after.i].i)
        return r->token[after.i];
    for (uint32_t k = 0; k < n->n_out; k++)
        if (can_be_token(r->g, n->out[k]) &&
            type_bytes(graph_value(r->g, n->out[k])->type, &size) && (!best.i || size < least)) {
            best = n->out[k];
            least = size;
        }
    return best.i ? r->token[after.i] = rewrite_empty(r, best) : VALUE_NONE;
}

// Made from an input, which no constant can replace.
value_id rewrite_hiding_token(struct rewrite *r) {
    for (size_t i = 0; i < r->g->inputs.n && !r->hiding_token.i && !r->b.failed; i++)
        if (can_be_token(r->g, r->g->inputs.at[i]))
            r->hiding_token = rewrite_empty(r, r->g->inputs.at[i]);
    return r->hiding_token;
}

value_id rewrite_anchor(struct rewrite *r, value_id v, value_id token) {
    return BUILD(&r->b, "Unsqueeze", v, token);
}
