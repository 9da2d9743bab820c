// Products and convolutions with what ONNX Runtime fuses into them: transposes, scales, sums,
// activations; and convolutions of images with the channels last.
#include "ir/base/limits.h"
#include "passes/decompose/decompose.h"

// The transpose of the last two dimensions, of a fused MatMul. With `batch` the first dimension is
// moved before the last one first.
static value_id transposed(struct decompose *d, value_id v, bool last, bool batch) {
    struct grad *r = &d->tools;
    int32_t rank = grad_rank(r, v);
    int64_t perm[LIMIT_RANK];
    for (int32_t i = 0; i < rank; i++)
        perm[i] = batch && i < rank - 1 ? (i < rank - 2 ? i + 1 : 0) : i;
    if (last && rank >= 2) {
        int64_t kept = perm[rank - 1];
        perm[rank - 1] = perm[rank - 2];
        perm[rank - 2] = kept;
    }
    return grad_transpose(r, v, perm);
}

// alpha A' B', with A and B transposed on request.
void decompose_fused_matmul(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 2))
        return;
    value_id a =
        transposed(d, r->x[0], node_int(r->n, "transA", 0), node_int(r->n, "transBatchA", 0));
    value_id b =
        transposed(d, r->x[1], node_int(r->n, "transB", 0), node_int(r->n, "transBatchB", 0));
    d->y[0] = grad_scale(r, BUILD(r->b, "MatMul", a, b), node_real(r->n, "alpha", 1));
}

void decompose_fused_gemm(struct decompose *d) {
    struct grad *r = &d->tools;
    double p[] = {node_real(r->n, "activation_alpha", 0), node_real(r->n, "activation_beta", 0)};
    struct attr at[] = {attr_float("alpha", node_real(r->n, "alpha", 1)),
                        attr_float("beta", node_real(r->n, "beta", 1)),
                        attr_int("transA", node_int(r->n, "transA", 0)),
                        attr_int("transB", node_int(r->n, "transB", 0))};
    value_id y = build_op(r->b, "Gemm", (struct values){r->x, r->n->n_in}, (struct attrs){at, 4});
    d->y[0] = decompose_activation(d, y, node_text(r->g, r->n, "activation", ""), p);
}

// A Conv with the attributes of the node that Conv has, too.
static value_id plain_conv(struct decompose *d, struct values in) {
    static const char *const names[] = {"auto_pad",     "dilations", "group",
                                        "kernel_shape", "pads",      "strides"};
    struct attr at[sizeof names / sizeof *names];
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct attr *a = node_attr(d->tools.n, names[i]);
        if (a)
            at[n++] = *a;
    }
    return build_op(d->tools.b, "Conv", in, (struct attrs){at, n});
}

// Conv, plus the optional fourth input, then an activation.
void decompose_fused_conv(struct decompose *d) {
    struct grad *r = &d->tools;
    const struct attr *given = node_attr(r->n, "activation_params");
    double p[2] = {0, 0};
    for (size_t i = 0; given && given->kind == ATTR_FLOATS && i < given->n && i < 2; i++)
        p[i] = (double)given->floats[i];
    value_id y = plain_conv(d, (struct values){r->x, r->n->n_in < 3 ? r->n->n_in : 3});
    y = grad_has(r, 3) ? grad_add(r, y, r->x[3]) : y;
    d->y[0] = decompose_activation(d, y, node_text(r->g, r->n, "activation", ""), p);
}

// Images [N,H,W,C]; weights [M,C,H,W] as for Conv.
void decompose_nhwc_conv(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 2))
        return;
    int32_t rank = grad_rank(r, r->x[0]);
    int64_t first[LIMIT_RANK] = {0, rank - 1}, last[LIMIT_RANK] = {0};
    for (int32_t i = 2; i < rank; i++) {
        first[i] = i - 1;
        last[i - 1] = i;
    }
    last[rank - 1] = 1;
    value_id in[] = {grad_transpose(r, r->x[0], first), r->x[1],
                     grad_has(r, 2) ? r->x[2] : VALUE_NONE};
    d->y[0] = grad_transpose(r, plain_conv(d, (struct values){in, 3}), last);
}
