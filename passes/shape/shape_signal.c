// Shapes of transforms of signals, and of grids to sample with.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/shape/shape.h"

// DFT: the axis has the length that is asked for, or half of it and one if one-sided; the last
// dimension is real and imaginary part.
status shape_dft(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    if (!x || x->rank < 2)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    int64_t *given, n, axis = s->opset < 20 ? node_int(s->n, "axis", 1) : -2;
    if (s->opset >= 20 && shape_has(s, 2)) {
        if (!shape_numbers(s, 2, &given, &n) || n != 1)
            return shape_set_unranked(s, 0, x->elem);
        axis = given[0];
    }
    int32_t at;
    status st = shape_axis(s, axis, x->rank, &at);
    if (st)
        return st;
    struct dim dims[LIMIT_RANK];
    memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
    if (shape_has(s, 1))
        dims[at] = shape_numbers(s, 1, &given, &n) && n == 1 ? dim_of(given[0]) : dim_unknown();
    bool onesided = node_int(s->n, "onesided", 0) != 0, inverse = node_int(s->n, "inverse", 0) != 0;
    if (onesided && !inverse && dim_known(dims[at]))
        dims[at] = dim_of(dims[at].size / 2 + 1);
    dims[x->rank - 1] = dim_of(onesided && inverse ? 1 : 2);
    return shape_set(s, 0, x->elem, dims, x->rank);
}

// STFT: [batch, frames, bins, 2].
status shape_stft(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *window = shape_ranked(s, 2);
    int64_t *step, *given, n;
    struct dim frame = window && window->rank == 1 ? window->dims[0] : dim_unknown();
    if (!x || x->rank < 2)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    if (shape_has(s, 3))
        frame = shape_numbers(s, 3, &given, &n) && n == 1 ? dim_of(given[0]) : dim_unknown();
    struct dim dims[] = {x->dims[0], dim_unknown(), dim_unknown(), dim_of(2)};
    if (dim_known(frame))
        dims[2] = dim_of(node_int(s->n, "onesided", 1) ? frame.size / 2 + 1 : frame.size);
    if (dim_known(frame) && dim_known(x->dims[1]) && shape_numbers(s, 1, &step, &n) && n == 1 &&
        step[0] > 0 && x->dims[1].size >= frame.size)
        dims[1] = dim_of(1 + (x->dims[1].size - frame.size) / step[0]);
    return shape_set(s, 0, x->elem, dims, 4);
}

status shape_mel_weight_matrix(struct shape *s) {
    int64_t *bins, *length, n;
    struct dim dims[] = {dim_unknown(), dim_unknown()};
    if (shape_numbers(s, 0, &bins, &n) && n == 1)
        dims[1] = dim_of(bins[0]);
    if (shape_numbers(s, 1, &length, &n) && n == 1)
        dims[0] = dim_of(length[0] / 2 + 1);
    return shape_set(s, 0, (enum elem)node_int(s->n, "output_datatype", ELEM_F32), dims, 2);
}

// AffineGrid: a position for each pixel of an image of the given size [N,C,…].
status shape_affine_grid(struct shape *s) {
    const struct term *size;
    int64_t n;
    if (!shape_content(s, 1, &size, &n) || (n != 4 && n != 5))
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[5] = {dim_from_term(size[0])};
    for (int64_t i = 2; i < n; i++)
        dims[i - 1] = dim_from_term(size[i]);
    dims[n - 1] = dim_of(n - 2);
    return shape_set(s, 0, shape_elem(s, 0), dims, (int32_t)n);
}
