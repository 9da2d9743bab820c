// Quantized weights as floats: by DequantizeLinear in the graph, or, with --dequantize, as float
// initializers that are trained.
#include <string.h>

#include "ir/base/limits.h"
#include "passes/decompose/decompose.h"

bool decompose_read(struct decompose *d, value_id v, struct elements *e) {
    struct grad *r = &d->tools;
    const struct value *x = v.i ? graph_value(r->g, v) : NULL;
    *e = (struct elements){0};
    if (!x)
        return true;
    uint8_t *raw;
    if (!x->init || x->is_input || tensor_raw(x->init, r->a, r->b->d, &raw, &e->n)) {
        decompose_refuse(d, "its weights, scales or zero points are not constant");
        return false;
    }
    e->raw = raw;
    e->elem = x->init->elem;
    return true;
}

double decompose_element(const struct elements *e, int64_t i) {
    return e->raw ? tensor_raw_real(e->elem, e->raw, e->n == 1 ? 0 : i) : 0;
}

// The name of the float weights: that of the quantized ones without what tools append.
static const char *float_name(struct decompose *d, value_id quantized) {
    struct grad *r = &d->tools;
    static const char *const ends[] = {"_quantized", "_quant", "_Q4", "_Q8"};
    const char *name = graph_value(r->g, quantized)->name;
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (str_ends_with(name, ends[i]))
            return graph_fresh_name(r->g,
                                    str_format(r->a, "%.*s", (int)(n - strlen(ends[i])), name));
    return graph_fresh_name(r->g, str_format(r->a, "%s.float", name));
}

value_id decompose_add_weights(struct decompose *d, value_id from, struct tensor *t) {
    struct grad *r = &d->tools;
    const char *name = t ? float_name(d, from) : NULL;
    value_id v =
        name ? graph_add_value(r->g, name, tensor_type(r->g->model->arena, t)) : VALUE_NONE;
    if (!v.i || !graph_add_init(r->g, v, t)) {
        r->b->failed = diag_out_of_memory(r->b->d);
        return VALUE_NONE;
    }
    t->name = name;
    graph_value(r->g, v)->is_constant = !d->trains_base;
    return v;
}

// (x - zero) scale; one scale, one for each index along the axis, or one for each block of it.
static value_id as_parameter(struct decompose *d, const struct quantized *q) {
    struct grad *r = &d->tools;
    struct elements x, scale, zero;
    if (!decompose_read(d, q->x, &x) || !decompose_read(d, q->scale, &scale) ||
        !decompose_read(d, q->zero, &zero))
        return VALUE_NONE;
    const struct tensor *from = graph_value(r->g, q->x)->init;
    int64_t axis = q->axis < 0 ? q->axis + from->rank : q->axis, inner = 1;
    for (int32_t i = (int32_t)axis + 1; i < from->rank; i++)
        inner *= from->dims[i];
    int64_t size = axis < from->rank ? from->dims[axis] : 1;
    int64_t blocks = q->block ? (size + q->block - 1) / q->block : 0;
    float *y;
    struct tensor *t = tensor_floats(r->g->model->arena, from->dims, from->rank, &y);
    for (int64_t i = 0; t && i < x.n; i++) {
        int64_t at = i / inner % size, outer = i / inner / size;
        int64_t k = blocks         ? (outer * blocks + at / q->block) * inner + i % inner
                    : q->per_first ? i / (x.n / from->dims[0]) * size + at
                                   : at;
        y[i] = (float)((decompose_element(&x, i) - decompose_element(&zero, k)) *
                       decompose_element(&scale, k));
    }
    return decompose_add_weights(d, q->x, t);
}

void decompose_fix_scale(struct decompose *d, value_id scale) {
    struct value *x = graph_value(d->tools.g, scale);
    x->is_constant |= x->init != NULL;
}

// With more scales than DequantizeLinear takes: (x - zero) scale, written out.
static value_id scaled(struct decompose *d, const struct quantized *q) {
    struct grad *r = &d->tools;
    int32_t rank = grad_rank(r, q->x);
    int64_t dims[LIMIT_RANK];
    for (int32_t i = 0; i < rank; i++)
        dims[i] = i == 0 || i == q->axis ? grad_dim(r, q->x, i) : 1;
    enum elem e = grad_elem(r, q->scale);
    value_id x = grad_cast(r, q->x, e);
    if (q->zero.i)
        x = grad_sub(r, x, grad_cast(r, grad_reshape(r, q->zero, dims, rank), e));
    return grad_mul(r, x, grad_reshape(r, q->scale, dims, rank));
}

value_id decompose_dequantized(struct decompose *d, const struct quantized *q) {
    struct grad *r = &d->tools;
    decompose_fix_scale(d, q->scale);
    if (elem_is_float(grad_elem(r, q->x)))
        return q->x;
    bool constant = graph_value(r->g, q->x)->init && !graph_value(r->g, q->x)->is_input;
    if (constant && d->trains_base && elem_is_float(grad_elem(r, q->scale)))
        return as_parameter(d, q);
    d->n_frozen += constant;
    if (q->per_first)
        return scaled(d, q);
    struct attr at[] = {attr_int("axis", q->axis), attr_int("block_size", q->block)};
    struct values in = VALUES(q->x, q->scale, q->zero);
    in.n = q->zero.i ? 3 : 2;
    return build_op(r->b, "DequantizeLinear", in,
                    (struct attrs){at, q->block                         ? 2
                                       : grad_elements(r, q->scale) > 1 ? 1
                                                                        : 0});
}

value_id decompose_unrounded(struct builder *b, value_id v) {
    const struct value *x = graph_value(b->g, v);
    const struct node *n = x->def.i ? graph_node(b->g, x->def) : NULL;
    if (n && (n->op == OP_Reshape || n->op == OP_Unsqueeze) && n->n_in == 2) {
        value_id inner = decompose_unrounded(b, n->in[0]);
        n = graph_node(b->g, graph_value(b->g, v)->def);
        return BUILD(b, n->type, inner, n->in[1]);
    }
    value_id real = n && n->op == OP_Cast ? n->in[0] : VALUE_NONE;
    const struct type *t = real.i ? graph_value(b->g, real)->type : NULL;
    if (!t || t->kind != TYPE_TENSOR || !elem_is_float(t->elem))
        return build_op(b, "Cast", VALUES(v), ATTRS(attr_int("to", ELEM_F32)));
    node_id def = graph_value(b->g, real)->def;
    const struct node *rounding = def.i ? graph_node(b->g, def) : NULL;
    bool rounds = rounding && (rounding->op == OP_Floor || rounding->op == OP_Round);
    return rounds ? rounding->in[0] : real;
}
