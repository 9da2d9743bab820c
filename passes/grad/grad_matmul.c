// Gradients of products: dA = dC B^T, dB = A^T dC, summed over batch dimensions that were
// broadcast.
#include "passes/grad/grad.h"

#include "ir/base/limits.h"

// An operand of rank 1 as a row (left) or a column (right).
static value_id as_matrix(struct grad *r, value_id v, bool left) {
    int64_t n = grad_dim(r, v, 0);
    if (grad_rank(r, v) != 1)
        return v;
    return left ? grad_reshape(r, v, (int64_t[]){1, n}, 2)
                : grad_reshape(r, v, (int64_t[]){n, 1}, 2);
}

// dC with the dimensions of rank-1 operands restored.
static value_id full_product(struct grad *r, value_id dy, bool row, bool column) {
    int64_t dims[LIMIT_RANK + 2];
    int32_t rank = grad_rank(r, dy), n = 0, keep = rank - (column ? 0 : 1);
    for (int32_t i = 0; i < rank; i++) {
        if (i == keep && row)
            dims[n++] = 1;
        dims[n++] = grad_dim(r, dy, i);
    }
    if (row && keep >= rank)
        dims[n++] = 1;
    if (column)
        dims[n++] = 1;
    return grad_reshape(r, dy, dims, n);
}

// [..., K] times [K, N] with several leading dimensions: reshaped to a matrix, so that the gradient
// of the weights is one product instead of a sum over a batch of products.
static bool is_weight_product(struct grad *r) {
    return grad_rank(r, r->x[0]) > 2 && grad_rank(r, r->x[1]) == 2;
}

static value_id flat_rows(struct grad *r, value_id v) {
    int64_t cols = grad_dim(r, v, -1), n = grad_elements(r, v);
    return grad_reshape(r, v, (int64_t[]){cols ? n / cols : 0, cols}, 2);
}

void back_matmul(struct grad *r) {
    value_id a = r->x[0], b = r->x[1];
    bool row = grad_rank(r, a) == 1, column = grad_rank(r, b) == 1;
    value_id dc = full_product(r, r->dy[0], row, column);
    a = as_matrix(r, a, true);
    b = as_matrix(r, b, false);
    if (r->want[0]) {
        value_id da = BUILD(r->b, "MatMul", dc, grad_swap_last(r, b));
        r->dx[0] = grad_reshape_like(r, grad_unbroadcast(r, da, a), r->x[0]);
    }
    if (r->want[1] && is_weight_product(r)) {
        r->dx[1] = BUILD(r->b, "MatMul", grad_swap_last(r, flat_rows(r, a)), flat_rows(r, dc));
    } else if (r->want[1]) {
        value_id db = BUILD(r->b, "MatMul", grad_swap_last(r, a), dc);
        r->dx[1] = grad_reshape_like(r, grad_unbroadcast(r, db, b), r->x[1]);
    }
}

static value_id gemm(struct grad *r, value_id a, value_id b, bool ta, bool tb, double alpha) {
    return build_op(
        r->b, "Gemm", VALUES(a, b),
        ATTRS(attr_int("transA", ta), attr_int("transB", tb), attr_float("alpha", alpha)));
}

// Y = alpha A' B' + beta C, where ' may transpose.
void back_gemm(struct grad *r) {
    bool ta = node_int(r->n, "transA", 0) != 0, tb = node_int(r->n, "transB", 0) != 0;
    double alpha = node_real(r->n, "alpha", 1), beta = node_real(r->n, "beta", 1);
    value_id a = r->x[0], b = r->x[1], dy = r->dy[0];
    if (r->want[0])
        r->dx[0] = ta ? gemm(r, b, dy, tb, true, alpha) : gemm(r, dy, b, false, !tb, alpha);
    if (r->want[1])
        r->dx[1] = tb ? gemm(r, dy, a, true, ta, alpha) : gemm(r, a, dy, !ta, false, alpha);
    if (grad_has(r, 2) && r->want[2])
        r->dx[2] = grad_scale(r, grad_unbroadcast(r, dy, r->x[2]), beta);
}
