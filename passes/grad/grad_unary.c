// Gradients of elementwise functions of one tensor. Each formula uses x or y, whichever makes it
// shorter; if it uses y only, x need not be kept.
#include "passes/grad/grad.h"

#include <math.h>

#include "ir/base/limits.h"

// dx = dy * factor
static void times(struct grad *r, value_id factor) {
    r->dx[0] = grad_mul(r, r->dy[0], factor);
}

static value_id square(struct grad *r, value_id v) {
    return grad_mul(r, v, v);
}

static value_id one_minus(struct grad *r, value_id v) {
    return grad_sub(r, grad_real(r, v, 1), v);
}

// 1 where `a` > `b`, else 0, in the element type of a.
static value_id above(struct grad *r, value_id a, value_id b) {
    return grad_cast(r, BUILD(r->b, "Greater", a, b), grad_elem(r, a));
}

void back_identity(struct grad *r) {
    r->dx[0] = r->dy[0];
}

void back_abs(struct grad *r) {
    times(r, BUILD(r->b, "Sign", r->x[0]));
}

void back_neg(struct grad *r) {
    r->dx[0] = grad_neg(r, r->dy[0]);
}

void back_exp(struct grad *r) {
    times(r, r->y[0]);
}

void back_log(struct grad *r) {
    r->dx[0] = grad_div(r, r->dy[0], r->x[0]);
}

void back_sqrt(struct grad *r) { // dy / (2 y)
    r->dx[0] = grad_div(r, grad_scale(r, r->dy[0], .5), r->y[0]);
}

void back_reciprocal(struct grad *r) { // -dy y²
    times(r, grad_neg(r, square(r, r->y[0])));
}

void back_sin(struct grad *r) {
    times(r, BUILD(r->b, "Cos", r->x[0]));
}

void back_cos(struct grad *r) {
    times(r, grad_neg(r, BUILD(r->b, "Sin", r->x[0])));
}

void back_tan(struct grad *r) { // 1 + y²
    times(r, grad_add(r, square(r, r->y[0]), grad_real(r, r->y[0], 1)));
}

void back_asin(struct grad *r) { // 1 / sqrt(1 - x²)
    r->dx[0] = grad_div(r, r->dy[0], BUILD(r->b, "Sqrt", one_minus(r, square(r, r->x[0]))));
}

void back_acos(struct grad *r) {
    back_asin(r);
    r->dx[0] = grad_neg(r, r->dx[0]);
}

void back_atan(struct grad *r) { // 1 / (1 + x²)
    r->dx[0] = grad_div(r, r->dy[0], grad_add(r, square(r, r->x[0]), grad_real(r, r->x[0], 1)));
}

void back_sinh(struct grad *r) {
    times(r, BUILD(r->b, "Cosh", r->x[0]));
}

void back_cosh(struct grad *r) {
    times(r, BUILD(r->b, "Sinh", r->x[0]));
}

void back_asinh(struct grad *r) { // 1 / sqrt(x² + 1)
    value_id root = BUILD(r->b, "Sqrt", grad_add(r, square(r, r->x[0]), grad_real(r, r->x[0], 1)));
    r->dx[0] = grad_div(r, r->dy[0], root);
}

void back_acosh(struct grad *r) { // 1 / sqrt(x² - 1)
    value_id root = BUILD(r->b, "Sqrt", grad_sub(r, square(r, r->x[0]), grad_real(r, r->x[0], 1)));
    r->dx[0] = grad_div(r, r->dy[0], root);
}

void back_atanh(struct grad *r) { // 1 / (1 - x²)
    r->dx[0] = grad_div(r, r->dy[0], one_minus(r, square(r, r->x[0])));
}

void back_tanh(struct grad *r) { // 1 - y²
    times(r, one_minus(r, square(r, r->y[0])));
}

void back_sigmoid(struct grad *r) { // y (1 - y)
    times(r, grad_mul(r, r->y[0], one_minus(r, r->y[0])));
}

void back_erf(struct grad *r) { // 2 / sqrt(pi) exp(-x²)
    value_id bell = BUILD(r->b, "Exp", grad_neg(r, square(r, r->x[0])));
    times(r, grad_scale(r, bell, 2 / sqrt(acos(-1))));
}

// The mask is y > 0; as a bool it has at most a quarter of the size of y.
void back_relu(struct grad *r) {
    value_id positive = grad_cast(r, r->y[0], ELEM_BOOL);
    times(r, grad_cast(r, positive, grad_elem(r, r->dy[0])));
}

void back_softplus(struct grad *r) {
    times(r, BUILD(r->b, "Sigmoid", r->x[0]));
}

void back_softsign(struct grad *r) { // 1 / (1 + |x|)²
    value_id base = grad_add(r, BUILD(r->b, "Abs", r->x[0]), grad_real(r, r->x[0], 1));
    r->dx[0] = grad_div(r, r->dy[0], square(r, base));
}

// Where x > 0 the slope is `up`, elsewhere `down` (a value).
static void two_slopes(struct grad *r, double up, value_id down) {
    value_id zero = grad_real(r, r->x[0], 0);
    value_id slope = BUILD(r->b, "Where", BUILD(r->b, "Greater", r->x[0], zero),
                           grad_real(r, r->x[0], up), down);
    times(r, slope);
}

