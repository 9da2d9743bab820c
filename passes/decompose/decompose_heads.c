// The core of all attention operators, and the shapes around it: see decompose.h.
#include <math.h>

#include "passes/decompose/decompose.h"

value_id decompose_split_heads(struct decompose *d, value_id v, int64_t n) {
    struct grad *r = &d->tools;
    int64_t dims[] = {grad_dim(r, v, 0), grad_dim(r, v, 1), n, grad_dim(r, v, 2) / n};
    return grad_transpose(r, grad_reshape(r, v, dims, 4), (int64_t[]){0, 2, 1, 3});
}

value_id decompose_join_heads(struct decompose *d, value_id v) {
    struct grad *r = &d->tools;
    int64_t dims[] = {grad_dim(r, v, 0), grad_dim(r, v, 2), grad_dim(r, v, 1) * grad_dim(r, v, 3)};
    return grad_reshape(r, grad_transpose(r, v, (int64_t[]){0, 2, 1, 3}), dims, 3);
}

value_id decompose_causal_mask(struct decompose *d, value_id like, const int64_t *size,
                               int64_t offset, double far) {
    double *x = ARENA_ARRAY(d->tools.a, double, (size_t)(size[0] * size[1]));
    for (int64_t i = 0; x && i < size[0] * size[1]; i++)
        x[i] = i % size[1] > i / size[1] + offset ? far : 0;
    return decompose_table(d, like, x, size, 2);
}

// Keys or values, once for each query head that they serve.
static value_id repeat(struct decompose *d, value_id v, int64_t n) {
    struct grad *r = &d->tools;
    int64_t b = grad_dim(r, v, 0), have = grad_dim(r, v, 1), l = grad_dim(r, v, 2),
            s = grad_dim(r, v, 3);
    if (have == n || have == 0)
        return v;
    int64_t wide[] = {b, have, n / have, l, s};
    value_id thin = grad_reshape(r, v, (int64_t[]){b, have, 1, l, s}, 5);
    value_id all = BUILD(r->b, "Expand", thin, build_ints(r->b, wide, 5));
    return grad_reshape(r, all, (int64_t[]){b, n, l, s}, 4);
}

static value_id cap(struct decompose *d, value_id scores, double softcap) {
    struct grad *r = &d->tools;
    return softcap == 0
               ? scores
               : grad_scale(r, BUILD(r->b, "Tanh", grad_scale(r, scores, 1 / softcap)), softcap);
}

value_id decompose_attention_of(struct decompose *d, struct attention *a) {
    struct grad *r = &d->tools;
    int64_t heads = grad_dim(r, a->q, 1);
    double scale = a->scale != 0 ? a->scale : 1 / sqrt((double)grad_dim(r, a->q, 3));
    value_id k = repeat(d, a->k, heads), v = repeat(d, a->v, heads);
    value_id s = grad_scale(r, BUILD(r->b, "MatMul", a->q, grad_swap_last(r, k)), scale);
    a->stages[0] = s;
    s = a->stages[1] = cap(d, s, a->softcap);
    for (size_t i = 0; i < sizeof a->masks / sizeof *a->masks; i++)
        s = a->masks[i].i ? grad_add(r, s, a->masks[i]) : s;
    a->stages[2] = s;
    a->stages[3] = build_op(r->b, "Softmax", VALUES(s), ATTRS(attr_int("axis", -1)));
    return BUILD(r->b, "MatMul", a->stages[3], v);
}
