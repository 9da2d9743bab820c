// Quantized operators as what they mean in floats. A quantized value is replaced by the float that
// it stands for: QuantizeLinear and DequantizeLinear in a row keep the rounding, and gradients pass
// straight through them. Operators on quantized values become DequantizeLinear of their weights,
// the operator on floats, and the quantization of the result. Dynamic quantization has no fixed
// steps, so its rounding is left out.
//
// Quantized weights are frozen, and stay in the file as they are. With --dequantize they become
// float parameters (dequantize.c).
#include <string.h>

#include "passes/decompose/decompose.h"

static value_id input(const struct decompose *d, uint32_t k) {
    return grad_has(&d->tools, k) ? d->tools.x[k] : VALUE_NONE;
}

// Operands k, k + 1, k + 2: a quantized tensor, its scale and its zero point.
static value_id operand(struct decompose *d, uint32_t k, int64_t axis) {
    struct quantized q = {input(d, k), input(d, k + 1), input(d, k + 2), axis, 0, false};
    return decompose_dequantized(d, &q);
}

// The result x, rounded to the steps of scale and zero point: as the float that it stands for, or
// quantized, if a reader needs the integer.
static value_id rounded(struct decompose *d, value_id x, value_id scale, value_id zero) {
    struct builder *b = d->tools.b;
    struct values in = VALUES(x, scale, zero);
    decompose_fix_scale(d, scale);
    in.n = zero.i ? 3 : 2;
    value_id q = build_op(b, "QuantizeLinear", in, NO_ATTRS);
    in.at = VALUES(q, scale, zero).at;
    return d->floats ? build_op(b, "DequantizeLinear", in, NO_ATTRS) : q;
}

static bool is_float(const struct decompose *d, value_id v) {
    return v.i && elem_is_float(grad_elem(&d->tools, v));
}

void decompose_quantize(struct decompose *d) {
    struct grad *r = &d->tools;
    bool plain = !*r->n->domain || strcmp(r->n->domain, "ai.onnx") == 0;
    if ((!d->floats && plain) || grad_rank(r, input(d, 1)) > 0)
        d->keeps = true;
    else
        d->y[0] = rounded(d, r->x[0], r->x[1], input(d, 2));
}

void decompose_dequantize(struct decompose *d) {
    struct grad *r = &d->tools;
    struct quantized q = {
        r->x[0], r->x[1], input(d, 2), node_int(r->n, "axis", 1), node_int(r->n, "block_size", 0),
        false};
    bool constant = graph_value(r->g, r->x[0])->init != NULL;
    bool plain = !*r->n->domain || strcmp(r->n->domain, "ai.onnx") == 0;
    if (is_float(d, r->x[0]))
        d->y[0] = r->x[0];
    else if (!plain || (constant && d->trains_base))
        d->y[0] = decompose_dequantized(d, &q);
    else
        d->keeps = true;
    d->n_frozen += constant && !d->trains_base;
}

// y stands for x; its scale is 1 from now on, and its zero point 0.
void decompose_dynamic_quantize(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t zero = 0;
    if (!d->floats) {
        decompose_refuse(d, "an operator that has no float form reads its result");
        return;
    }
    d->y[0] = r->x[0];
    d->y[1] = build_scalar(r->b, ELEM_F32, 1);
    d->y[2] = build_tensor(r->b, tensor_from_ints(r->g->model->arena, ELEM_U8, &zero, NULL, 0));
}

// The result of an integer product is cast and scaled by the product of both scales, of which that
// of dynamic quantization is 1. Finds the constant one, and lets the product take the place of the
// scaled one.
static value_id absorb_scale(struct decompose *d, uint32_t max_elements) {
    struct grad *r = &d->tools;
    node_id cast = decompose_only_user(d, r->n->out[0]);
    value_id casted = cast.i && graph_node(r->g, cast)->op == OP_Cast
                          ? graph_node(r->g, cast)->out[0]
                          : VALUE_NONE;
    node_id times = casted.i ? decompose_only_user(d, casted) : NODE_NONE;
    const struct node *mul = times.i ? graph_node(r->g, times) : NULL;
    if (!mul || mul->op != OP_Mul || graph_value(r->g, casted)->is_output)
        return VALUE_NONE;
    value_id factor = mul->in[value_same(mul->in[0], casted)];
    node_id def = graph_value(r->g, factor)->def;
    const struct node *product = def.i ? graph_node(r->g, def) : NULL;
    for (uint32_t k = 0; product && product->op == OP_Mul && k < 2; k++) {
        value_id scale = product->in[k];
        int64_t n = grad_elements(r, scale);
        if (!decompose_is_unit(d, product->in[1 - k]) || !graph_value(r->g, scale)->init ||
            (n != 1 && n != max_elements))
            continue;
        d->instead = mul->out[0];
        d->gone[0] = cast;
        d->gone[1] = times;
        return n == 1 ? grad_reshape(r, scale, NULL, 0) : grad_reshape(r, scale, (int64_t[]){n}, 1);
    }
    return VALUE_NONE;
}

