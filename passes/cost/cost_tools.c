// The helpers of cost rules, and the time of a node: see cost.h.
#include "passes/cost/cost.h"

#include "ir/base/checked.h"

static cost_rule *const rules[OP_COUNT_] = {
    [OP_UNKNOWN] = cost_unknown,
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    [OP_##name] = cost_##cost,
#include "ir/op.def"
#undef OP
};

int64_t cost_product(int64_t a, int64_t b) {
    int64_t r;
    return checked_mul(a, b, &r) ? r : INT64_MAX;
}

int64_t cost_sum(int64_t a, int64_t b) {
    int64_t r;
    return checked_add(a, b, &r) ? r : INT64_MAX;
}

static const struct type *type_of(const struct cost *c, const value_id *list, uint32_t n,
                                  uint32_t k) {
    return k < n && list[k].i ? graph_value(c->s.g, list[k])->type : NULL;
}

static int64_t elements(const struct type *t) {
    int64_t n;
    return t && type_elements(t, &n) ? n : 0;
}

static int64_t bytes(const struct type *t) {
    int64_t n;
    return t && type_bytes(t, &n) ? n : 0;
}

int64_t cost_in(const struct cost *c, uint32_t k) {
    return elements(type_of(c, c->s.n->in, c->s.n->n_in, k));
}

int64_t cost_out(const struct cost *c, uint32_t k) {
    return elements(type_of(c, c->s.n->out, c->s.n->n_out, k));
}

int64_t cost_in_bytes(const struct cost *c, uint32_t k) {
    return bytes(type_of(c, c->s.n->in, c->s.n->n_in, k));
}

int64_t cost_out_bytes(const struct cost *c, uint32_t k) {
    return bytes(type_of(c, c->s.n->out, c->s.n->n_out, k));
}

int64_t cost_dim(const struct cost *c, uint32_t k, int32_t axis) {
    const struct type *t = shape_ranked(&c->s, k);
    if (t && axis < 0)
        axis += t->rank;
    return t && axis >= 0 && axis < t->rank && dim_known(t->dims[axis]) ? t->dims[axis].size : 1;
}

int64_t cost_elem_bytes(const struct cost *c, uint32_t k) {
    int bits = elem_bits(shape_elem(&c->s, k));
    return bits > 8 ? bits / 8 : 1;
}

void cost_estimate(struct graph *g, node_id id, struct arena *a, struct diags *d,
                   struct cost *out) {
    const struct node *n = graph_node(g, id);
    *out = (struct cost){.s = {g, id, n, a, d, model_opset(g->model, "")}};
    for (uint32_t k = 0; k < n->n_in; k++)
        out->in_bytes = cost_sum(out->in_bytes, cost_in_bytes(out, k));
    for (uint32_t k = 0; k < n->n_out; k++)
        out->out_bytes = cost_sum(out->out_bytes, cost_out_bytes(out, k));
    out->bytes = cost_sum(out->in_bytes, out->out_bytes);
    rules[n->op](out);
    if (out->work < out->flops)
        out->work = out->flops;
}

int64_t cost_round(double time) {
    return time < 1 ? 1 : time < (double)COST_MAX ? (int64_t)(time + 0.5) : COST_MAX;
}

int64_t cost_time(const struct cost *c, const struct cost_device *device) {
    double compute = (double)c->work / device->rate, move = (double)c->bytes / device->bandwidth;
    return c->is_free ? 0 : cost_round(device->overhead + (compute > move ? compute : move));
}
