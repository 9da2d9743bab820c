// Control dependencies in standard operators, in the form that ONNX Runtime's optimizer leaves
// alone.
//
//     token  = Cast<int64>(Compress(d, [false]))           an empty vector, there only after d is
//     target = Concat(shape of v, token)                   so the shape of v, but only after d
//     alias  = Reshape(v, target, allowzero=1)             so v itself, but only after d
//
// Nothing is copied: Compress takes no element, and a Reshape is a view. An empty token is what
// makes it safe: a token of one element is recognised as a dimension that a fusion replaces by -1,
// and Shape or Size of a static shape is folded. allowzero keeps both Reshape fusions away, and
// says that a dimension of 0 is one. Compress refuses rank 0, which is made a vector before.
#include "passes/rewrite.h"

#include "ir/base/limits.h"

bool rewrite_can_anchor(const struct graph *g, value_id v) {
    return v.i && type_is_static(graph_value(g, v)->type);
}

// What Compress and Cast take on ONNX Runtime.
static bool can_be_token(const struct graph *g, value_id v) {
    if (!rewrite_can_anchor(g, v))
        return false;
    enum elem e = graph_value(g, v)->type->elem;
    return e == ELEM_BOOL || e == ELEM_F16 || e == ELEM_BF16 || e == ELEM_F32 || e == ELEM_F64 ||
           (elem_is_int(e) && elem_bits(e) >= 8);
}

value_id rewrite_empty(struct rewrite *r, value_id v) {
    const struct type *t = graph_value(r->g, v)->type;
    int64_t no = 0, one = 1;
    struct tensor *nothing = tensor_from_ints(r->g->model->arena, ELEM_BOOL, &no, &one, 1);
    enum elem e = t->elem;
    if (t->rank == 0)
        v = BUILD(&r->b, "Reshape", v, build_ints(&r->b, &one, 1));
    v = BUILD(&r->b, "Compress", v, build_tensor(&r->b, nothing));
    return e == ELEM_I64 ? v : build_op(&r->b, "Cast", VALUES(v), ATTRS(attr_int("to", ELEM_I64)));
}

// The smallest output: a token is one more reader of it.
value_id rewrite_token(struct rewrite *r, node_id after) {
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

// From an input that no constant can stand for.
value_id rewrite_hiding_token(struct rewrite *r) {
    for (size_t i = 0; i < r->g->inputs.n && !r->hiding_token.i && !r->b.failed; i++)
        if (can_be_token(r->g, r->g->inputs.at[i]))
            r->hiding_token = rewrite_empty(r, r->g->inputs.at[i]);
    return r->hiding_token;
}

static value_id target_of(struct rewrite *r, value_id v, value_id token) {
    const struct type *t = graph_value(r->g, v)->type;
    int64_t dims[LIMIT_RANK], known;
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i].size;
    value_id shape = build_ints(&r->b, dims, t->rank);
    int64_t key = (int64_t)((uint64_t)shape.i << 32 | token.i);
    if (map_get_int(&r->targets, key, &known))
        return (value_id){(uint32_t)known};
    value_id target = build_op(&r->b, "Concat", VALUES(shape, token), ATTRS(attr_int("axis", 0)));
    if (!r->b.failed && !map_put_int(&r->targets, key, target.i))
        r->b.failed = diag_no_room(r->c->diags);
    return target;
}

value_id rewrite_anchor(struct rewrite *r, value_id v, value_id token) {
    if (r->b.failed)
        return VALUE_NONE;
    return build_op(&r->b, "Reshape", VALUES(v, target_of(r, v, token)),
                    ATTRS(attr_int("allowzero", 1)));
}
