// Normalizations and the sums that ONNX Runtime fuses with them.
#include "passes/decompose/decompose.h"

value_id decompose_layer_norm_of(struct decompose *d, value_id x, value_id scale, value_id bias,
                                 double eps) {
    struct attr at[] = {attr_int("axis", -1), attr_float("epsilon", eps)};
    struct values in = VALUES(x, scale, bias);
    in.n = bias.i ? 3 : 2;
    return build_op(d->tools.b, "LayerNormalization", in, (struct attrs){at, 2});
}

// As an operator since opset 23, before that in the form that ONNX Runtime fuses into one kernel.
value_id decompose_rms_norm_of(struct decompose *d, value_id x, value_id scale, double eps) {
    struct grad *r = &d->tools;
    if (r->opset >= 23)
        return build_op(r->b, "RMSNormalization", VALUES(x, scale),
                        ATTRS(attr_int("axis", -1), attr_float("epsilon", eps)));
    int64_t last = grad_rank(r, x) - 1;
    value_id power = grad_reduce(r, "ReduceMean", grad_mul(r, x, x), &last, 1, true);
    value_id deviation = BUILD(r->b, "Sqrt", grad_add(r, power, grad_real(r, x, eps)));
    return grad_mul(r, grad_div(r, x, deviation), scale);
}

static bool refuse_statistics(struct decompose *d, uint32_t from, uint32_t to) {
    for (uint32_t k = from; k < to; k++)
        if (decompose_wants(d, k)) {
            decompose_refuse(d, "its statistics, output %u, are read", k);
            return true;
        }
    return false;
}

void decompose_simplified_layer_norm(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t axis = node_int(r->n, "axis", -1);
    if (!decompose_has_shapes(d, 1) || refuse_statistics(d, 1, 2))
        return;
    if (axis != -1 && axis != grad_rank(r, r->x[0]) - 1) {
        decompose_refuse(d, "it normalizes over more than the last axis");
        return;
    }
    d->y[0] = decompose_rms_norm_of(d, r->x[0], r->x[1], node_real(r->n, "epsilon", 1e-5));
}

// The sum of input, skip and optional bias is normalized; output 3 is the sum itself.
static value_id skip_sum(struct decompose *d, uint32_t bias) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 2) || refuse_statistics(d, 1, 3))
        return VALUE_NONE;
    value_id sum = grad_add(r, r->x[0], r->x[1]);
    sum = grad_has(r, bias) ? grad_add(r, sum, r->x[bias]) : sum;
    if (decompose_wants(d, 3))
        d->y[3] = sum;
    return sum;
}

void decompose_skip_layer_norm(struct decompose *d) {
    struct grad *r = &d->tools;
    value_id sum = skip_sum(d, 4);
    if (sum.i)
        d->y[0] = decompose_layer_norm_of(d, sum, r->x[2], grad_has(r, 3) ? r->x[3] : VALUE_NONE,
                                          node_real(r->n, "epsilon", 1e-12));
}

void decompose_skip_simplified_layer_norm(struct decompose *d) {
    struct grad *r = &d->tools;
    value_id sum = skip_sum(d, 3);
    if (sum.i)
        d->y[0] = decompose_rms_norm_of(d, sum, r->x[2], node_real(r->n, "epsilon", 1e-12));
}

// The sum of the embeddings of words, positions and segments, normalized. Output 1 is the length of
// each sequence by its mask, output 2 the sum.
void decompose_embed_layer_norm(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 9))
        return;
    int64_t batch = grad_dim(r, r->x[0], 0), length = grad_dim(r, r->x[0], 1), zero = 0, one = 1;
    value_id sum = BUILD(r->b, "Gather", r->x[2], r->x[0]);
    value_id positions = grad_has(r, 8) ? BUILD(r->b, "Gather", r->x[3], r->x[8])
                                        : grad_slice(r, r->x[3], 0, zero, length);
    sum = grad_add(r, sum, positions);
    if (grad_has(r, 1) && grad_has(r, 4))
        sum = grad_add(r, sum, BUILD(r->b, "Gather", r->x[4], r->x[1]));
    d->y[0] = decompose_layer_norm_of(d, sum, r->x[5], r->x[6], node_real(r->n, "epsilon", 1e-12));
    if (decompose_wants(d, 1) && grad_has(r, 7) && node_int(r->n, "mask_index_type", 1))
        d->y[1] = grad_reduce(r, "ReduceSum", r->x[7], &one, 1, false);
    else if (decompose_wants(d, 1))
        d->y[1] = build_op(
            r->b, "Cast",
            VALUES(BUILD(r->b, "Expand", build_ints(r->b, &zero, 1), build_ints(r->b, &batch, 1))),
            ATTRS(attr_int("to", ELEM_I32)));
    if (decompose_wants(d, 2))
        d->y[2] = sum;
}
