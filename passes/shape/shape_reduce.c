// Shapes of reductions, ArgMax and TopK.
#include "passes/shape/shape.h"

#include "ir/base/limits.h"

status shape_reduce(struct shape *s) {
    const struct type *t = shape_ranked(s, 0);
    if (!t)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    int64_t *axes, n;
    bool known, gone[LIMIT_RANK] = {false}, keep = node_int(s->n, "keepdims", 1) != 0;
    status st = shape_axes(s, 1, t->rank, &axes, &n, &known);
    if (st)
        return st;
    if (!known)
        return shape_set_unranked(s, 0, t->elem);
    if (n == 0 && node_int(s->n, "noop_with_empty_axes", 0))
        return shape_set_like(s, 0, t);
    for (int64_t i = 0; i < n; i++)
        gone[axes[i]] = true;
    struct dim dims[LIMIT_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < t->rank; i++)
        if (n > 0 && !gone[i])
            dims[rank++] = t->dims[i];
        else if (keep)
            dims[rank++] = dim_of(1);
    return shape_set(s, 0, t->elem, dims, rank);
}

status shape_arg(struct shape *s) {
    const struct type *t = shape_ranked(s, 0);
    if (!t)
        return shape_set_unranked(s, 0, ELEM_I64);
    int32_t axis, rank = 0;
    status st = shape_axis(s, node_int(s->n, "axis", 0), t->rank, &axis);
    if (st)
        return st;
    struct dim dims[LIMIT_RANK];
    for (int32_t i = 0; i < t->rank; i++)
        if (i != axis)
            dims[rank++] = t->dims[i];
        else if (node_int(s->n, "keepdims", 1))
            dims[rank++] = dim_of(1);
    return shape_set(s, 0, ELEM_I64, dims, rank);
}

status shape_top_k(struct shape *s) {
    const struct type *t = shape_ranked(s, 0);
    if (!t)
        return shape_set_unranked(s, 1, ELEM_I64);
    int32_t axis;
    int64_t *k, n;
    status st = shape_axis(s, node_int(s->n, "axis", -1), t->rank, &axis);
    if (st)
        return st;
    struct dim dims[LIMIT_RANK];
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i];
    dims[axis] = dim_unknown();
    if (shape_numbers(s, 1, &k, &n) && n == 1) {
        if (k[0] < 0 || (dim_known(t->dims[axis]) && k[0] > t->dims[axis].size))
            return shape_fail(s, "k = %lld of %lld elements", (long long)k[0],
                              (long long)t->dims[axis].size);
        dims[axis] = dim_of(k[0]);
    }
    st = shape_set(s, 0, t->elem, dims, t->rank);
    return st ? st : shape_set(s, 1, ELEM_I64, dims, t->rank);
}
