// Sums over parts, and maxima, minima and products: one part after the other, each to those before
// it; or in pieces, of which part k makes the k-th from its pieces of all parts. If parts are on
// devices of their own the former takes the time of a whole transfer for each, and the latter, a
// reduce-scatter, that of a piece.
#include "passes/shard/shard_inner.h"

static const struct shard_label *shard_label_of(const struct shard_cut *c) {
    return &c->r.label[c->choice.label];
}

static const char *join_op(enum shard_join join) {
    return join == SHARD_MAX       ? "Max"
           : join == SHARD_MIN     ? "Min"
           : join == SHARD_PRODUCT ? "Mul"
                                   : "Add";
}

value_id shard_joined(struct sharding *s, const struct shard_cut *c, value_id before, value_id one,
                      uint32_t k) {
    bool is_last = k + 1 == c->choice.n, is_mean = shard_label_of(c)->join == SHARD_MEAN;
    value_id y = c->n.out[0];
    if (shard_label_of(c)->join == SHARD_CHAIN) {
        if (is_last)
            shard_add(s, "Identity", VALUES(one), VALUES(y));
    } else if (k == 0) {
        return one;
    } else if (is_last && !is_mean) {
        shard_add(s, join_op(shard_label_of(c)->join), VALUES(before, one), VALUES(y));
    } else {
        one = build_op(&s->b, join_op(shard_label_of(c)->join), VALUES(before, one), NO_ATTRS);
        if (is_last && is_mean) {
            enum elem e = shard_out_type(&c->r, 0)->elem;
            value_id n = build_scalar(&s->b, e, (double)shard_label_of(c)->n_mean);
            shard_add(s, "Div", VALUES(one, n), VALUES(y));
        }
    }
    shard_place(s, s->group, k);
    return one;
}

static value_id piece_of(struct sharding *s, value_id x, struct shard_range at) {
    int64_t axis = at.axis;
    return BUILD(&s->b, "Slice", x, build_ints(&s->b, &at.lo, 1), build_ints(&s->b, &at.hi, 1),
                 build_ints(&s->b, &axis, 1));
}

// A slice belongs to the part that it is of, and the sum, by its name, to the part that makes it.
static value_id sum_of_pieces(struct sharding *s, const struct shard_cut *c, value_id *part,
                              uint32_t k) {
    const struct shard_choice *x = &c->choice;
    const char *name = graph_value(s->g, c->n.out[0])->name;
    struct shard_range at = {x->axis, x->piece[k], x->piece[k + 1]};
    value_id *piece = ARENA_ARRAY(s->a, value_id, x->n);
    const char *scope = str_format(s->g->model->arena, "%s/part%u", name, k + 1);
    if (!piece || !scope) {
        s->b.failed = diag_out_of_memory(s->d);
        return VALUE_NONE;
    }
    for (uint32_t i = 0; i < x->n && !s->b.failed; i++)
        piece[i] = piece_of(s, part[i], at);
    s->b.scope = scope;
    value_id sum = build_op(&s->b, "Sum", (struct values){piece, x->n}, NO_ATTRS);
    if (shard_label_of(c)->join == SHARD_MEAN) {
        enum elem e = shard_out_type(&c->r, 0)->elem;
        sum = BUILD(&s->b, "Div", sum, build_scalar(&s->b, e, (double)shard_label_of(c)->n_mean));
    }
    s->b.scope = name;
    shard_place(s, s->group, k);
    return sum;
}

void shard_scatter(struct sharding *s, const struct shard_cut *c, value_id *part) {
    const struct shard_choice *x = &c->choice;
    struct shard_pieces p = {.axis = x->axis, .n = x->n, .bound = x->piece};
    p.part = ARENA_ARRAY(s->a, value_id, x->n);
    if (!p.part)
        s->b.failed = diag_out_of_memory(s->d);
    shard_open_group(s, x->region); // all parts come before the first piece
    for (uint32_t k = 0; k < x->n && !s->b.failed; k++)
        p.part[k] = sum_of_pieces(s, c, part, k);
    if (!s->b.failed)
        shard_set_pieces(s, c->n.out[0], p);
}
