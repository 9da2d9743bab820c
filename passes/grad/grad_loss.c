// Gradients of the loss operators. Class weights and the ignored label affect the sum and, for the
// mean, the divisor.
#include "passes/grad/grad.h"

#include <string.h>

#include "ir/base/limits.h"

struct labelled {
    value_id hot;    // one-hot labels in the shape of the scores; all 0 where the label is ignored
    value_id weight; // of each position, times the factor of the reduction; the class axis is 1
};

// dy expanded to all positions, divided by the total weight for a mean.
static struct labelled read_labels(struct grad *r) {
    struct labelled l;
    value_id x = r->x[0], t = r->x[1];
    int64_t dims[LIMIT_RANK], one = 1, ignore = node_int(r->n, "ignore_index", INT64_MIN);
    int32_t rank = grad_rank(r, x);
    enum elem e = grad_elem(r, x);
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i == 1 ? 1 : grad_dim(r, x, i);
    t = grad_cast(r, t, ELEM_I64);
    struct tensor *pair =
        tensor_from_reals(r->g->model->arena, e, (double[]){0, 1}, (int64_t[]){2}, 1);
    value_id safe = t, valid = VALUE_NONE;
    if (node_attr(r->n, "ignore_index")) {
        value_id skip = BUILD(r->b, "Equal", t, build_scalar(r->b, ELEM_I64, (double)ignore));
        valid = grad_reshape(r, grad_cast(r, BUILD(r->b, "Not", skip), e), dims, rank);
        safe = BUILD(r->b, "Where", skip, build_scalar(r->b, ELEM_I64, 0), t);
    }
    value_id depth = build_scalar(r->b, ELEM_I64, (double)grad_dim(r, x, 1));
    l.hot = build_op(r->b, "OneHot", VALUES(safe, depth, build_tensor(r->b, pair)),
                     ATTRS(attr_int("axis", 1)));
    if (grad_has(r, 2)) { // the weight of the label's class
        int64_t wide[LIMIT_RANK];
        for (int32_t i = 0; i < rank; i++)
            wide[i] = i == 1 ? grad_dim(r, x, 1) : 1;
        value_id each = grad_mul(r, l.hot, grad_reshape(r, r->x[2], wide, rank));
        l.weight = grad_reduce(r, "ReduceSum", each, &one, 1, true);
        if (valid.i)
            l.weight = grad_mul(r, l.weight, valid);
    } else {
        l.weight = valid;
    }
    const char *how = node_text(r->g, r->n, "reduction", "mean");
    int64_t positions = grad_elements(r, r->x[1]);
    value_id dy = r->dy[0];
    if (strcmp(how, "none") == 0) {
        dy = grad_reshape(r, dy, dims, rank);
    } else if (strcmp(how, "mean") == 0 && l.weight.i) {
        int64_t axes[LIMIT_RANK], n = 0;
        for (; n < rank; n++)
            axes[n] = n;
        dy = grad_div(r, dy, grad_reduce(r, "ReduceSum", l.weight, axes, n, false));
    } else if (strcmp(how, "mean") == 0) {
        dy = grad_scale(r, dy, positions ? 1 / (double)positions : 0);
    }
    l.weight = l.weight.i ? grad_mul(r, l.weight, dy) : dy;
    return l;
}

// d scores = (softmax - one-hot) * weight, with the softmax from the log-probabilities, the second
// output.
void back_cross_entropy(struct grad *r) {
    value_id logp = grad_output(r, 1), dx = VALUE_NONE;
    if (r->dy[0].i) {
        struct labelled l = read_labels(r);
        dx = grad_mul(r, grad_sub(r, BUILD(r->b, "Exp", logp), l.hot), l.weight);
    }
    if (r->n_dy > 1 && r->dy[1].i) { // the log-probabilities are read too
        int64_t axis = 1;
        value_id sum = grad_reduce(r, "ReduceSum", r->dy[1], &axis, 1, true);
        value_id more = grad_sub(r, r->dy[1], grad_mul(r, BUILD(r->b, "Exp", logp), sum));
        dx = dx.i ? grad_add(r, dx, more) : more;
    }
    r->dx[0] = dx;
}

void back_nll(struct grad *r) {
    struct labelled l = read_labels(r);
    r->dx[0] = grad_neg(r, grad_mul(r, l.hot, l.weight));
}
