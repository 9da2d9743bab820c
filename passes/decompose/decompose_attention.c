// Attention operators of com.microsoft: Attention (with its products), MultiHeadAttention and
// GroupQueryAttention. Keys and values of past steps are put before the present ones.
#include <string.h>

#include "passes/decompose/decompose.h"

static double far_below(struct decompose *d, value_id like) {
    return grad_elem(&d->tools, like) == ELEM_F16 ? -6e4 : -1e30;
}

// 0 where a mask is positive, `far` elsewhere.
static value_id additive(struct decompose *d, value_id mask, value_id like, double far) {
    struct grad *r = &d->tools;
    value_id seen = build_op(r->b, "Cast", VALUES(mask), ATTRS(attr_int("to", ELEM_BOOL)));
    return BUILD(r->b, "Where", seen, grad_real(r, like, 0), grad_real(r, like, far));
}

// A mask of keys as it is given: [B] lengths, [B,T], or [B,S,T]; added to scores [B,N,S,T].
static value_id padding_mask(struct decompose *d, value_id mask, value_id like, int64_t total,
                             double far) {
    struct grad *r = &d->tools;
    int32_t rank = grad_rank(r, mask);
    int64_t b = grad_dim(r, mask, 0);
    if (rank == 1) {
        int64_t *x = ARENA_ARRAY(r->a, int64_t, total);
        for (int64_t i = 0; x && i < total; i++)
            x[i] = i;
        value_id columns = build_ints(r->b, x ? x : &total, x ? total : 1);
        value_id length = grad_cast(r, grad_reshape(r, mask, (int64_t[]){b, 1, 1, 1}, 4), ELEM_I64);
        return additive(d, BUILD(r->b, "Less", columns, length), like, far);
    }
    int64_t dims[] = {b, 1, rank == 3 ? grad_dim(r, mask, 1) : 1, grad_dim(r, mask, -1)};
    return additive(d, grad_reshape(r, mask, dims, 4), like, far);
}

static bool fits_padding_mask(struct decompose *d, uint32_t k, int64_t batch) {
    struct grad *r = &d->tools;
    if (!grad_has(r, k))
        return true;
    int32_t rank = grad_rank(r, r->x[k]);
    bool fits = rank >= 1 && rank <= 3 && grad_dim(r, r->x[k], 0) == batch;
    if (!fits)
        decompose_refuse(d, "masks other than [batch], [batch, keys] and [batch, queries, keys] "
                            "have no formula");
    return fits;
}

// Past keys or values, and then the present ones, along the positions.
static value_id after(struct decompose *d, value_id past, value_id now) {
    return past.i && grad_dim(&d->tools, past, 2) > 0
               ? decompose_concat(d, (value_id[]){past, now}, 2, 2)
               : now;
}

// Part k of a past of [2,B,N,P,H].
static value_id past_part(struct decompose *d, value_id past, int64_t k) {
    struct grad *r = &d->tools;
    int64_t dims[4];
    for (int32_t i = 0; i < 4; i++)
        dims[i] = grad_dim(r, past, i + 1);
    return grad_reshape(r, grad_slice(r, past, 0, k, k + 1), dims, 4);
}

// The sizes of queries, keys and values in a row of the weights.
static void hidden_sizes(const struct decompose *d, int64_t *size) {
    const struct grad *r = &d->tools;
    const struct attr *a = node_attr(r->n, "qkv_hidden_sizes");
    for (int k = 0; k < 3; k++)
        size[k] = a && a->kind == ATTR_INTS && a->n == 3 ? a->ints[k] : grad_dim(r, r->x[1], 1) / 3;
}

