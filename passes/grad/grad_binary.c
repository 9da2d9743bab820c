// Gradients of elementwise functions of several tensors: the formula, then sums over the axes that
// were broadcast.
#include "passes/grad/grad.h"

#include <math.h>

static void give(struct grad *r, uint32_t k, value_id dx) {
    r->dx[k] = grad_unbroadcast(r, dx, r->x[k]);
}

void back_add(struct grad *r) {
    for (uint32_t k = 0; k < 2; k++)
        if (r->want[k])
            give(r, k, r->dy[0]);
}

void back_sub(struct grad *r) {
    if (r->want[0])
        give(r, 0, r->dy[0]);
    if (r->want[1]) // sum first: the negation is then of the smaller tensor
        r->dx[1] = grad_neg(r, grad_unbroadcast(r, r->dy[0], r->x[1]));
}

void back_mul(struct grad *r) {
    for (uint32_t k = 0; k < 2; k++)
        if (r->want[k])
            give(r, k, grad_mul(r, r->dy[0], r->x[1 - k]));
}

void back_div(struct grad *r) { // dy / b, and -dy y / b
    value_id over = grad_div(r, r->dy[0], r->x[1]);
    if (r->want[0])
        give(r, 0, over);
    if (r->want[1])
        give(r, 1, grad_neg(r, grad_mul(r, over, r->y[0])));
}

// Powers with a constant exponent must not take a logarithm: the base may be negative.
void back_pow(struct grad *r) {
    value_id x = r->x[0], e = r->x[1], y = r->y[0];
    double *known;
    int64_t n;
    bool constant = grad_reals(r, 1, &known, &n) && n == 1;
    if (r->want[0]) {
        value_id slope;
        if (constant && known[0] == 2)
            slope = grad_scale(r, x, 2);
        else if (constant && known[0] == 1)
            slope = VALUE_NONE;
        else if (constant && known[0] == .5)
            slope = grad_div(r, grad_real(r, x, .5), y);
        else if (constant)
            slope = grad_scale(
                r, BUILD(r->b, "Pow", x, build_scalar(r->b, grad_elem(r, x), known[0] - 1)),
                known[0]);
        else {
            value_id ex = grad_cast(r, e, grad_elem(r, x));
            value_id less = grad_sub(r, ex, grad_real(r, x, 1));
            slope = grad_mul(r, ex, BUILD(r->b, "Pow", x, less));
        }
        give(r, 0, slope.i ? grad_mul(r, r->dy[0], slope) : r->dy[0]);
    }
    if (r->want[1]) { // dy y log x, which is 0 where x is 0, as PyTorch has it
        value_id zero = grad_real(r, x, 0);
        value_id safe = BUILD(r->b, "Where", BUILD(r->b, "Equal", x, zero), grad_real(r, x, 1), x);
        give(r, 1, grad_mul(r, r->dy[0], grad_mul(r, y, BUILD(r->b, "Log", safe))));
    }
}

// fmod: the result follows the dividend; the divisor's gradient is -trunc(a/b).
void back_mod(struct grad *r) {
    value_id a = r->x[0], b = r->x[1];
    if (r->want[0])
        give(r, 0, r->dy[0]);
    if (r->want[1]) {
        value_id whole = grad_div(r, grad_sub(r, a, r->y[0]), b);
        give(r, 1, grad_neg(r, grad_mul(r, r->dy[0], BUILD(r->b, "Round", whole))));
    }
}

// Min and Max of any number of tensors. On ties the gradient is shared equally.
void back_extremum(struct grad *r) {
    value_id hits[64], total = VALUE_NONE;
    if (r->n->n_in == 1) {
        r->dx[0] = r->dy[0];
        return;
    }
    if (r->n->n_in > 64) {
        grad_refuse(r, "%u inputs; the gradient rule supports at most 64", r->n->n_in);
        return;
    }
    for (uint32_t k = 0; k < r->n->n_in; k++) {
        hits[k] = grad_cast(r, BUILD(r->b, "Equal", r->x[k], r->y[0]), grad_elem(r, r->y[0]));
        total = total.i ? grad_add(r, total, hits[k]) : hits[k];
    }
    value_id share = grad_div(r, r->dy[0], total);
    for (uint32_t k = 0; k < r->n->n_in; k++)
        if (r->want[k])
            give(r, k, grad_mul(r, share, hits[k]));
}

void back_sum(struct grad *r) {
    for (uint32_t k = 0; k < r->n->n_in; k++)
        if (r->want[k])
            give(r, k, r->dy[0]);
}

void back_mean(struct grad *r) {
    value_id each = grad_scale(r, r->dy[0], 1.0 / r->n->n_in);
    for (uint32_t k = 0; k < r->n->n_in; k++)
        if (r->want[k])
            give(r, k, each);
}

void back_where(struct grad *r) {
    value_id zero = grad_real(r, r->dy[0], 0);
    if (r->want[1])
        give(r, 1, BUILD(r->b, "Where", r->x[0], r->dy[0], zero));
    if (r->want[2])
        give(r, 2, BUILD(r->b, "Where", r->x[0], zero, r->dy[0]));
}

void back_prelu(struct grad *r) { // where x < 0: dx = slope dy, dslope = x dy
    value_id x = r->x[0], zero = grad_real(r, x, 0), negative = BUILD(r->b, "Less", x, zero);
    if (r->want[0])
        r->dx[0] =
            grad_mul(r, r->dy[0], BUILD(r->b, "Where", negative, r->x[1], grad_real(r, x, 1)));
    if (r->want[1])
        give(r, 1, grad_mul(r, r->dy[0], BUILD(r->b, "Min", x, zero)));
}
