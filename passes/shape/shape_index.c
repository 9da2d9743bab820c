// Shapes of operators that select elements by index or place them on a grid.
#include "passes/shape/shape_content.h"

#include <math.h>
#include <string.h>

#include "ir/base/limits.h"

status shape_gather(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *ix = shape_ranked(s, 1);
    int32_t axis, rank = 0;
    if (!x || !ix)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axis(s, node_int(s->n, "axis", 0), x->rank, &axis);
    if (st)
        return st;
    if (x->rank - 1 + ix->rank > LIMIT_RANK)
        return shape_fail(s, "the output would have %d dimensions", x->rank - 1 + ix->rank);
    struct dim dims[LIMIT_RANK];
    for (int32_t i = 0; i < axis; i++)
        dims[rank++] = x->dims[i];
    for (int32_t i = 0; i < ix->rank; i++)
        dims[rank++] = ix->dims[i];
    for (int32_t i = axis + 1; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    return shape_set(s, 0, x->elem, dims, rank);
}

status shape_gather_elements(struct shape *s) {
    const struct type *ix = shape_ranked(s, 1);
    return ix ? shape_set(s, 0, shape_elem(s, 0), ix->dims, ix->rank)
              : shape_set_unranked(s, 0, shape_elem(s, 0));
}

status shape_gather_nd(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *ix = shape_ranked(s, 1);
    int64_t batch = node_int(s->n, "batch_dims", 0);
    if (!x || !ix || ix->rank < 1 || !dim_known(ix->dims[ix->rank - 1]))
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    int64_t depth = ix->dims[ix->rank - 1].size, rest = x->rank - batch - depth;
    if (batch < 0 || depth < 0 || rest < 0 || batch >= ix->rank || ix->rank - 1 + rest > LIMIT_RANK)
        return shape_fail(
            s, "indices of depth %lld do not fit a tensor of rank %d with %lld batch dimensions",
            (long long)depth, x->rank, (long long)batch);
    struct dim dims[LIMIT_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < ix->rank - 1; i++)
        dims[rank++] = ix->dims[i];
    for (int64_t i = batch + depth; i < x->rank; i++)
        dims[rank++] = x->dims[i];
    return shape_set(s, 0, x->elem, dims, rank);
}

status shape_one_hot(struct shape *s) {
    const struct type *ix = shape_ranked(s, 0);
    double depth; // may have any type
    int32_t axis;
    if (!ix)
        return shape_set_unranked(s, 0, shape_elem(s, 2));
    if (ix->rank == LIMIT_RANK)
        return shape_fail(s, "the output would have %d dimensions", ix->rank + 1);
    status st = shape_axis(s, node_int(s->n, "axis", -1), ix->rank + 1, &axis);
    if (st)
        return st;
    struct dim dims[LIMIT_RANK];
    bool known = shape_real(s, 1, &depth) && depth >= 0 && depth < 9e15;
    for (int32_t i = 0; i <= ix->rank; i++)
        dims[i] =
            i == axis ? dim_of(known ? (int64_t)depth : DIM_UNKNOWN) : ix->dims[i - (i > axis)];
    return shape_set(s, 0, shape_elem(s, 2), dims, ix->rank + 1);
}

status shape_nonzero(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    int64_t count = shape_content_count(s);
    struct dim dims[] = {x ? dim_of(x->rank == 0 ? 1 : x->rank) : dim_unknown(),
                         count < 0 ? dim_unknown() : dim_of(count)};
    return shape_set(s, 0, ELEM_I64, dims, 2);
}

// The number of elements that a constant condition selects.
static struct dim chosen(struct shape *s) {
    const struct term *x;
    int64_t n, n_true = 0;
    if (s->n->op != OP_Compress || !shape_content(s, 1, &x, &n))
        return dim_unknown();
    for (int64_t i = 0; i < n; i++) {
        if (!x[i].known)
            return dim_unknown();
        n_true += x[i].x != 0;
    }
    return dim_of(n_true);
}

status shape_compress(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    const struct attr *a = node_attr(s->n, "axis");
    struct dim n = chosen(s), dims[LIMIT_RANK] = {n};
    int32_t axis;
    if (!a)
        return shape_set(s, 0, shape_elem(s, 0), dims, 1);
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axis(s, a->i, x->rank, &axis);
    if (st)
        return st;
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = i == axis ? n : x->dims[i];
    return shape_set(s, 0, x->elem, dims, x->rank);
}

status shape_unique(struct shape *s) {
    status st = shape_compress(s);
    struct dim n = dim_unknown();
    for (uint32_t k = 1; !st && k < 4; k++)
        st = shape_set(s, k, ELEM_I64, &n, 1);
    return st;
}

static status blocks(struct shape *s, bool to_space) {
    const struct type *x = shape_ranked(s, 0);
    int64_t b = node_int(s->n, "blocksize", 0);
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    if (x->rank != 4 || b < 1 || b > INT32_MAX)
        return shape_fail(s, "needs rank 4 and a positive blocksize");
    struct dim dims[4] = {x->dims[0]};
    for (int32_t i = 1; i < 4; i++) {
        int64_t by = i == 1 ? b * b : b;
        bool divide = (i == 1) == to_space;
        if (divide && dim_known(x->dims[i]) && x->dims[i].size % by)
            return shape_fail(s, "dimension %d of %lld does not divide by %lld", i,
                              (long long)x->dims[i].size, (long long)by);
        dims[i] = !divide                 ? dim_mul(x->dims[i], dim_of(by))
                  : dim_known(x->dims[i]) ? dim_of(x->dims[i].size / by)
                                          : dim_unknown();
    }
    return shape_set(s, 0, x->elem, dims, 4);
}

status shape_depth_to_space(struct shape *s) {
    return blocks(s, true);
}

status shape_space_to_depth(struct shape *s) {
    return blocks(s, false);
}

struct resize {
    struct dim dims[LIMIT_RANK]; // in: of the input; out: of the output
    int64_t *axes, n_axes;       // of sizes and scales; n_axes = 0: all axes
    int64_t n;                   // number of sizes or scales
};

static struct dim *resized(struct resize *r, int64_t i) {
    return &r->dims[r->n_axes ? r->axes[i] : i];
}

// Sizes, or their largest or smallest ratio for all axes, as keep_aspect_ratio_policy selects.
static status resize_by_sizes(struct shape *s, struct resize *r) {
    int64_t *sizes, n = 0;
    bool known = shape_numbers(s, 3, &sizes, &n);
    if (known && n != r->n)
        return shape_fail(s, "sizes has %lld numbers for %lld axes", (long long)n, (long long)r->n);
    const char *policy = node_text(s->g, s->n, "keep_aspect_ratio_policy", "stretch");
    double ratio = -1;
    for (int64_t i = 0; known && i < r->n && strcmp(policy, "stretch") != 0; i++) {
        struct dim d = *resized(r, i);
        if (sizes[i] < 0 || sizes[i] > LIMIT_DIM)
            return shape_fail(s, "a size is %lld, which is out of range", (long long)sizes[i]);
        double one = d.size > 0 ? (double)sizes[i] / (double)d.size : 0;
        bool smaller = strcmp(policy, "not_larger") == 0;
        ratio = ratio < 0 || (smaller ? one < ratio : one > ratio) ? one : ratio;
    }
    for (int64_t i = 0; i < r->n; i++) {
        struct dim *d = resized(r, i);
        double scaled = floor(ratio * (double)d->size + .5);
        if (known && ratio >= 0 && scaled > (double)LIMIT_DIM)
            return shape_fail(s, "the sizes make a dimension larger than any");
        *d = !known ? dim_unknown() : ratio < 0 ? dim_of(sizes[i]) : dim_of((int64_t)scaled);
    }
    return ST_OK;
}

static status resize_by_scales(struct shape *s, struct resize *r, const double *scales, int64_t n) {
    if (n != r->n)
        return shape_fail(s, "scales has %lld numbers for %lld axes", (long long)n,
                          (long long)r->n);
    for (int64_t i = 0; i < n; i++) {
        struct dim *d = resized(r, i);
        if (!(scales[i] > 0))
            return shape_fail(s, "a scale is %g; scales must be positive", scales[i]);
        // Scales are float32, and runtimes multiply in that precision.
        float scaled = floorf((float)d->size * (float)scales[i]);
        if (dim_known(*d) && !(scaled <= (float)LIMIT_DIM))
            return shape_fail(s, "a scale of %g makes a dimension larger than any", scales[i]);
        *d = dim_known(*d) ? dim_of((int64_t)scaled) : scales[i] == 1 ? *d : dim_unknown();
    }
    return ST_OK;
}

// Resize: by sizes (input 3) or scales (input 2), for all axes or those of `axes`.
status shape_resize(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    struct resize r;
    double *scales = NULL;
    int64_t n = 0;
    bool known;
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axes(s, SHAPE_NO_INPUT, x->rank, &r.axes, &r.n_axes, &known);
    if (st)
        return st;
    r.n = r.n_axes ? r.n_axes : x->rank;
    shape_copy_dims(r.dims, x);
    if (shape_has(s, 3))
        st = resize_by_sizes(s, &r);
    else if (shape_reals(s, 2, &scales, &n) && n > 0)
        st = resize_by_scales(s, &r, scales, n);
    else
        for (int64_t i = 0; i < r.n; i++)
            *resized(&r, i) = dim_unknown();
    return st ? st : shape_set(s, 0, x->elem, r.dims, x->rank);
}

status shape_grid_sample(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *grid = shape_ranked(s, 1);
    if (!x || !grid || x->rank < 3 || grid->rank != x->rank)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[LIMIT_RANK] = {x->dims[0], x->dims[1]};
    for (int32_t i = 2; i < x->rank; i++)
        dims[i] = grid->dims[i - 1];
    return shape_set(s, 0, x->elem, dims, x->rank);
}

status shape_center_crop_pad(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    const struct term *want;
    int64_t n, *axes, n_axes;
    bool known;
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axes(s, SHAPE_NO_INPUT, x->rank, &axes, &n_axes, &known);
    if (st)
        return st;
    int64_t count = n_axes ? n_axes : x->rank;
    bool have = shape_content(s, 1, &want, &n);
    if (have && n != count)
        return shape_fail(s, "shape has %lld numbers for %lld axes", (long long)n,
                          (long long)count);
    struct dim dims[LIMIT_RANK];
    shape_copy_dims(dims, x);
    for (int64_t i = 0; i < count; i++)
        dims[n_axes ? axes[i] : i] = have ? dim_from_term(want[i]) : dim_unknown();
    return shape_set(s, 0, x->elem, dims, x->rank);
}
