// Sharding of operators that work element by element, with broadcasting: every dimension of the
// result, and of each operand that has it in full.
#include "passes/shard/shard_rule.h"

// Operand k, aligned at the last dimension.
static void broadcast_in(struct shard_rule *r, uint32_t k, int32_t dim, uint32_t label) {
    const struct type *x = shard_in_type(r, k), *y = shard_out_type(r, 0);
    int32_t own = x ? dim - (y->rank - x->rank) : -1;
    if (own >= 0 && shard_size(x, own) == shard_size(y, dim))
        shard_in(r, k, own, label);
}

void shard_elementwise(struct shard_rule *r) {
    const struct type *y = shard_out_type(r, 0);
    for (int32_t i = 0; i < y->rank; i++) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(y, i));
        shard_out(r, 0, i, l);
        for (uint32_t k = 0; k < r->s->n->n_in; k++)
            broadcast_in(r, k, i, l);
    }
}

// Expand, whose second operand is the shape of the result.
void shard_expand(struct shard_rule *r) {
    const struct type *y = shard_out_type(r, 0);
    for (int32_t i = 0; i < y->rank; i++) {
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(y, i));
        shard_out(r, 0, i, l);
        broadcast_in(r, 0, i, l);
    }
}

// ConstantOfShape: all elements are equal.
void shard_fill(struct shard_rule *r) {
    const struct type *y = shard_out_type(r, 0);
    for (int32_t i = 0; i < y->rank; i++)
        shard_out(r, 0, i, shard_label(r, SHARD_CONCAT, shard_size(y, i)));
}
