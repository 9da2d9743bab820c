// Operators of ai.onnx that move elements to constant places: each is a formula of slices, pads,
// gathers and scatters.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/decompose/decompose.h"

static value_id numbers(struct decompose *d, const int64_t *x, const int64_t *dims, int32_t rank) {
    struct grad *r = &d->tools;
    return build_tensor(r->b,
                        x ? tensor_from_ints(r->g->model->arena, ELEM_I64, x, dims, rank) : NULL);
}

// The grid of positions [P,k+1] of an image, from -1 to 1, with a column of ones: x first.
static value_id base_grid(struct decompose *d, const int64_t *size, int32_t k, bool align) {
    int64_t p = 1;
    for (int32_t a = 0; a < k; a++)
        p *= size[a];
    double *x = ARENA_ARRAY(d->tools.a, double, (size_t)(p * (k + 1)));
    for (int64_t i = 0; x && i < p; i++) {
        int64_t rest = i;
        for (int32_t a = k - 1; a >= 0; rest /= size[a--]) {
            double at = (double)(rest % size[a]), n = (double)size[a];
            double place = align ? (n > 1 ? 2 * at / (n - 1) - 1 : -1) : (2 * at + 1) / n - 1;
            x[i * (k + 1) + (k - 1 - a)] = place;
        }
        x[i * (k + 1) + k] = 1;
    }
    return decompose_table(d, d->tools.x[0], x, (int64_t[]){p, k + 1}, 2);
}

void decompose_affine_grid(struct decompose *d) { // base grid times the transposed theta
    struct grad *r = &d->tools;
    int64_t *size, n;
    if (!decompose_has_shapes(d, 1))
        return;
    if (!grad_ints(r, 1, &size, &n) || (n != 4 && n != 5)) {
        decompose_refuse(d, "its size is not constant");
        return;
    }
    int32_t k = (int32_t)n - 2;
    value_id base = base_grid(d, size + 2, k, node_int(r->n, "align_corners", 0) != 0);
    value_id grid = BUILD(r->b, "MatMul", base, grad_swap_last(r, r->x[0]));
    int64_t dims[6] = {size[0]};
    memcpy(dims + 1, size + 2, (size_t)k * sizeof *dims);
    dims[k + 1] = k;
    d->y[0] = grad_reshape(r, grid, dims, k + 2);
}

void decompose_center_crop_pad(struct decompose *d) {
    struct grad *r = &d->tools;
    const struct attr *axes = node_attr(r->n, "axes");
    int64_t *want, n, begin[LIMIT_RANK] = {0}, end[LIMIT_RANK] = {0};
    if (!decompose_has_shapes(d, 1))
        return;
    if (!grad_ints(r, 1, &want, &n)) {
        decompose_refuse(d, "its shape is not constant");
        return;
    }
    value_id y = r->x[0];
    int32_t rank = grad_rank(r, y);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = axes ? axes->ints[i] : i, axis = at < 0 ? at + rank : at;
        int64_t have = grad_dim(r, y, (int32_t)axis), more = want[i] - have;
        if (more < 0)
            y = grad_slice(r, y, (int32_t)axis, -more / 2, -more / 2 + want[i]);
        begin[axis] = more > 0 ? more / 2 : 0;
        end[axis] = more > 0 ? more - more / 2 : 0;
    }
    d->y[0] = grad_pad(r, y, begin, end);
}

void decompose_compress(struct decompose *d) { // a Gather of the places where the condition holds
    struct grad *r = &d->tools;
    const struct attr *axis = node_attr(r->n, "axis");
    struct shape s = grad_shape(r);
    double *keep;
    int64_t n, count = 0, last = -1;
    if (!shape_reals(&s, 1, &keep, &n)) {
        d->keeps = true; // the shape depends on data: other passes refuse it where it matters
        return;
    }
    int64_t *at = ARENA_ARRAY(r->a, int64_t, n);
    for (int64_t i = 0; at && i < n; i++)
        if (keep[i] != 0)
            at[count++] = i;
    value_id x = axis ? r->x[0] : BUILD(r->b, "Reshape", r->x[0], build_ints(r->b, &last, 1));
    d->y[0] = build_op(r->b, "Gather", VALUES(x, numbers(d, at, &count, 1)),
                       ATTRS(attr_int("axis", axis ? axis->i : 0)));
}