void back_leaky_relu(struct grad *r) {
    two_slopes(r, 1, grad_real(r, r->x[0], node_real(r->n, "alpha", 0.01)));
}

void back_thresholded_relu(struct grad *r) {
    times(r, above(r, r->x[0], grad_real(r, r->x[0], node_real(r->n, "alpha", 1))));
}

void back_elu(struct grad *r) { // below 0: y + alpha
    double alpha = node_real(r->n, "alpha", 1);
    two_slopes(r, 1, grad_add(r, r->y[0], grad_real(r, r->y[0], alpha)));
}

void back_selu(struct grad *r) { // below 0: y + gamma alpha
    double alpha = node_real(r->n, "alpha", 1.67326319217681884765625);
    double gamma = node_real(r->n, "gamma", 1.05070102214813232421875);
    two_slopes(r, gamma, grad_add(r, r->y[0], grad_real(r, r->y[0], alpha * gamma)));
}

void back_celu(struct grad *r) { // below 0: exp(x / alpha) = y / alpha + 1
    double alpha = node_real(r->n, "alpha", 1);
    two_slopes(r, 1, grad_add(r, grad_scale(r, r->y[0], 1 / alpha), grad_real(r, r->y[0], 1)));
}

void back_hard_sigmoid(struct grad *r) { // alpha where 0 < y < 1
    value_id inside = BUILD(r->b, "And", BUILD(r->b, "Greater", r->y[0], grad_real(r, r->y[0], 0)),
                            BUILD(r->b, "Less", r->y[0], grad_real(r, r->y[0], 1)));
    times(r, grad_scale(r, grad_cast(r, inside, grad_elem(r, r->y[0])),
                        node_real(r->n, "alpha", 0.2)));
}

// y = x h, h(x) = clip(x/6 + 1/2, 0, 1): h + x/6 inside, h outside. The forward pass computes h(x);
// here it is 1 - h(-x), so that the two are not merged and h is not kept. The same in the next two.
void back_hard_swish(struct grad *r) {
    value_id x = r->x[0];
    value_id rest = build_op(r->b, "HardSigmoid", VALUES(grad_neg(r, x)),
                             ATTRS(attr_float("alpha", 1.0 / 6), attr_float("beta", .5)));
    value_id inside = BUILD(r->b, "Less", BUILD(r->b, "Abs", x), grad_real(r, x, 3));
    value_id more = grad_mul(r, grad_scale(r, x, 1.0 / 6), grad_cast(r, inside, grad_elem(r, x)));
    times(r, grad_add(r, one_minus(r, rest), more));
}

void back_swish(struct grad *r) { // y = x s(ax): s + a x s (1 - s) = s (1 + a x u), u = s(-ax)
    value_id ax = grad_scale(r, r->x[0], node_real(r->n, "alpha", 1));
    value_id u = BUILD(r->b, "Sigmoid", grad_neg(r, ax));
    value_id slope = grad_add(r, grad_mul(r, ax, u), grad_real(r, ax, 1));
    times(r, grad_mul(r, one_minus(r, u), slope));
}

// y = x t, t = tanh(softplus(x)) = (1 - u²) / (1 + u²), u = sigmoid(-x): t + x (1 - t²) (1 - u)
void back_mish(struct grad *r) {
    value_id x = r->x[0], u = BUILD(r->b, "Sigmoid", grad_neg(r, x)), uu = square(r, u);
    value_id t = grad_div(r, one_minus(r, uu), grad_add(r, uu, grad_real(r, x, 1)));
    value_id tail = grad_mul(r, grad_mul(r, x, one_minus(r, u)), one_minus(r, square(r, t)));
    times(r, grad_add(r, t, tail));
}

void back_gelu(struct grad *r) {
    value_id x = r->x[0], half = grad_real(r, x, .5);
    const char *how = node_text(r->g, r->n, "approximate", "none");
    if (how[0] == 't') { // u = c (x + k x³): (1 + tanh u)/2 + x/2 (1 - tanh² u) c (1 + 3k x²)
        double c = sqrt(2 / acos(-1)), k = 0.044715;
        value_id xx = square(r, x);
        value_id inner = grad_add(r, grad_scale(r, xx, c * k), grad_real(r, x, c));
        value_id t = BUILD(r->b, "Tanh", grad_mul(r, x, inner));
        // The half is in du: as x/2 it would be a node of the forward pass, which ONNX Runtime
        // removes when it makes a FastGelu of that, whether others read it or not.
        value_id du = grad_add(r, grad_scale(r, xx, 1.5 * c * k), grad_real(r, x, .5 * c));
        value_id left = grad_add(r, grad_scale(r, t, .5), half);
        value_id right = grad_mul(r, x, grad_mul(r, one_minus(r, square(r, t)), du));
        times(r, grad_add(r, left, right));
        return;
    }
    // Phi(x) + x phi(x)
    value_id phi =
        grad_scale(r, BUILD(r->b, "Exp", grad_scale(r, square(r, x), -.5)), 1 / sqrt(2 * acos(-1)));
    value_id cdf =
        grad_add(r, grad_scale(r, BUILD(r->b, "Erf", grad_scale(r, x, sqrt(.5))), .5), half);
    times(r, grad_add(r, cdf, grad_mul(r, x, phi)));
}

