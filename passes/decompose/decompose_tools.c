// What several decompositions build with: see decompose.h.
#include "passes/decompose/decompose.h"

value_id decompose_table(struct decompose *d, value_id like, const double *x, const int64_t *dims,
                         int32_t rank) {
    struct grad *r = &d->tools;
    return build_tensor(
        r->b, x ? tensor_from_reals(r->g->model->arena, grad_elem(r, like), x, dims, rank) : NULL);
}

void decompose_split(struct decompose *d, value_id v, int64_t axis, uint32_t n, value_id *parts) {
    struct grad *r = &d->tools;
    struct attr at[] = {attr_int("axis", axis), attr_int("num_outputs", n)};
    // Since opset 18 the number of parts is an attribute.
    build_outputs(r->b, "Split", VALUES(v), (struct attrs){at, r->opset >= 18 ? 2 : 1}, parts, n);
}

void decompose_split_sizes(struct decompose *d, value_id v, int64_t axis, const int64_t *sizes,
                           uint32_t n, value_id *parts) {
    struct builder *b = d->tools.b;
    build_outputs(b, "Split", VALUES(v, build_ints(b, sizes, n)), ATTRS(attr_int("axis", axis)),
                  parts, n);
}

value_id decompose_concat(struct decompose *d, const value_id *parts, uint32_t n, int64_t axis) {
    return n == 1 ? parts[0]
                  : build_op(d->tools.b, "Concat", (struct values){parts, n},
                             ATTRS(attr_int("axis", axis)));
}

// Names of com.microsoft for what ai.onnx has too.
void decompose_same_as_onnx(struct decompose *d) {
    struct grad *r = &d->tools;
    d->y[0] = build_op(r->b, r->n->type, (struct values){r->n->in, r->n->n_in},
                       (struct attrs){r->n->attrs, r->n->n_attrs});
}

void decompose_expand_dims(struct decompose *d) {
    struct grad *r = &d->tools;
    value_id axes = grad_reshape(r, r->x[1], (int64_t[]){1}, 1);
    d->y[0] = BUILD(r->b, "Unsqueeze", r->x[0], grad_cast(r, axes, ELEM_I64));
}