void decompose_attention(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t heads = node_int(r->n, "num_heads", 0), size[3];
    if (!decompose_has_shapes(d, 6) || !fits_padding_mask(d, 3, grad_dim(r, r->x[0], 0)))
        return;
    if (heads < 1 || grad_has(r, 6) || node_int(r->n, "do_rotary", 0)) {
        decompose_refuse(d, "a shared buffer of past keys, and rotary positions, have no formula");
        return;
    }
    value_id all = BUILD(r->b, "MatMul", r->x[0], r->x[1]), part[3];
    all = grad_has(r, 2) ? grad_add(r, all, r->x[2]) : all;
    hidden_sizes(d, size);
    decompose_split_sizes(d, all, 2, size, 3, part);
    for (int k = 0; k < 3; k++)
        part[k] = decompose_split_heads(d, part[k], heads);
    bool has_past = grad_has(r, 4);
    int64_t before = has_past ? grad_dim(r, r->x[4], 3) : 0, length = grad_dim(r, r->x[0], 1);
    struct attention a = {.q = part[0], .scale = node_real(r->n, "scale", 0)};
    a.k = after(d, has_past ? past_part(d, r->x[4], 0) : VALUE_NONE, part[1]);
    a.v = after(d, has_past ? past_part(d, r->x[4], 1) : VALUE_NONE, part[2]);
    double far = node_real(r->n, "mask_filter_value", -10000);
    if (grad_has(r, 3))
        a.masks[0] = padding_mask(d, r->x[3], a.q, before + length, far);
    if (node_int(r->n, "unidirectional", 0))
        a.masks[1] = decompose_causal_mask(d, a.q, (int64_t[]){length, before + length}, before,
                                           far_below(d, a.q));
    a.masks[2] = grad_has(r, 5) ? r->x[5] : VALUE_NONE;
    d->y[0] = decompose_join_heads(d, decompose_attention_of(d, &a));
    if (!decompose_wants(d, 1))
        return;
    value_id both[2] = {a.k, a.v};
    int64_t zero = 0;
    for (int k = 0; k < 2; k++)
        both[k] = BUILD(r->b, "Unsqueeze", both[k], build_ints(r->b, &zero, 1));
    d->y[1] = decompose_concat(d, both, 2, 0);
}

// Element `at` of the last but one dimension of [B,S,N,parts,H], as [B,N,S,H].
static value_id packed_part(struct decompose *d, value_id v, int64_t at) {
    struct grad *r = &d->tools;
    int64_t dims[] = {grad_dim(r, v, 0), grad_dim(r, v, 1), grad_dim(r, v, 2), grad_dim(r, v, 4)};
    value_id part = grad_reshape(r, grad_slice(r, v, 3, at, at + 1), dims, 4);
    return grad_transpose(r, part, (int64_t[]){0, 2, 1, 3});
}

// Operand k with its part of the bias, as [B,N,L,H]. Cross attention gives keys and values so.
static value_id operand(struct decompose *d, uint32_t k, int64_t heads, int64_t *bias_at) {
    struct grad *r = &d->tools;
    value_id v = r->x[k];
    if (grad_rank(r, v) == 4)
        return v;
    int64_t size = grad_dim(r, v, 2);
    if (grad_has(r, 3))
        v = grad_add(r, v, grad_slice(r, r->x[3], 0, *bias_at, *bias_at + size));
    *bias_at += size;
    return decompose_split_heads(d, v, heads);
}

static void multi_head_operands(struct decompose *d, struct attention *a, int64_t heads) {
    struct grad *r = &d->tools;
    int64_t at = 0;
    if (grad_rank(r, r->x[0]) == 5) {
        a->q = packed_part(d, r->x[0], 0);
        a->k = packed_part(d, r->x[0], 1);
        a->v = packed_part(d, r->x[0], 2);
        return;
    }
    a->q = operand(d, 0, heads, &at);
    if (grad_rank(r, r->x[1]) == 5) {
        a->k = packed_part(d, r->x[1], 0);
        a->v = packed_part(d, r->x[1], 1);
        return;
    }
    a->k = operand(d, 1, heads, &at);
    a->v = operand(d, 2, heads, &at);
}