void back_shrink(struct grad *r) { // 1 where |x| > lambd
    times(r, above(r, BUILD(r->b, "Abs", r->x[0]),
                   grad_real(r, r->x[0], node_real(r->n, "lambd", .5))));
}

// Whether low <= x <= high, where both are given; none: neither is.
static value_id within(struct grad *r, value_id low, value_id high) {
    value_id x = r->x[0], mask = VALUE_NONE;
    if (low.i)
        mask = BUILD(r->b, "GreaterOrEqual", x, low);
    if (high.i) {
        value_id below = BUILD(r->b, "LessOrEqual", x, high);
        mask = mask.i ? BUILD(r->b, "And", mask, below) : below;
    }
    return mask;
}

// A bound has the gradients of the elements beyond it.
static value_id beyond(struct grad *r, const char *compare, value_id bound) {
    value_id mask = BUILD(r->b, compare, r->x[0], bound);
    value_id all = grad_mul(r, r->dy[0], grad_cast(r, mask, grad_elem(r, r->dy[0])));
    return grad_unbroadcast(r, all, bound);
}

// The bounds are inputs since opset 11. Exporters emit constants; a bound may be computed, too, as
// 80 dB below the loudest sample.
void back_clip(struct grad *r) {
    value_id low = grad_has(r, 1) ? r->x[1] : VALUE_NONE,
             high = grad_has(r, 2) ? r->x[2] : VALUE_NONE, mask = within(r, low, high);
    if (mask.i)
        times(r, grad_cast(r, mask, grad_elem(r, r->x[0])));
    else
        r->dx[0] = r->dy[0];
    if (low.i && r->want[1])
        r->dx[1] = beyond(r, "Less", low);
    if (high.i && r->want[2])
        r->dx[2] = beyond(r, "Greater", high);
}

void back_cast(struct grad *r) {
    r->dx[0] = grad_cast(r, r->dy[0], grad_elem(r, r->x[0]));
}

// The least or largest x that an integer type holds: (number +- 1/2 - zero point) * scale.
static value_id saturation(struct grad *r, double number) {
    value_id x = r->x[0], scale = r->x[1], bound = grad_real(r, x, number);
    int64_t dims[LIMIT_RANK], axis = node_int(r->n, "axis", 1);
    int32_t rank = grad_rank(r, x);
    bool per_axis = grad_elements(r, scale) > 1;
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i == (axis < 0 ? axis + rank : axis) ? grad_elements(r, scale) : 1;
    if (grad_has(r, 2)) {
        value_id zero = per_axis ? grad_reshape(r, r->x[2], dims, rank) : r->x[2];
        bound = grad_sub(r, bound, grad_cast(r, zero, grad_elem(r, x)));
    }
    return grad_mul(r, bound, per_axis ? grad_reshape(r, scale, dims, rank) : scale);
}

// Straight-through estimator for quantization-aware training: rounding counts as the identity, and
// an element beyond the range of the integers has no gradient. The gradient of the quantized
// integers is a float tensor.
void back_straight_through(struct grad *r) {
    enum elem e = grad_elem(r, r->x[0]), q = grad_elem(r, r->y[0]);
    r->dx[0] = elem_is_float(e) ? grad_cast(r, r->dy[0], e) : r->dy[0];
    bool saturates = r->n->op == OP_QuantizeLinear && elem_is_int(q) && elem_bits(q) <= 16 &&
                     !node_int(r->n, "block_size", 0) && grad_elem(r, r->x[1]) == e;
    if (!saturates)
        return;
    bool is_signed = q == ELEM_I8 || q == ELEM_I4 || q == ELEM_I16 || q == ELEM_I2;
    double count = (double)((int64_t)1 << elem_bits(q)), least = is_signed ? -count / 2 : 0;
    value_id mask = within(r, saturation(r, least - 0.5), saturation(r, least + count - 0.5));
    r->dx[0] = grad_mul(r, r->dx[0], grad_cast(r, mask, e));
}

// dx = mask * dy / (1 - ratio).
void back_dropout(struct grad *r) {
    double *ratio, p = 0.5;
    int64_t n, *mode;
    bool training = grad_has(r, 2);
    if (training && grad_ints(r, 2, &mode, &n) && n == 1)
        training = mode[0] != 0;
    if (!training) {
        r->dx[0] = r->dy[0];
        return;
    }
    if (grad_has(r, 1)) {
        if (!grad_reals(r, 1, &ratio, &n) || n != 1) {
            grad_refuse(r, "the ratio is not a constant");
            return;
        }
        p = ratio[0];
    }
    value_id kept = grad_cast(r, grad_output(r, 1), grad_elem(r, r->dy[0]));
    times(r, grad_scale(r, kept, p < 1 ? 1 / (1 - p) : 0));
}
