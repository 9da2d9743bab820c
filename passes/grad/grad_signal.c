// Gradients of linear transforms of signals: DFT and Col2Im. Each is the adjoint transform.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/grad/grad.h"

static value_id dft(struct grad *r, value_id x, int64_t axis, int64_t inverse) {
    struct attr at[] = {attr_int("inverse", inverse), attr_int("axis", axis)};
    value_id where =
        r->opset < 20
            ? VALUE_NONE
            : build_tensor(r->b, tensor_from_ints(r->g->model->arena, ELEM_I64, &axis, NULL, 0));
    struct values in = VALUES(x, VALUE_NONE, where);
    in.n = where.i ? 3 : 1;
    return build_op(r->b, "DFT", in, (struct attrs){at, where.i ? 1 : 2});
}

static value_id resized(struct grad *r, value_id v, int32_t axis, int64_t size) {
    int64_t none[LIMIT_RANK] = {0}, end[LIMIT_RANK] = {0}, have = grad_dim(r, v, axis);
    end[axis] = size > have ? size - have : 0;
    return size < have ? grad_slice(r, v, axis, 0, size) : grad_pad(r, v, none, end);
}

// y = F x of length n, after x was padded or cut: dx = F^H dy = n IDFT(dy). y = F^H x / n: dx =
// F dy / n. What a one-sided result leaves out has no gradient; a real x takes the real part.
void back_dft(struct grad *r) {
    value_id x = r->x[0], y = r->y[0];
    int64_t *given, n_given, *at, n_at, inverse = node_int(r->n, "inverse", 0);
    int64_t axis = r->opset < 20 ? node_int(r->n, "axis", 1) : -2;
    if (r->opset >= 20 && grad_has(r, 2) && grad_ints(r, 2, &at, &n_at) && n_at == 1)
        axis = at[0];
    axis = axis < 0 ? axis + grad_rank(r, x) : axis;
    int64_t n = grad_dim(r, x, (int32_t)axis);
    if (grad_has(r, 1) && grad_ints(r, 1, &given, &n_given) && n_given == 1)
        n = given[0];
    if (grad_dim(r, y, -1) != 2 || (inverse && node_int(r->n, "onesided", 0))) {
        grad_refuse(r, "a one-sided inverse has no gradient rule");
        return;
    }
    value_id dy = resized(r, r->dy[0], (int32_t)axis, n);
    value_id dx = grad_scale(r, dft(r, dy, axis, !inverse), inverse ? 1 / (double)n : (double)n);
    dx = resized(r, dx, (int32_t)axis, grad_dim(r, x, (int32_t)axis));
    r->dx[0] = grad_slice(r, dx, grad_rank(r, x) - 1, 0, grad_dim(r, x, -1));
}

struct blocks {
    int32_t rank;
    int64_t image[LIMIT_RANK], block[LIMIT_RANK], stride[LIMIT_RANK], dilation[LIMIT_RANK];
    int64_t begin[LIMIT_RANK], padded[LIMIT_RANK], count[LIMIT_RANK];
    int64_t n_taps, n_places, area; // elements of a block, places of blocks, padded image
};

static bool read_blocks(struct grad *r, struct blocks *b) {
    const struct attr *strides = node_attr(r->n, "strides"), *pads = node_attr(r->n, "pads"),
                      *dilations = node_attr(r->n, "dilations");
    int64_t *image, *block, n, n_block;
    if (!grad_ints(r, 1, &image, &n) || !grad_ints(r, 2, &block, &n_block) || n != n_block) {
        grad_refuse(r, "its image and block are not constant");
        return false;
    }
    b->rank = (int32_t)n;
    b->n_taps = b->n_places = b->area = 1;
    for (int32_t i = 0; i < b->rank; i++) {
        b->image[i] = image[i];
        b->block[i] = block[i];
        b->stride[i] = strides ? strides->ints[i] : 1;
        b->dilation[i] = dilations ? dilations->ints[i] : 1;
        b->begin[i] = pads ? pads->ints[i] : 0;
        b->padded[i] = image[i] + b->begin[i] + (pads ? pads->ints[i + b->rank] : 0);
        b->count[i] = (b->padded[i] - b->dilation[i] * (block[i] - 1) - 1) / b->stride[i] + 1;
        b->n_taps *= block[i];
        b->n_places *= b->count[i];
        b->area *= b->padded[i];
    }
    return true;
}

// Every element of a block is added to one pixel of the padded image, whose index a table gives:
// its gradient is that of the pixel.
void back_col2im(struct grad *r) {
    struct blocks b = {0};
    if (!read_blocks(r, &b))
        return;
    int64_t *table = ARENA_ARRAY(r->a, int64_t, b.n_taps * b.n_places);
    for (int64_t i = 0; table && i < b.n_taps * b.n_places; i++) {
        int64_t tap = i / b.n_places, place = i % b.n_places, step = 1;
        for (int32_t a = b.rank - 1; a >= 0; a--) {
            int64_t at = place % b.count[a] * b.stride[a] + tap % b.block[a] * b.dilation[a];
            table[i] += at * step;
            step *= b.padded[a];
            tap /= b.block[a];
            place /= b.count[a];
        }
    }
    int64_t begin[LIMIT_RANK] = {0}, end[LIMIT_RANK] = {0}, n = grad_dim(r, r->y[0], 0),
            c = grad_dim(r, r->y[0], 1), dims[] = {b.n_taps * b.n_places};
    for (int32_t i = 0; i < b.rank; i++) {
        begin[i + 2] = b.begin[i];
        end[i + 2] = b.padded[i] - b.image[i] - b.begin[i];
    }
    value_id dy = grad_reshape(r, grad_pad(r, r->dy[0], begin, end), (int64_t[]){n, c, b.area}, 3);
    value_id index = build_tensor(
        r->b, table ? tensor_from_ints(r->g->model->arena, ELEM_I64, table, dims, 1) : NULL);
    value_id dx = build_op(r->b, "Gather", VALUES(dy, index), ATTRS(attr_int("axis", 2)));
    r->dx[0] = grad_reshape_like(r, dx, r->x[0]);
}

// The same reversal again.
void back_reverse_sequence(struct grad *r) {
    r->dx[0] = build_op(r->b, "ReverseSequence", VALUES(r->dy[0], r->x[1]),
                        (struct attrs){r->n->attrs, r->n->n_attrs});
}