static bool integer_operands(struct decompose *d) {
    const struct grad *r = &d->tools;
    bool ok = is_float(d, r->x[0]) && graph_value(r->g, r->x[1])->init;
    if (!ok)
        decompose_refuse(d, "its operands are not a dynamically quantized value and a constant");
    return ok && decompose_has_shapes(d, 2);
}

void decompose_matmul_integer(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!integer_operands(d))
        return;
    int64_t columns = grad_dim(r, r->x[1], -1);
    value_id scale = absorb_scale(d, (uint32_t)columns);
    scale = scale.i ? scale : build_scalar(r->b, ELEM_F32, 1);
    struct quantized q = {r->x[1], scale, input(d, 3), grad_rank(r, r->x[1]) - 1, 0, false};
    d->y[0] = BUILD(r->b, "MatMul", r->x[0], decompose_dequantized(d, &q));
}

void decompose_conv_integer(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!integer_operands(d))
        return;
    value_id scale = absorb_scale(d, 1);
    scale = scale.i ? scale : build_scalar(r->b, ELEM_F32, 1);
    struct quantized q = {r->x[1], scale, input(d, 3), 0, 0, false};
    d->y[0] = build_op(r->b, "Conv", VALUES(r->x[0], decompose_dequantized(d, &q)),
                       (struct attrs){r->n->attrs, r->n->n_attrs});
}

// An integer bias has the product of both scales as its scale.
static value_id bias_of(struct decompose *d, value_id bias, value_id a, value_id b) {
    struct grad *r = &d->tools;
    value_id scale = grad_mul(r, grad_reshape(r, a, NULL, 0), b);
    return bias.i ? grad_mul(r, grad_cast(r, bias, ELEM_F32), scale) : VALUE_NONE;
}

void decompose_qlinear_conv(struct decompose *d) {
    struct grad *r = &d->tools;
    value_id x = operand(d, 0, 1), w = operand(d, 3, 0);
    struct values in = VALUES(x, w, bias_of(d, input(d, 8), r->x[1], r->x[4]));
    in.n = grad_has(r, 8) ? 3 : 2;
    value_id y = build_op(r->b, "Conv", in, (struct attrs){r->n->attrs, r->n->n_attrs});
    d->y[0] = rounded(d, y, r->x[6], input(d, 7));
}

void decompose_qlinear_matmul(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t rank = grad_rank(r, r->x[3]);
    value_id a = operand(d, 0, 0), b = operand(d, 3, rank - 1);
    d->y[0] = rounded(d, BUILD(r->b, "MatMul", a, b), r->x[6], input(d, 7));
}

void decompose_qlinear_add(struct decompose *d) {
    value_id a = operand(d, 0, 0), b = operand(d, 3, 0);
    d->y[0] = rounded(d, grad_add(&d->tools, a, b), d->tools.x[6], input(d, 7));
}

void decompose_qlinear_mul(struct decompose *d) {
    value_id a = operand(d, 0, 0), b = operand(d, 3, 0);
    d->y[0] = rounded(d, grad_mul(&d->tools, a, b), d->tools.x[6], input(d, 7));
}

// The condition, both operands and the result, each with its scale and zero point.
void decompose_qlinear_where(struct decompose *d) {
    value_id a = operand(d, 1, 0), b = operand(d, 4, 0);
    value_id y = BUILD(d->tools.b, "Where", d->tools.x[0], a, b);
    d->y[0] = rounded(d, y, d->tools.x[7], input(d, 8));
}

// QLinearSigmoid, QLinearLeakyRelu, QLinearAveragePool, …: the operator behind the prefix.
void decompose_qlinear_unary(struct decompose *d) {
    struct grad *r = &d->tools;
    struct attr at[16];
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n->n_attrs && n < 16; i++) {
        const struct attr *a = &r->n->attrs[i];
        if (strcmp(a->name, "channels_last") == 0 && a->i) {
            decompose_refuse(d, "channels_last has no formula");
            return;
        }
        if (strcmp(a->name, "channels_last") != 0 && strcmp(a->name, "opset") != 0)
            at[n++] = *a;
    }
    value_id x = operand(d, 0, 0);
    value_id y = build_op(r->b, r->n->type + strlen("QLinear"), VALUES(x), (struct attrs){at, n});
    d->y[0] = rounded(d, y, r->x[3], input(d, 4));
}