void decompose_multi_head_attention(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t heads = node_int(r->n, "num_heads", 0);
    if (!decompose_has_shapes(d, 8) || !fits_padding_mask(d, 4, grad_dim(r, r->x[0], 0)))
        return;
    bool packed = grad_rank(r, r->x[0]) == 5 || (grad_has(r, 1) && grad_rank(r, r->x[1]) == 5);
    if (heads < 1 || grad_has(r, 8) || grad_has(r, 9) || (packed && grad_has(r, 3)) ||
        (!packed && !grad_has(r, 2))) {
        decompose_refuse(d, "shared buffers of past keys, and packed operands with a bias, have no "
                            "formula");
        return;
    }
    struct attention a = {.scale = node_real(r->n, "scale", 0)};
    multi_head_operands(d, &a, heads);
    int64_t before = grad_has(r, 6) ? grad_dim(r, r->x[6], 2) : 0;
    a.k = after(d, grad_has(r, 6) ? r->x[6] : VALUE_NONE, a.k);
    a.v = after(d, grad_has(r, 7) ? r->x[7] : VALUE_NONE, a.v);
    int64_t length = grad_dim(r, a.q, 2), total = grad_dim(r, a.k, 2);
    if (grad_has(r, 4))
        a.masks[0] =
            padding_mask(d, r->x[4], a.q, total, node_real(r->n, "mask_filter_value", -10000));
    if (node_int(r->n, "unidirectional", 0))
        a.masks[1] =
            decompose_causal_mask(d, a.q, (int64_t[]){length, total}, before, far_below(d, a.q));
    a.masks[2] = grad_has(r, 5) ? r->x[5] : VALUE_NONE;
    d->y[0] = decompose_join_heads(d, decompose_attention_of(d, &a));
    value_id more[] = {a.k, a.v, a.stages[0]};
    for (uint32_t k = 1; k < 4; k++)
        if (decompose_wants(d, k))
            d->y[k] = more[k - 1];
}

// Rows `from` and following of the table of angles, as [1,1,S,R/2].
static value_id rows_from(struct decompose *d, value_id table, int64_t from, int64_t n) {
    struct grad *r = &d->tools;
    value_id rows = grad_slice(r, table, 0, from, from + n);
    return grad_reshape(r, rows, (int64_t[]){1, 1, n, grad_dim(r, table, 1)}, 4);
}

static bool refuse_group_query(struct decompose *d) {
    const struct grad *r = &d->tools;
    bool others = node_int(r->n, "smooth_softmax", 0) || grad_has(r, 9) || grad_has(r, 11);
    if (others)
        decompose_refuse(d, "positions as an input, sinks and smooth softmax have no formula");
    return others;
}

// Every sequence is taken as long as the operands: with padding, the results behind the end of a
// sequence have no meaning, here as in ONNX Runtime.
void decompose_group_query_attention(struct decompose *d) {
    struct grad *r = &d->tools;
    int64_t heads = node_int(r->n, "num_heads", 0), kv_heads = node_int(r->n, "kv_num_heads", 0);
    if (!decompose_has_shapes(d, 5) || heads < 1 || kv_heads < 1 || refuse_group_query(d))
        return;
    value_id part[3] = {r->x[0], grad_has(r, 1) ? r->x[1] : VALUE_NONE,
                        grad_has(r, 2) ? r->x[2] : VALUE_NONE};
    int64_t n[3] = {heads, kv_heads, kv_heads}, length = grad_dim(r, r->x[0], 1);
    int64_t size = grad_dim(r, r->x[0], 2) / (part[1].i ? heads : heads + 2 * kv_heads);
    if (!part[1].i) // one packed operand
        decompose_split_sizes(d, r->x[0], 2, (int64_t[]){n[0] * size, n[1] * size, n[2] * size}, 3,
                              part);
    for (int k = 0; k < 3; k++)
        part[k] = decompose_split_heads(d, part[k], n[k]);
    int64_t before = grad_has(r, 3) ? grad_dim(r, r->x[3], 2) : 0;
    if (node_int(r->n, "do_rotary", 0)) {
        bool interleaved = node_int(r->n, "rotary_interleaved", 0) != 0;
        value_id cos = rows_from(d, r->x[7], before, length),
                 sin = rows_from(d, r->x[8], before, length);
        for (int k = 0; k < 2; k++)
            part[k] = decompose_rotate(d, part[k], cos, sin, interleaved);
    }
    struct attention a = {.q = part[0],
                          .scale = node_real(r->n, "scale", 0),
                          .softcap = node_real(r->n, "softcap", 0)};
    a.k = after(d, grad_has(r, 3) ? r->x[3] : VALUE_NONE, part[1]);
    a.v = after(d, grad_has(r, 4) ? r->x[4] : VALUE_NONE, part[2]);
    int64_t window = node_int(r->n, "local_window_size", -1), total = before + length;
    a.masks[0] =
        decompose_causal_mask(d, a.q, (int64_t[]){length, total}, before, far_below(d, a.q));
    if (window > 0) { // row i sees the last `window` columns up to its own
        double *x = ARENA_ARRAY(r->a, double, (size_t)(length * total));
        for (int64_t i = 0; x && i < length * total; i++)
            x[i] = i % total <= i / total + before - window ? far_below(d, a.q) : 0;
        a.masks[1] = decompose_table(d, a.q, x, (int64_t[]){length, total}, 2);
    }
    a.masks[2] = grad_has(r, 10) ? r->x[10] : VALUE_NONE;
    d->y[0] = decompose_join_heads(d, decompose_attention_of(d, &a));
    if (decompose_wants(d, 1))
        d->y[1] = a.k;
    if (decompose_wants(d, 2))
        d->y[2] = a.v;
}

