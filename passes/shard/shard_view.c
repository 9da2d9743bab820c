// Sharding of operators that move elements: Reshape and its relatives, Transpose, Concat, Split,
// Slice, Pad, Tile.
#include "passes/shard/shard_rule.h"

// A run of dimensions before and after, of equal products: its leading dimensions are divided
// together, in units of what follows them.
static void run_label(struct shard_rule *r, const int32_t at[2], const int32_t end[2]) {
    const struct type *x = shard_in_type(r, 0), *y = shard_out_type(r, 0);
    int32_t i = at[0], k = at[1];
    while (i + 1 < end[0] && shard_size(x, i) == 1)
        i++;
    while (k + 1 < end[1] && shard_size(y, k) == 1)
        k++;
    if (i >= end[0] || k >= end[1])
        return;
    int64_t a = shard_size(x, i), b = shard_size(y, k), extent = a, rest = b;
    while (rest > 0) { // the greatest common divisor
        int64_t next = extent % rest;
        extent = rest;
        rest = next;
    }
    uint32_t l = shard_label(r, SHARD_CONCAT, extent);
    shard_in_units(r, 0, i, (struct shard_dim){l, a / extent});
    shard_out_units(r, 0, k, (struct shard_dim){l, b / extent});
}

void shard_reshape(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0), *y = shard_out_type(r, 0);
    int32_t at[2] = {0, 0};
    int64_t n;
    if (!type_elements(x, &n) || n == 0)
        return;
    if (r->s->n->op == OP_Squeeze && !shape_has(r->s, 1)) {
        r->why = "without axes it would also remove a dimension of which a part has one element";
        return;
    }
    while (at[0] < x->rank && at[1] < y->rank) {
        int32_t end[2] = {at[0] + 1, at[1] + 1};
        int64_t a = shard_size(x, at[0]), b = shard_size(y, at[1]);
        while (a != b && (a < b ? end[0] < x->rank : end[1] < y->rank))
            if (a < b)
                a *= shard_size(x, end[0]++);
            else
                b *= shard_size(y, end[1]++);
        run_label(r, at, end);
        at[0] = end[0];
        at[1] = end[1];
    }
}

void shard_transpose(struct shard_rule *r) {
    const struct attr *perm = node_attr(r->s->n, "perm");
    const struct type *y = shard_out_type(r, 0);
    for (int32_t i = 0; i < y->rank; i++) {
        int64_t from = perm && perm->kind == ATTR_INTS && perm->n == (size_t)y->rank
                           ? perm->ints[i]
                           : y->rank - 1 - i;
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(y, i));
        shard_in(r, 0, (int32_t)from, l);
        shard_out(r, 0, i, l);
    }
}

void shard_concat(struct shard_rule *r) {
    const struct type *y = shard_out_type(r, 0);
    int32_t axis = shard_axis(r, "axis", 0, y->rank);
    for (int32_t i = 0; i < y->rank; i++) {
        uint32_t l = i == axis ? 0 : shard_both(r, i);
        for (uint32_t k = 1; k < r->s->n->n_in; k++)
            shard_in(r, k, i, l);
    }
}

void shard_split(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0);
    int32_t axis = shard_axis(r, "axis", 0, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        uint32_t l = i == axis ? 0 : shard_both(r, i);
        for (uint32_t k = 1; k < r->s->n->n_out; k++)
            shard_out(r, k, i, l);
    }
}

void shard_slice(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0);
    int64_t *axes, n;
    bool known, sliced[LIMIT_RANK] = {false};
    if (shape_axes(r->s, 3, x->rank, &axes, &n, &known) || !known ||
        (!shape_has(r->s, 3) && !type_elements(shard_in_type(r, 1), &n)))
        return;
    for (int64_t i = 0; i < n; i++)
        sliced[shape_has(r->s, 3) ? axes[i] : i] = true;
    for (int32_t i = 0; i < x->rank; i++)
        if (!sliced[i])
            shard_both(r, i);
}

void shard_pad(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0);
    int64_t *pads, n_pads, *axes = NULL, n;
    bool known;
    if (!shape_numbers(r->s, 1, &pads, &n_pads) ||
        shape_axes(r->s, 3, x->rank, &axes, &n, &known) || !known)
        return;
    bool padded[LIMIT_RANK] = {false};
    for (int64_t i = 0; i < n_pads / 2; i++)
        padded[axes && n ? axes[i] : i] = pads[i] || pads[n_pads / 2 + i];
    for (int32_t i = 0; i < x->rank; i++)
        if (!padded[i])
            shard_both(r, i);
}

// Where it does not repeat.
void shard_tile(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0), *y = shard_out_type(r, 0);
    for (int32_t i = 0; i < x->rank; i++)
        if (shard_size(x, i) == shard_size(y, i))
            shard_both(r, i);
}

// Of a stack of matrices.
void shard_trilu(struct shard_rule *r) {
    for (int32_t i = 0; i < shard_out_type(r, 0)->rank - 2; i++)
        shard_both(r, i);
}