void decompose_qlinear_concat(struct decompose *d) {
    struct grad *r = &d->tools;
    uint32_t n = (r->n->n_in - 2) / 3;
    value_id *parts = ARENA_ARRAY(r->a, value_id, n);
    for (uint32_t k = 0; parts && k < n; k++)
        parts[k] = operand(d, 2 + 3 * k, 0);
    if (parts)
        d->y[0] =
            rounded(d, decompose_concat(d, parts, n, node_int(r->n, "axis", 0)), r->x[0], r->x[1]);
}

void decompose_qgemm(struct decompose *d) {
    struct grad *r = &d->tools;
    bool columns = node_int(r->n, "transB", 0) == 0;
    value_id a = operand(d, 0, 0), b = operand(d, 3, columns);
    struct values in = VALUES(a, b, bias_of(d, input(d, 6), r->x[1], r->x[4]));
    in.n = grad_has(r, 6) ? 3 : 2;
    value_id y = build_op(r->b, "Gemm", in, (struct attrs){r->n->attrs, r->n->n_attrs});
    d->y[0] = grad_has(r, 7) ? rounded(d, y, r->x[7], input(d, 8)) : y;
}

// A, B, scale of B, zero point of B, bias; A is quantized inside, dynamically.
void decompose_dynamic_matmul(struct decompose *d) {
    struct grad *r = &d->tools;
    struct quantized q = {r->x[1], r->x[2], input(d, 3), grad_rank(r, r->x[1]) - 1, 0, false};
    value_id y = BUILD(r->b, "MatMul", r->x[0], decompose_dequantized(d, &q));
    d->y[0] = grad_has(r, 4) ? grad_add(r, y, r->x[4]) : y;
}

// A, B, scales of A and B, zero points of A and B, bias.
void decompose_matmul_to_float(struct decompose *d) {
    struct grad *r = &d->tools;
    struct quantized a = {r->x[0], r->x[2], input(d, 4), 0, 0, false};
    struct quantized b = {r->x[1], r->x[3], input(d, 5), grad_rank(r, r->x[1]) - 1, 0, false};
    value_id x = decompose_dequantized(d, &a);
    value_id y = BUILD(r->b, "MatMul", x, decompose_dequantized(d, &b));
    d->y[0] = grad_has(r, 6) ? grad_add(r, y, r->x[6]) : y;
}

// LSTM with weights [directions, inputs, 4 * hidden], quantized as a whole, per direction, or per
// column of each direction.
static value_id lstm_weights(struct decompose *d, uint32_t k, uint32_t scale) {
    struct grad *r = &d->tools;
    struct quantized q = {.x = r->x[k], .scale = r->x[scale], .zero = input(d, scale + 1)};
    int64_t n = grad_elements(r, q.scale), directions = grad_dim(r, q.x, 0);
    if (n == 1) {
        q.scale = grad_reshape(r, q.scale, NULL, 0);
        q.zero = q.zero.i ? grad_reshape(r, q.zero, NULL, 0) : q.zero;
    } else if (n != directions) {
        q.axis = 2;
        q.per_first = true;
    }
    return grad_swap_last(r, decompose_dequantized(d, &q));
}

void decompose_dynamic_lstm(struct decompose *d) {
    struct grad *r = &d->tools;
    value_id in[8], out[3];
    if (!decompose_has_shapes(d, 12))
        return;
    for (uint32_t k = 0; k < 8; k++)
        in[k] = input(d, k);
    in[1] = lstm_weights(d, 1, 8);
    in[2] = lstm_weights(d, 2, 10);
    if (d->refused)
        return;
    build_outputs(r->b, "LSTM", (struct values){in, 8}, (struct attrs){r->n->attrs, r->n->n_attrs},
                  out, 3);
    for (uint32_t k = 0; k < 3 && k < r->n->n_out; k++)
        d->y[k] = out[k];
}

// x, weights, bias, scales of x and weights, mask, zero points of x and weights, past: Attention of
// the floats.
void decompose_qattention(struct decompose *d) {
    struct grad *r = &d->tools;
    if (!decompose_has_shapes(d, 9))
        return;
    struct quantized x = {r->x[0], r->x[3], input(d, 6), 0, 0, false};
    struct quantized w = {r->x[1], r->x[4], input(d, 7), 1, 0, false};
    value_id in[] = {decompose_dequantized(d, &x), decompose_dequantized(d, &w), input(d, 2),
                     input(d, 5), input(d, 8)};
    const struct grad quantized = *r;
    struct node floats = *r->n;
    floats.in = in;
    floats.n_in = 5;
    r->n = &floats;
    r->x = in;
    decompose_attention(d);
    r->n = quantized.n;
    r->x = quantized.x;
}