// Attention of ai.onnx has a gradient rule; the forms that the rule does not cover are replaced.
static bool has_rule(const struct decompose *d) {
    const struct grad *r = &d->tools;
    bool further = grad_has(r, 4) || grad_has(r, 5) || grad_has(r, 6);
    for (uint32_t k = 1; k < 4; k++)
        further |= decompose_wants(d, k);
    bool learned =
        grad_has(r, 3) && grad_carries(r->g, r->x[3]) && !graph_value(r->g, r->x[3])->init;
    return !further && !learned && node_real(r->n, "softcap", 0) == 0;
}

void decompose_onnx_attention(struct decompose *d) {
    struct grad *r = &d->tools;
    d->keeps = has_rule(d);
    if (d->keeps || !decompose_has_shapes(d, 6))
        return;
    int64_t heads[] = {node_int(r->n, "q_num_heads", 0), node_int(r->n, "kv_num_heads", 0),
                       node_int(r->n, "kv_num_heads", 0)};
    bool flat = grad_rank(r, r->x[0]) == 3;
    value_id part[3];
    for (int k = 0; k < 3; k++)
        part[k] = flat ? decompose_split_heads(d, r->x[k], heads[k]) : r->x[k];
    struct attention a = {.q = part[0],
                          .scale = node_real(r->n, "scale", 0),
                          .softcap = node_real(r->n, "softcap", 0)};
    int64_t before = grad_has(r, 4) ? grad_dim(r, r->x[4], 2) : 0;
    a.k = after(d, grad_has(r, 4) ? r->x[4] : VALUE_NONE, part[1]);
    a.v = after(d, grad_has(r, 5) ? r->x[5] : VALUE_NONE, part[2]);
    int64_t length = grad_dim(r, a.q, 2), total = grad_dim(r, a.k, 2);
    if (grad_has(r, 3))
        a.masks[0] = grad_elem(r, r->x[3]) == ELEM_BOOL
                         ? additive(d, r->x[3], a.q, far_below(d, a.q))
                         : r->x[3];
    if (node_int(r->n, "is_causal", 0))
        a.masks[1] =
            decompose_causal_mask(d, a.q, (int64_t[]){length, total}, before, far_below(d, a.q));
    if (grad_has(r, 6))
        a.masks[2] = padding_mask(d, r->x[6], a.q, total, far_below(d, a.q));
    value_id y = decompose_attention_of(d, &a);
    d->y[0] = flat ? decompose_join_heads(d, y) : y;
    value_id more[] = {a.k, a.v, a.stages[node_int(r->n, "qk_matmul_output_mode", 0) & 3]};
    for (uint32_t k = 1; k < 4; k++)
        if (decompose_wants(d, k))
            d->y[k] = more[k - 1];
}
