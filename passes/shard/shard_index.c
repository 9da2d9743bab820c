// Sharding of operators with indices. The dimension that indices point into stays whole.
#include <string.h>

#include "passes/shard/shard_rule.h"

void shard_gather(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0), *at = shard_in_type(r, 1);
    int32_t axis = shard_axis(r, "axis", 0, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        int32_t to = i < axis ? i : i - 1 + at->rank;
        uint32_t l = i == axis ? 0 : shard_label(r, SHARD_CONCAT, shard_size(x, i));
        shard_in(r, 0, i, l);
        shard_out(r, 0, i == axis ? 0 : to, l);
    }
    for (int32_t i = 0; i < at->rank; i++) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(at, i));
        shard_in(r, 1, i, l);
        shard_out(r, 0, axis + i, l);
    }
}

// GatherElements, and ScatterElements with the updates as third operand.
static void elements(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0), *at = shard_in_type(r, 1);
    int32_t axis = shard_axis(r, "axis", 0, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        if (i == axis || shard_size(x, i) != shard_size(at, i))
            continue;
        uint32_t l = shard_both(r, i);
        shard_in(r, 1, i, l);
        shard_in(r, 2, i, l);
    }
}

void shard_gather_elements(struct shard_rule *r) {
    elements(r);
    // Indices along the axis are independent of each other.
    const struct type *at = shard_in_type(r, 1);
    int32_t axis = shard_axis(r, "axis", 0, at->rank);
    uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(at, axis));
    shard_in(r, 1, axis, l);
    shard_out(r, 0, axis, l);
}

static bool adds(const struct shard_rule *r) {
    return strcmp(node_text(r->s->g, r->s->n, "reduction", "none"), "add") == 0;
}

// The images of the pooling whose maxima these positions are, one after the other; 0: they are
// none.
static int64_t pooled_images(const struct shard_rule *r) {
    const struct graph *g = r->s->g;
    value_id at = r->s->n->in[1];
    node_id def = graph_value(g, at)->def;
    while (def.i && graph_node(g, def)->op == OP_Reshape) {
        at = graph_node(g, def)->in[0];
        def = graph_value(g, at)->def;
    }
    const struct node *pool = def.i ? graph_node(g, def) : NULL;
    int64_t n, size = shard_size(shard_in_type(r, 0), 0);
    if (!pool || pool->op != OP_MaxPool || pool->n_out < 2 || pool->out[1].i != at.i)
        return 0;
    const struct type *x = graph_value(g, pool->in[0])->type;
    return type_is_static(x) && type_elements(x, &n) && n == size && n > 0 ? x->dims[0].size : 0;
}

// The gradient of a pooling whose windows overlap: the positions of an image lie in it.
static bool scatters_maxima(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0), *at = shard_in_type(r, 1);
    int64_t n = x->rank == 1 && at->rank == 1 ? pooled_images(r) : 0;
    if (n < 2)
        return false;
    uint32_t l = shard_label(r, SHARD_CONCAT, n);
    r->label[l].local_indices = l != 0;
    shard_in_units(r, 0, 0, (struct shard_dim){l, shard_size(x, 0) / n});
    shard_in_units(r, 1, 0, (struct shard_dim){l, shard_size(at, 0) / n});
    shard_in_units(r, 2, 0, (struct shard_dim){l, shard_size(at, 0) / n});
    shard_out_units(r, 0, 0, (struct shard_dim){l, shard_size(x, 0) / n});
    return true;
}

// Updates that are added may be added in turns.
void shard_scatter_elements(struct shard_rule *r) {
    const struct type *at = shard_in_type(r, 1);
    int32_t axis = shard_axis(r, "axis", 0, at->rank);
    if (scatters_maxima(r))
        return;
    elements(r);
    uint32_t l = adds(r) ? shard_label(r, SHARD_CHAIN, shard_size(at, axis)) : 0;
    shard_in(r, 1, axis, l);
    shard_in(r, 2, axis, l);
}

void shard_scatter_nd(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0), *at = shard_in_type(r, 1);
    int64_t depth = shard_size(at, at->rank - 1);
    for (int32_t i = 0; adds(r) && i < at->rank - 1; i++) {
        uint32_t l = shard_label(r, SHARD_CHAIN, shard_size(at, i));
        shard_in(r, 1, i, l);
        shard_in(r, 2, i, l);
    }
    for (int32_t i = (int32_t)depth; i < x->rank; i++)
        shard_in(r, 2, at->rank - 1 + i - (int32_t)depth, shard_both(r, i));
}

void shard_one_hot(struct shard_rule *r) {
    const struct type *at = shard_in_type(r, 0), *y = shard_out_type(r, 0);
    int32_t axis = shard_axis(r, "axis", -1, y->rank);
    for (int32_t i = 0; i < at->rank; i++) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(at, i));
        shard_in(r, 0, i, l);
        shard_out(r, 0, i < axis ? i : i + 1, l);
    }
}
