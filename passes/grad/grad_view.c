// Gradients of operators that only move data: the inverse move.
#include "passes/grad/grad.h"

#include <string.h>

#include "ir/base/limits.h"

// Reshape, Flatten, Squeeze, Unsqueeze: a reshape to the known shape of x; x need not be kept.
void back_view(struct grad *r) {
    r->dx[0] = grad_reshape_like(r, r->dy[0], r->x[0]);
}

void back_transpose(struct grad *r) {
    const struct attr *a = node_attr(r->n, "perm");
    int32_t rank = grad_rank(r, r->x[0]);
    int64_t inverse[LIMIT_RANK];
    for (int32_t i = 0; i < rank; i++)
        inverse[a ? a->ints[i] : rank - 1 - i] = i;
    r->dx[0] = grad_transpose(r, r->dy[0], inverse);
}

void back_expand(struct grad *r) {
    r->dx[0] = grad_unbroadcast(r, r->dy[0], r->x[0]);
}

static int32_t axis_of(const struct grad *r, int64_t otherwise) {
    int64_t axis = node_int(r->n, "axis", otherwise);
    return (int32_t)(axis < 0 ? axis + grad_rank(r, r->x[0]) : axis);
}

void back_concat(struct grad *r) {
    int32_t axis = axis_of(r, 1);
    int64_t at = 0;
    for (uint32_t k = 0; k < r->n->n_in; k++) {
        int64_t n = grad_dim(r, r->x[k], axis);
        if (r->want[k])
            r->dx[k] = grad_slice(r, r->dy[0], axis, at, at + n);
        at += n;
    }
}

// The gradient of an output that the loss does not depend on is zero.
void back_split(struct grad *r) {
    value_id *parts = ARENA_ARRAY(r->a, value_id, r->n->n_out);
    if (!parts) {
        r->b->failed = diag_out_of_memory(r->b->d);
        return;
    }
    for (uint32_t k = 0; k < r->n->n_out; k++)
        parts[k] = r->dy[k].i ? r->dy[k] : grad_zeros(r, r->y[k]);
    struct values in = {parts, r->n->n_out};
    r->dx[0] = build_op(r->b, "Concat", in, ATTRS(attr_int("axis", axis_of(r, 0))));
}

// With step 1 a slice is undone by padding with zeros. Other steps put the elements back by their
// index, which a compile-time table of positions along the axis gives: dx = Scatter(zeros,
// positions, dy).
void back_slice(struct grad *r) {
    int64_t *start, *step = NULL, *axes = NULL, n, n_axes, n_step, *end, n_end;
    int32_t rank = grad_rank(r, r->x[0]);
    bool known = grad_ints(r, 1, &start, &n) && grad_ints(r, 2, &end, &n_end) &&
                 (!grad_has(r, 3) || grad_ints(r, 3, &axes, &n_axes)) &&
                 (!grad_has(r, 4) || grad_ints(r, 4, &step, &n_step));
    if (!known) {
        grad_refuse(r, "its bounds are not constant");
        return;
    }
    int64_t begin[LIMIT_RANK] = {0}, behind[LIMIT_RANK] = {0};
    value_id dx = r->dy[0];
    // One strided axis after the other, from the innermost state outwards: each scatter restores
    // one axis.
    for (int64_t i = n; i-- > 0;) {
        int64_t axis = axes ? axes[i] : i, by = step ? step[i] : 1;
        axis = axis < 0 ? axis + rank : axis;
        int64_t size = grad_dim(r, r->x[0], (int32_t)axis),
                count = grad_dim(r, r->y[0], (int32_t)axis);
        int64_t from = start[i] < 0 ? start[i] + size : start[i];
        from = from < 0 ? 0 : by < 0 && from >= size ? size - 1 : from;
        if (by == 1) {
            begin[axis] = from;
            behind[axis] = size - from - count;
            continue;
        }
        // Rows of dx along the axis: taken from dy where a position was picked, zero elsewhere. One
        // zero row is put behind dy, and Gather picks it for the gaps; no position is picked twice,
        // so nothing needs to be summed.
        int64_t gap[LIMIT_RANK] = {0}, none[LIMIT_RANK] = {0};
        gap[axis] = 1;
        int64_t *row = ARENA_ARRAY(r->a, int64_t, size);
        if (!row) {
            r->b->failed = diag_out_of_memory(r->b->d);
            return;
        }
        for (int64_t k = 0; k < size; k++)
            row[k] = count;
        for (int64_t k = 0; k < count; k++)
            row[from + k * by] = k;
        dx = build_op(r->b, "Gather",
                      VALUES(grad_pad(r, dx, none, gap), build_ints(r->b, row, size)),
                      ATTRS(attr_int("axis", axis)));
    }
    r->dx[0] = grad_pad(r, dx, begin, behind);
}

