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

// Updates that are added may be added in turns.
void shard_scatter_elements(struct shard_rule *r) {
    const struct type *at = shard_in_type(r, 1);
    int32_t axis = shard_axis(r, "axis", 0, at->rank);
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