// The update is put into the past at its write index along the axis; circular: modulo its size.
void decompose_tensor_scatter(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 3))
        return;
    int32_t rank = grad_rank(r, r->x[1]);
    int64_t axis = node_int(r->n, "axis", -2), dims[LIMIT_RANK], thin[LIMIT_RANK];
    axis = axis < 0 ? axis + rank : axis;
    bool circular = strcmp(node_text(r->g, r->n, "mode", "linear"), "circular") == 0;
    for (int32_t i = 0; i < rank; i++) {
        dims[i] = grad_dim(r, r->x[1], i);
        thin[i] = i == axis ? dims[i] : 1;
    }
    int64_t *steps = ARENA_ARRAY(r->a, int64_t, dims[axis]);
    for (int64_t i = 0; steps && i < dims[axis]; i++)
        steps[i] = i;
    value_id index = numbers(d, steps, thin, rank);
    if (grad_has(r, 2)) {
        thin[axis] = 1;
        thin[0] = dims[0];
        index = grad_add(r, index, grad_reshape(r, r->x[2], thin, rank));
    }
    int64_t size = grad_dim(r, r->x[0], (int32_t)axis);
    if (circular)
        index = BUILD(r->b, "Mod", index, build_ints(r->b, &size, 1));
    index = BUILD(r->b, "Expand", index, build_ints(r->b, dims, rank));
    d->y[0] = build_op(r->b, "ScatterElements", VALUES(r->x[0], index, r->x[1]),
                       ATTRS(attr_int("axis", axis)));
}

// Frames of the signal, times the window, each transformed.
void decompose_stft(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t *step, *length, n;
    if (!decompose_has_shapes(d, 3))
        return;
    bool real = grad_rank(r, r->x[0]) == 2 || grad_dim(r, r->x[0], 2) == 1;
    int64_t frame = grad_has(r, 2) ? grad_dim(r, r->x[2], 0) : 0;
    if (grad_has(r, 3) && grad_ints(r, 3, &length, &n) && n == 1)
        frame = length[0];
    if (!real || frame < 1 || !grad_ints(r, 1, &step, &n) || n != 1 || step[0] < 1) {
        decompose_refuse(d, "complex signals, and frames whose length is not constant, have no "
                            "formula");
        return;
    }
    int64_t batch = grad_dim(r, r->x[0], 0), samples = grad_dim(r, r->x[0], 1);
    int64_t frames = samples < frame ? 0 : 1 + (samples - frame) / step[0];
    int64_t *at = ARENA_ARRAY(r->a, int64_t, frames * frame);
    for (int64_t i = 0; at && i < frames * frame; i++)
        at[i] = i / frame * step[0] + i % frame;
    value_id flat = grad_reshape(r, r->x[0], (int64_t[]){batch, samples}, 2);
    value_id x =
        build_op(r->b, "Gather", VALUES(flat, numbers(d, at, (int64_t[]){frames, frame}, 2)),
                 ATTRS(attr_int("axis", 1)));
    x = grad_has(r, 2) ? grad_mul(r, x, r->x[2]) : x;
    x = grad_reshape(r, x, (int64_t[]){batch, frames, frame, 1}, 4);
    struct attr at_dft[] = {attr_int("onesided", node_int(r->n, "onesided", 1)),
                            attr_int("axis", 2)};
    int64_t two = 2;
    value_id axis = r->opset < 20 ? VALUE_NONE : numbers(d, &two, NULL, 0);
    struct values in = VALUES(x, VALUE_NONE, axis);
    in.n = axis.i ? 3 : 1;
    d->y[0] = build_op(r->b, "DFT", in, (struct attrs){at_dft, axis.i ? 1 : 2});
}