// The gradient of constant padding is a slice; that of reflection or edge padding sums the repeated
// elements.
void back_pad(struct grad *r) {
    int64_t *pads, n, *axes = NULL, n_axes;
    int32_t rank = grad_rank(r, r->x[0]);
    const char *mode = node_text(r->g, r->n, "mode", "constant");
    if (!grad_ints(r, 1, &pads, &n) || (grad_has(r, 3) && !grad_ints(r, 3, &axes, &n_axes))) {
        grad_refuse(r, "its pads are not constant");
        return;
    }
    value_id dx = r->dy[0];
    int64_t count = n / 2;
    for (int64_t i = 0; i < count; i++) {
        int32_t axis = (int32_t)(axes ? axes[i] < 0 ? axes[i] + rank : axes[i] : i);
        int64_t before = pads[i], after = pads[count + i], size = grad_dim(r, r->x[0], axis);
        if (before == 0 && after == 0)
            continue;
        if (strcmp(mode, "constant") == 0) {
            // A negative pad cut elements off: their gradient is zero.
            int64_t low[LIMIT_RANK] = {0}, high[LIMIT_RANK] = {0};
            low[axis] = before < 0 ? -before : 0;
            high[axis] = after < 0 ? -after : 0;
            int64_t from = before > 0 ? before : 0,
                    to = grad_dim(r, dx, axis) - (after > 0 ? after : 0);
            dx = grad_pad(r, grad_slice(r, dx, axis, from, to), low, high);
            continue;
        }
        // The rows of the padded axis as a sum over source rows: a 0/1 matrix applied along the
        // axis.
        int64_t wide = size + before + after;
        double *matrix = ARENA_ARRAY(r->a, double, (size_t)(size * wide));
        if (!matrix) {
            r->b->failed = diag_out_of_memory(r->b->d);
            return;
        }
        for (int64_t k = 0; k < wide; k++) {
            int64_t from = k - before;
            if (strcmp(mode, "edge") == 0)
                from = from < 0 ? 0 : from >= size ? size - 1 : from;
            else if (strcmp(mode, "wrap") == 0)
                from = (from % size + size) % size;
            else
                while (from < 0 || from >= size)
                    from = from < 0 ? -from : 2 * (size - 1) - from;
            matrix[from * wide + k] = 1;
        }
        dx = grad_along(r, dx, axis, matrix, size);
    }
    r->dx[0] = dx;
}

// A reshape makes every repeat an axis of its own, which is summed over.
void back_tile(struct grad *r) {
    int64_t dims[2 * LIMIT_RANK], axes[LIMIT_RANK], n = 0;
    int32_t rank = grad_rank(r, r->x[0]);
    if (rank > LIMIT_RANK / 2) {
        grad_refuse(r, "rank %d is too large for its gradient rule", rank);
        return;
    }
    for (int32_t i = 0; i < rank; i++) {
        int64_t size = grad_dim(r, r->x[0], i), wide = grad_dim(r, r->y[0], i);
        dims[2 * i] = size ? wide / size : 0;
        dims[2 * i + 1] = size;
        if (dims[2 * i] != 1)
            axes[n++] = 2 * i;
    }
    value_id split = n ? grad_reshape(r, r->dy[0], dims, 2 * rank) : r->dy[0];
    r->dx[0] = grad_reshape_like(r, grad_reduce(r, "ReduceSum", split, axes, n, false), r->x[0]);
}

// Depth to space and back are permutations: [N, b, b, C', H, W] (DCR) or [N, C', b, b, H, W] (CRD)
// with the blocks moved.
void back_depth_to_space(struct grad *r) {
    int64_t b = node_int(r->n, "blocksize", 1);
    bool crd = strcmp(node_text(r->g, r->n, "mode", "DCR"), "CRD") == 0;
    value_id x = r->x[0];
    if (!crd) {
        r->dx[0] =
            build_op(r->b, "SpaceToDepth", VALUES(r->dy[0]), ATTRS(attr_int("blocksize", b)));
        return;
    }
    int64_t c = grad_dim(r, x, 1) / (b * b), h = grad_dim(r, x, 2), w = grad_dim(r, x, 3);
    int64_t dims[] = {grad_dim(r, x, 0), c, h, b, w, b};
    int64_t perm[] = {0, 1, 3, 5, 2, 4};
    r->dx[0] = grad_reshape_like(r, grad_transpose(r, grad_reshape(r, r->dy[0], dims, 6), perm), x);
}

void back_space_to_depth(struct grad *r) {
    r->dx[0] = build_op(
        r->b, "DepthToSpace", VALUES(r->dy[0]),
        ATTRS(attr_int("blocksize", node_int(r->n, "blocksize", 1)), attr_text("mode", "DCR")));
}

void back_trilu(struct grad *r) { // the same triangle of dy
    struct values in = {(value_id[]){r->dy[0], grad_has(r, 1) ? r->x[1] : VALUE_NONE}, r->n->n_in};
    r->dx[0] = build_op(r->b, "Trilu", in, ATTRS(attr_int("upper", node_int(r->n, "upper", 1))));
}
