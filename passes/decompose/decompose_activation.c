// Activations, and the older elementwise operators that ONNX Runtime keeps.
#include <math.h>
#include <string.h>

#include "passes/decompose/decompose.h"
#include "passes/recognize/formulas.h"

value_id decompose_gelu_of(struct decompose *d, value_id x) {
    return formula_gelu(d->tools.b, grad_elem(&d->tools, x), x);
}

void decompose_gelu(struct decompose *d) {
    d->y[0] = decompose_gelu_of(d, d->tools.x[0]);
}

void decompose_bias_gelu(struct decompose *d) {
    d->y[0] = decompose_gelu_of(d, grad_add(&d->tools, d->tools.x[0], d->tools.x[1]));
}

// By tanh; the second input is an optional bias.
void decompose_fast_gelu(struct decompose *d) {
    struct grad *r = &d->tools;
    value_id x = grad_has(r, 1) ? grad_add(r, r->x[0], r->x[1]) : r->x[0];
    d->y[0] = formula_gelu_tanh(r->b, grad_elem(r, x), x);
}

void decompose_quick_gelu(struct decompose *d) { // x sigmoid(alpha x)
    struct grad *r = &d->tools;
    d->y[0] = formula_swish(r->b, grad_elem(r, r->x[0]), r->x[0], node_real(r->n, "alpha", 1.702));
}

void decompose_affine(struct decompose *d) { // alpha x + beta
    struct grad *r = &d->tools;
    value_id x = grad_scale(r, r->x[0], node_real(r->n, "alpha", 1));
    d->y[0] = grad_add(r, x, grad_real(r, x, node_real(r->n, "beta", 0)));
}

void decompose_parametric_softplus(struct decompose *d) { // alpha ln(1 + exp(beta x))
    struct grad *r = &d->tools;
    value_id inner = grad_scale(r, r->x[0], node_real(r->n, "beta", 1));
    d->y[0] = grad_scale(r, BUILD(r->b, "Softplus", inner), node_real(r->n, "alpha", 1));
}

void decompose_scaled_tanh(struct decompose *d) { // alpha tanh(beta x)
    struct grad *r = &d->tools;
    value_id inner = grad_scale(r, r->x[0], node_real(r->n, "beta", 1));
    d->y[0] = grad_scale(r, BUILD(r->b, "Tanh", inner), node_real(r->n, "alpha", 1));
}

// scale x + a bias per channel.
void decompose_image_scaler(struct decompose *d) {
    struct grad *r = &d->tools;
    const struct attr *bias = node_attr(r->n, "bias");
    value_id x = grad_scale(r, r->x[0], node_real(r->n, "scale", 1));
    if (!bias || bias->kind != ATTR_FLOATS) {
        decompose_refuse(d, "it has no bias");
        return;
    }
    double *each = ARENA_ARRAY(r->a, double, bias->n);
    for (size_t i = 0; each && i < bias->n; i++)
        each[i] = (double)bias->floats[i];
    int64_t dims[] = {1, (int64_t)bias->n, 1, 1};
    d->y[0] = grad_add(r, x, decompose_table(d, x, each, dims, 4));
}

value_id decompose_activation(struct decompose *d, value_id x, const char *name, const double *p) {
    struct grad *r = &d->tools;
    struct attr alpha = attr_float("alpha", p[0]), beta = attr_float("beta", p[1]);
    if (!*name)
        return x;
    if (strcmp(name, "Clip") == 0)
        return BUILD(r->b, "Clip", x, grad_real(r, x, p[0]), grad_real(r, x, p[1]));
    if (strcmp(name, "LeakyRelu") == 0 || strcmp(name, "Elu") == 0 ||
        strcmp(name, "ThresholdedRelu") == 0)
        return build_op(r->b, name, VALUES(x), ATTRS(alpha));
    if (strcmp(name, "HardSigmoid") == 0)
        return build_op(r->b, name, VALUES(x), ATTRS(alpha, beta));
    static const char *const plain[] = {"Relu",      "Sigmoid",  "Tanh",
                                        "HardSwish", "Softplus", "Softsign"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(name, plain[i]) == 0)
            return BUILD(r->b, name, x);
    if (strcmp(name, "QuickGelu") == 0)
        return grad_mul(r, x, BUILD(r->b, "Sigmoid", grad_scale(r, x, p[0])));
    decompose_refuse(d, "its activation %s is not supported", name);
    return VALUE_NONE;
}
