// Gradient of Attention (opset 23): Y = P V, P = softmax(scale Q K^T + mask). The probabilities are
// recomputed rather than kept. Inputs of rank 3 are reshaped to separate heads first. With fewer
// heads for keys and values than for queries, each serves a group of query heads, and its gradient
// is the sum over the group.
#include "passes/grad/grad.h"

#include <math.h>

struct heads {
    int64_t batch, n_q, n_kv; // heads of queries, and of keys and values
};

// [B, L, H * S] as [B, H, L, S]; unchanged for rank 4.
static value_id split_heads(struct grad *r, value_id v, int64_t n) {
    if (grad_rank(r, v) == 4)
        return v;
    int64_t dims[] = {grad_dim(r, v, 0), grad_dim(r, v, 1), n, grad_dim(r, v, 2) / n};
    return grad_transpose(r, grad_reshape(r, v, dims, 4), (int64_t[]){0, 2, 1, 3});
}

static value_id join_heads(struct grad *r, value_id v, value_id like) {
    if (grad_rank(r, like) == 4)
        return v;
    return grad_reshape_like(r, grad_transpose(r, v, (int64_t[]){0, 2, 1, 3}), like);
}

// Keys or values, repeated for every query head.
static value_id repeat(struct grad *r, value_id v, const struct heads *h) {
    if (h->n_q == h->n_kv)
        return v;
    int64_t times = h->n_q / h->n_kv, l = grad_dim(r, v, 2), s = grad_dim(r, v, 3);
    int64_t thin[] = {h->batch, h->n_kv, 1, l, s}, wide[] = {h->batch, h->n_kv, times, l, s};
    value_id all = BUILD(r->b, "Expand", grad_reshape(r, v, thin, 5), build_ints(r->b, wide, 5));
    return grad_reshape(r, all, (int64_t[]){h->batch, h->n_q, l, s}, 4);
}

static value_id sum_groups(struct grad *r, value_id v, const struct heads *h) {
    if (h->n_q == h->n_kv)
        return v;
    int64_t wide[] = {h->batch, h->n_kv, h->n_q / h->n_kv, grad_dim(r, v, 2), grad_dim(r, v, 3)},
            axis = 2;
    return grad_reduce(r, "ReduceSum", grad_reshape(r, v, wide, 5), &axis, 1, false);
}

// Additive mask: 0 where a query attends, a large negative number elsewhere.
static value_id add_masks(struct grad *r, value_id scores) {
    double far = grad_elem(r, scores) == ELEM_F16 ? -6e4 : -1e30;
    value_id zero = grad_real(r, scores, 0), no = grad_real(r, scores, far);
    if (grad_has(r, 3)) {
        value_id mask = r->x[3];
        if (grad_elem(r, mask) == ELEM_BOOL)
            mask = BUILD(r->b, "Where", mask, zero, no);
        scores = grad_add(r, scores, mask);
    }
    if (node_int(r->n, "is_causal", 0)) {
        int64_t n = grad_dim(r, scores, 2), m = grad_dim(r, scores, 3);
        double *x = ARENA_ARRAY(r->a, double, (size_t)(n * m));
        for (int64_t i = 0; x && i < n * m; i++)
            x[i] = i % m > i / m ? far : 0;
        struct tensor *t =
            x ? tensor_from_reals(r->g->model->arena, grad_elem(r, scores), x, (int64_t[]){n, m}, 2)
              : NULL;
        scores = grad_add(r, scores, build_tensor(r->b, t));
    }
    return scores;
}

void back_attention(struct grad *r) {
    bool others =
        grad_has(r, 4) || grad_has(r, 5) || grad_has(r, 6) || node_real(r->n, "softcap", 0) != 0;
    for (uint32_t k = 1; k < r->n_dy; k++)
        others |= r->dy[k].i != 0;
    if (others || (r->n->n_in > 3 && r->want[3]) || !r->dy[0].i) {
        grad_refuse(
            r,
            "past keys, softcap, a trained mask and the gradient of further outputs have no rule");
        return;
    }
    bool flat = grad_rank(r, r->x[0]) == 3;
    struct heads h = {.batch = grad_dim(r, r->x[0], 0),
                      .n_q = flat ? node_int(r->n, "q_num_heads", 1) : grad_dim(r, r->x[0], 1),
                      .n_kv = flat ? node_int(r->n, "kv_num_heads", 1) : grad_dim(r, r->x[1], 1)};
    value_id q = split_heads(r, r->x[0], h.n_q), k = repeat(r, split_heads(r, r->x[1], h.n_kv), &h);
    value_id v = repeat(r, split_heads(r, r->x[2], h.n_kv), &h),
             dy = split_heads(r, r->dy[0], h.n_q);
    double scale = node_real(r->n, "scale", 0);
    scale = scale != 0 ? scale : 1 / sqrt((double)grad_dim(r, q, 3));
    value_id scores =
        add_masks(r, grad_scale(r, BUILD(r->b, "MatMul", q, grad_swap_last(r, k)), scale));
    value_id p = build_op(r->b, "Softmax", VALUES(scores), ATTRS(attr_int("axis", -1)));
    if (r->want[2]) {
        value_id dv = sum_groups(r, BUILD(r->b, "MatMul", grad_swap_last(r, p), dy), &h);
        r->dx[2] = join_heads(r, dv, r->x[2]);
    }
    if (!r->want[0] && !r->want[1])
        return;
    int64_t last = 3;
    value_id product = grad_mul(r, BUILD(r->b, "MatMul", dy, grad_swap_last(r, v)), p);
    value_id sum = grad_reduce(r, "ReduceSum", product, &last, 1, true);
    value_id ds = grad_scale(r, grad_sub(r, product, grad_mul(r, p, sum)), scale);
    if (r->want[0])
        r->dx[0] = join_heads(r, BUILD(r->b, "MatMul", ds, k), r->x[0]);
    if (r->want[1])
        r->dx[1] = join_heads(r, sum_groups(r, BUILD(r->b, "MatMul", grad_swap_last(r, ds), q), &h),
                              r->x[1]);
}
