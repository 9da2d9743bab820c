// Gradients of reductions, and of operators that normalise along an axis, such as Softmax.
#include "passes/grad/grad.h"

#include <string.h>

#include "ir/base/limits.h"

// The axes of a reduction, all of them when none are given. n = 0: nothing is reduced.
static int64_t *reduced_axes(struct grad *r, int64_t *n) {
    struct shape s = grad_shape(r);
    int64_t *axes = NULL;
    int32_t rank = grad_rank(r, r->x[0]);
    bool known;
    if (shape_axes(&s, 1, rank, &axes, n, &known) || !known) {
        grad_refuse(r, "its axes are not constant");
        *n = 0;
        return NULL;
    }
    if (*n == 0 && !node_int(r->n, "noop_with_empty_axes", 0)) {
        axes = ARENA_ARRAY(s.a, int64_t, rank);
        for (*n = 0; axes && *n < rank; ++*n)
            axes[*n] = *n;
    }
    return axes;
}

// A tensor of the output's shape with the reduced axes kept as 1, so that it broadcasts against the
// input.
static value_id kept(struct grad *r, value_id v, const int64_t *axes, int64_t n) {
    int64_t dims[LIMIT_RANK];
    int32_t rank = grad_rank(r, r->x[0]);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = grad_dim(r, r->x[0], i);
    for (int64_t i = 0; i < n; i++)
        dims[axes[i]] = 1;
    return grad_reshape(r, v, dims, rank);
}

static int64_t reduced_count(struct grad *r, const int64_t *axes, int64_t n) {
    int64_t count = 1;
    for (int64_t i = 0; i < n; i++)
        count *= grad_dim(r, r->x[0], (int32_t)axes[i]);
    return count;
}

void back_reduce_sum(struct grad *r) {
    int64_t n, *axes = reduced_axes(r, &n);
    r->dx[0] = grad_expand_like(r, kept(r, r->dy[0], axes, n), r->x[0]);
}

void back_reduce_mean(struct grad *r) {
    int64_t n, *axes = reduced_axes(r, &n);
    int64_t count = reduced_count(r, axes, n);
    value_id each = grad_scale(r, kept(r, r->dy[0], axes, n), count ? 1 / (double)count : 0);
    r->dx[0] = grad_expand_like(r, each, r->x[0]);
}

// On ties the gradient is shared equally.
void back_reduce_extremum(struct grad *r) {
    int64_t n, *axes = reduced_axes(r, &n);
    value_id y = kept(r, r->y[0], axes, n), dy = kept(r, r->dy[0], axes, n);
    value_id hit = grad_cast(r, BUILD(r->b, "Equal", r->x[0], y), grad_elem(r, y));
    value_id share = grad_div(r, dy, grad_reduce(r, "ReduceSum", hit, axes, n, true));
    r->dx[0] = grad_mul(r, hit, share);
}

// The product of the other elements, also if some are 0.
void back_reduce_prod(struct grad *r) {
    int64_t n, *axes = reduced_axes(r, &n);
    value_id x = r->x[0], zero = grad_real(r, x, 0), one = grad_real(r, x, 1);
    value_id dy = kept(r, r->dy[0], axes, n);
    // Without a zero: y / x. With one zero: the product of the others for it, 0 for the others.
    // With more: 0.
    value_id is_zero = BUILD(r->b, "Equal", x, zero);
    value_id mask = grad_cast(r, is_zero, grad_elem(r, x));
    value_id safe = BUILD(r->b, "Where", is_zero, one, x);
    value_id product = grad_reduce(r, "ReduceProd", safe, axes, n, true);
    value_id zeros =
        grad_sub(r, grad_reduce(r, "ReduceSum", mask, axes, n, true), mask); // among the others
    value_id alone = grad_cast(r, BUILD(r->b, "Equal", zeros, zero), grad_elem(r, x));
    value_id others = grad_mul(r, grad_div(r, product, safe), alone);
    r->dx[0] = grad_mul(r, dy, others);
}

void back_reduce_l1(struct grad *r) {
    int64_t n, *axes = reduced_axes(r, &n);
    r->dx[0] = grad_mul(r, kept(r, r->dy[0], axes, n), BUILD(r->b, "Sign", r->x[0]));
}

void back_reduce_l2(struct grad *r) { // x dy / y
    int64_t n, *axes = reduced_axes(r, &n);
    value_id scale = grad_div(r, kept(r, r->dy[0], axes, n), kept(r, r->y[0], axes, n));
    r->dx[0] = grad_mul(r, r->x[0], scale);
}

void back_reduce_sum_square(struct grad *r) {
    int64_t n, *axes = reduced_axes(r, &n);
    r->dx[0] = grad_mul(r, r->x[0], grad_scale(r, kept(r, r->dy[0], axes, n), 2));
}

void back_reduce_log_sum(struct grad *r) { // dy / sum = dy exp(-y)
    int64_t n, *axes = reduced_axes(r, &n);
    value_id inverse = BUILD(r->b, "Exp", grad_neg(r, kept(r, r->y[0], axes, n)));
    r->dx[0] = grad_expand_like(r, grad_mul(r, kept(r, r->dy[0], axes, n), inverse), r->x[0]);
}

void back_reduce_log_sum_exp(struct grad *r) { // dy exp(x - y)
    int64_t n, *axes = reduced_axes(r, &n);
    value_id soft = BUILD(r->b, "Exp", grad_sub(r, r->x[0], kept(r, r->y[0], axes, n)));
    r->dx[0] = grad_mul(r, soft, kept(r, r->dy[0], axes, n));
}

