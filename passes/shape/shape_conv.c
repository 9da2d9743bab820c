// Shapes of convolutions and poolings.
#include "passes/shape/shape.h"

#include "ir/base/checked.h"
#include "ir/base/limits.h"
#include "passes/shape/conv_window.h"

static status conv(struct shape *s, uint32_t kw, enum elem e) {
    const struct type *x = shape_ranked(s, 0), *w = shape_ranked(s, kw);
    if (!x || !w)
        return shape_set_unranked(s, 0, e);
    if (x->rank != w->rank)
        return shape_fail(s, "the input has rank %d, the weights have %d", x->rank, w->rank);
    struct conv_window win;
    status st = conv_window_read(s, x, w, &win);
    if (st)
        return st;
    int64_t group = node_int(s->n, "group", 1);
    struct dim c = x->dims[1], per = w->dims[1], out = w->dims[0];
    if (group < 1 || (dim_known(out) && out.size % group))
        return shape_fail(s, "%lld output channels do not divide into %lld groups",
                          (long long)out.size, (long long)group);
    if (dim_known(c) && dim_known(per) &&
        (per.size > INT64_MAX / group || c.size != per.size * group))
        return shape_fail(
            s, "the input has %lld channels, the weights are for %lld in each of %lld groups",
            (long long)c.size, (long long)per.size, (long long)group);
    struct dim dims[WINDOW_DIMS + 2] = {x->dims[0], out};
    for (int32_t i = 0; i < win.n; i++)
        dims[2 + i] = dim_of(win.out[i]);
    return shape_set(s, 0, e, dims, win.n + 2);
}

status shape_conv(struct shape *s) {
    return conv(s, 1, shape_elem(s, 0));
}

status shape_conv_integer(struct shape *s) {
    return conv(s, 1, ELEM_I32);
}

status shape_qlinear_conv(struct shape *s) {
    return conv(s, 3, shape_elem(s, 7));
}

status shape_conv_transpose(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *w = shape_ranked(s, 1);
    if (!x || !w)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    if (x->rank != w->rank)
        return shape_fail(s, "the input has rank %d, the weights have %d", x->rank, w->rank);
    if (dim_known(x->dims[1]) && dim_known(w->dims[0]) && x->dims[1].size != w->dims[0].size)
        return shape_fail(s, "the input has %lld channels, the weights are for %lld",
                          (long long)x->dims[1].size, (long long)w->dims[0].size);
    struct conv_window win;
    status st = conv_window_read_transposed(s, x, w, &win);
    if (st)
        return st;
    struct dim dims[WINDOW_DIMS + 2] = {x->dims[0],
                                        dim_mul(w->dims[1], dim_of(node_int(s->n, "group", 1)))};
    for (int32_t i = 0; i < win.n; i++)
        dims[2 + i] = dim_of(win.out[i]);
    return shape_set(s, 0, x->elem, dims, win.n + 2);
}

// AveragePool, LpPool, and MaxPool with its optional indices.
status shape_pool(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct conv_window win;
    status st = conv_window_read(s, x, NULL, &win);
    if (st)
        return st;
    struct dim dims[WINDOW_DIMS + 2] = {x->dims[0], x->dims[1]};
    for (int32_t i = 0; i < win.n; i++)
        dims[2 + i] = dim_of(win.out[i]);
    st = shape_set(s, 0, x->elem, dims, win.n + 2);
    return st ? st : shape_set(s, 1, ELEM_I64, dims, win.n + 2);
}

status shape_global_pool(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[LIMIT_RANK];
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = i < 2 ? x->dims[i] : dim_of(1);
    return shape_set(s, 0, x->elem, dims, x->rank);
}

status shape_max_unpool(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    int64_t *wanted, n;
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct conv_window win;
    status st = conv_window_read_transposed(s, x, NULL, &win);
    if (st)
        return st;
    struct dim dims[WINDOW_DIMS + 2] = {x->dims[0], x->dims[1]};
    bool given = shape_has(s, 2), known = given && shape_numbers(s, 2, &wanted, &n) && n == x->rank;
    for (int32_t i = 0; i < win.n; i++)
        dims[2 + i] = known ? dim_of(wanted[2 + i]) : given ? dim_unknown() : dim_of(win.out[i]);
    return shape_set(s, 0, x->elem, dims, x->rank);
}

status shape_roi_align(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *rois = shape_ranked(s, 1);
    if (!x || !rois || x->rank != 4)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[] = {rois->dims[0], x->dims[1], dim_of(node_int(s->n, "output_height", 1)),
                         dim_of(node_int(s->n, "output_width", 1))};
    return shape_set(s, 0, x->elem, dims, 4);
}

status shape_max_roi_pool(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *rois = shape_ranked(s, 1);
    const struct attr *a = node_attr(s->n, "pooled_shape");
    if (!x || !rois || x->rank != 4 || !a || a->kind != ATTR_INTS || a->n != 2)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[] = {rois->dims[0], x->dims[1], dim_of(a->ints[0]), dim_of(a->ints[1])};
    return shape_set(s, 0, x->elem, dims, 4);
}

status shape_deform_conv(struct shape *s) {
    return conv(s, 1, shape_elem(s, 0));
}

status shape_col2im(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    int64_t *image, n_image, *block, n_block;
    if (!x || x->rank != 3 || !shape_numbers(s, 1, &image, &n_image) ||
        !shape_numbers(s, 2, &block, &n_block) || n_image != n_block || n_image > WINDOW_DIMS)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[WINDOW_DIMS + 2] = {x->dims[0], dim_unknown()};
    int64_t per_block = 1;
    for (int64_t i = 0; i < n_image; i++) {
        dims[2 + i] = dim_of(image[i]);
        if (block[i] < 0 || !checked_mul(per_block, block[i], &per_block))
            return shape_fail(s, "the block size %lld is out of range", (long long)block[i]);
    }
    if (dim_known(x->dims[1]) && per_block > 0)
        dims[1] = dim_of(x->dims[1].size / per_block);
    return shape_set(s, 0, x->elem, dims, (int32_t)n_image + 2);
}
