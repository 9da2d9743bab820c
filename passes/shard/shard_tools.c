// What sharding rules are made of, and the table of rules: see shard_rule.h.
#include <assert.h>

#include "passes/shard/shard_rule.h"

static shard_rule_fn *const rules[OP_COUNT_] = {
    [OP_UNKNOWN] = shard_none,
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    [OP_##name] = shard_##shard,
#include "ir/op.def"
#undef OP
};

const struct type *shard_in_type(const struct shard_rule *r, uint32_t k) {
    return shape_in(r->s, k);
}

const struct type *shard_out_type(const struct shard_rule *r, uint32_t k) {
    const struct node *n = r->s->n;
    return k < n->n_out && n->out[k].i ? graph_value(r->s->g, n->out[k])->type : NULL;
}

uint32_t shard_label(struct shard_rule *r, enum shard_join join, int64_t extent) {
    if (extent < 2 || r->n_labels == SHARD_LABELS)
        return 0;
    r->label[++r->n_labels] = (struct shard_label){.join = join, .extent = extent, .window = -1};
    return r->n_labels;
}

void shard_in_units(struct shard_rule *r, uint32_t k, int32_t dim, struct shard_dim x) {
    assert(dim >= 0 && dim < LIMIT_RANK);
    if (x.label && k < r->s->n->n_in)
        r->in[k][dim] = x;
}

void shard_out_units(struct shard_rule *r, uint32_t k, int32_t dim, struct shard_dim x) {
    assert(dim >= 0 && dim < LIMIT_RANK);
    if (x.label && k < r->s->n->n_out)
        r->out[k][dim] = x;
}

void shard_in(struct shard_rule *r, uint32_t k, int32_t dim, uint32_t label) {
    shard_in_units(r, k, dim, (struct shard_dim){label, 1});
}

void shard_out(struct shard_rule *r, uint32_t k, int32_t dim, uint32_t label) {
    shard_out_units(r, k, dim, (struct shard_dim){label, 1});
}

uint32_t shard_both(struct shard_rule *r, int32_t dim) {
    uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(shard_out_type(r, 0), dim));
    shard_in(r, 0, dim, l);
    shard_out(r, 0, dim, l);
    return l;
}

int32_t shard_axis(const struct shard_rule *r, const char *name, int64_t otherwise, int32_t rank) {
    int64_t axis = node_int(r->s->n, name, otherwise);
    return (int32_t)(axis < 0 ? axis + rank : axis);
}

void shard_none(struct shard_rule *r) {
    r->why = "mfc has no sharding rule for this operator";
}

void shard_random(struct shard_rule *r) {
    r->why = "its parts would draw other random numbers than the whole";
}

static bool are_static(const struct shard_rule *r) {
    const struct node *n = r->s->n;
    for (uint32_t k = 0; k < n->n_in; k++)
        if (n->in[k].i &&
            (!type_is_static(shard_in_type(r, k)) || shard_in_type(r, k)->rank > LIMIT_RANK))
            return false;
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i &&
            (!type_is_static(shard_out_type(r, k)) || shard_out_type(r, k)->rank > LIMIT_RANK))
            return false;
    return n->n_out > 0 && n->out[0].i;
}

status shard_rule_of(struct graph *g, node_id id, struct arena *a, struct diags *d,
                     struct shard_rule *out) {
    const struct node *n = graph_node(g, id);
    struct shape *s = ARENA_NEW(a, struct shape);
    *out = (struct shard_rule){.s = s, .a = a};
    out->in = arena_array(a, n->n_in, sizeof *out->in);
    out->out = arena_array(a, n->n_out, sizeof *out->out);
    if (!s || !out->in || !out->out)
        return diag_out_of_memory(d);
    *s = (struct shape){g, id, n, a, d, model_opset(g->model, "")};
    if (are_static(out))
        rules[n->op](out);
    else
        out->why = "the shape of an operand or result is unknown";
    if (!out->n_labels && !out->why)
        out->why = "it has no dimension along which its parts are independent";
    return out->failed ? diag_out_of_memory(d) : ST_OK;
}