static int64_t one_axis(struct grad *r, int64_t otherwise) {
    int64_t axis = node_int(r->n, "axis", otherwise);
    return axis < 0 ? axis + grad_rank(r, r->x[0]) : axis;
}

void back_softmax(struct grad *r) { // y (dy - sum(dy y))
    int64_t axis = one_axis(r, -1);
    value_id sum = grad_reduce(r, "ReduceSum", grad_mul(r, r->dy[0], r->y[0]), &axis, 1, true);
    r->dx[0] = grad_mul(r, r->y[0], grad_sub(r, r->dy[0], sum));
}

void back_log_softmax(struct grad *r) { // dy - exp(y) sum(dy)
    int64_t axis = one_axis(r, -1);
    value_id sum = grad_reduce(r, "ReduceSum", r->dy[0], &axis, 1, true);
    r->dx[0] = grad_sub(r, r->dy[0], grad_mul(r, BUILD(r->b, "Exp", r->y[0]), sum));
}

void back_cum_sum(struct grad *r) { // the same from the other end
    struct attrs at = ATTRS(attr_int("exclusive", node_int(r->n, "exclusive", 0)),
                            attr_int("reverse", !node_int(r->n, "reverse", 0)));
    r->dx[0] = build_op(r->b, "CumSum", VALUES(r->dy[0], r->x[1]), at);
}

// An operand k is left out of the products that it is a factor of: as a matrix of products, k by i,
// so that zeros among the operands need no case of their own.
void back_cum_prod(struct grad *r) {
    int64_t n_axis, *given;
    if (!grad_ints(r, 1, &given, &n_axis) || n_axis != 1) {
        grad_refuse(r, "its axis is not constant");
        return;
    }
    int32_t rank = grad_rank(r, r->x[0]), axis = (int32_t)(*given < 0 ? *given + rank : *given);
    bool exclusive = node_int(r->n, "exclusive", 0), reverse = node_int(r->n, "reverse", 0);
    int64_t n = grad_dim(r, r->x[0], axis), outer = 1, *index = ARENA_ARRAY(r->a, int64_t, n);
    int64_t along = 2;
    for (int32_t i = 0; i < axis; i++)
        outer *= grad_dim(r, r->x[0], i);
    for (int64_t i = 0; index && i < n; i++)
        index[i] = i;
    if (!index || n == 0)
        return;
    int64_t inner = grad_elements(r, r->x[0]) / (outer * n);
    struct arena *arena = r->g->model->arena;
    value_id of =
        build_tensor(r->b, tensor_from_ints(arena, ELEM_I64, index, (int64_t[]){1, n, 1, 1}, 4));
    value_id at =
        build_tensor(r->b, tensor_from_ints(arena, ELEM_I64, index, (int64_t[]){1, 1, n, 1}, 4));
    value_id one = grad_real(r, r->x[0], 1), zero = grad_real(r, r->x[0], 0);
    value_id row = grad_reshape(r, r->x[0], (int64_t[]){outer, 1, n, inner}, 4);
    value_id without = BUILD(r->b, "Where", BUILD(r->b, "Equal", of, at), one, row);
    value_id products = build_op(
        r->b, "CumProd",
        VALUES(without, build_tensor(r->b, tensor_from_ints(arena, ELEM_I64, &along, NULL, 0))),
        ATTRS(attr_int("exclusive", exclusive), attr_int("reverse", reverse)));
    // k is a factor of product i from k on, or from the next one; in reverse, up to there.
    value_id from = reverse ? at : of, to = reverse ? of : at;
    value_id is_factor =
        exclusive ? BUILD(r->b, "Less", from, to) : BUILD(r->b, "LessOrEqual", from, to);
    value_id dy = grad_reshape(r, r->dy[0], (int64_t[]){outer, 1, n, inner}, 4);
    value_id parts = BUILD(r->b, "Where", is_factor, grad_mul(r, products, dy), zero);
    r->dx[0] = grad_reshape_like(r, grad_reduce(r, "ReduceSum", parts, &along, 1, false), r->x[0]);
}

void back_lp_normalization(
    struct grad *r) { // y = x / |x|: (dy - y' sum(dy y)) / |x|, y' = sign(x) for p = 1, y for p = 2
    int64_t axis = one_axis(r, -1);
    bool l1 = node_int(r->n, "p", 2) == 1;
    value_id x = r->x[0], norm = grad_reduce(r, l1 ? "ReduceL1" : "ReduceL2", x, &axis, 1, true);
    value_id sum = grad_reduce(r, "ReduceSum", grad_mul(r, r->dy[0], r->y[0]), &axis, 1, true);
    value_id along = grad_mul(r, l1 ? BUILD(r->b, "Sign", x) : r->y[0], sum);
    r->dx[0] = grad_div(r, grad_sub(r, r->dy[0], along), norm);
}

// The indices are the positions of the values.
void back_top_k(struct grad *r) {
    if (!r->dy[0].i)
        return;
    value_id indices = grad_output(r, 1);
    r->dx[0] = build_op(r->b, "ScatterElements", VALUES(grad_zeros(r, r->x[0]), indices, r->dy[0]),
                        ATTRS(attr_int("axis", one_axis(r, -1))));
}
