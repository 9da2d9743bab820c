// Positions of maxima. MaxPool counts them from the beginning of all images, and a part of it from
// that of its own: so its positions are shifted where they are read whole. MaxUnpool, and the
// ScatterElements that is the gradient of overlapping windows, read the positions of their own
// part.
#include "passes/shard/shard_inner.h"

// Positions before part k, of which the operand of a pooling or the result of its reverse has
// `inner` for each unit of the division.
static value_id positions_before(struct sharding *s, const struct shard_cut *c, uint32_t k) {
    const struct type *t =
        c->n.op == OP_MaxPool ? shard_in_type(&c->r, 0) : shard_out_type(&c->r, 0);
    int64_t inner = 1;
    for (int32_t i = 1; i < t->rank; i++)
        inner *= t->dims[i].size;
    if (c->n.op == OP_ScatterElements)
        inner = c->r.out[0][0].unit;
    return build_scalar(&s->b, ELEM_I64, (double)(inner * c->choice.bound[k]));
}

// Positions that were shifted, as they were before; views of them too. VALUE_NONE: they were not.
static value_id before_shift(struct sharding *s, value_id v, uint32_t k) {
    int64_t known;
    if (map_get_int(&s->local, v.i, &known))
        return (value_id){(uint32_t)known};
    node_id def = graph_value(s->g, v)->def;
    if (!def.i || graph_node(s->g, def)->op != OP_Reshape)
        return VALUE_NONE;
    value_id shape = graph_node(s->g, def)->in[1];
    value_id x = before_shift(s, graph_node(s->g, def)->in[0], k);
    if (!x.i || s->b.failed)
        return VALUE_NONE;
    x = BUILD(&s->b, "Reshape", x, shape);
    if (!s->b.failed && !map_put_int(&s->local, v.i, x.i))
        s->b.failed = diag_out_of_memory(s->d);
    return x;
}

value_id shard_to_local(struct sharding *s, const struct shard_cut *c, value_id v, uint32_t k) {
    value_id x = before_shift(s, v, k);
    if (!x.i)
        x = BUILD(&s->b, "Sub", v, positions_before(s, c, k));
    shard_place(s, s->group, k);
    return x;
}

value_id shard_to_whole(struct sharding *s, const struct shard_cut *c, value_id v, uint32_t k) {
    value_id sum = BUILD(&s->b, "Add", v, positions_before(s, c, k));
    if (!s->b.failed && !map_put_int(&s->local, sum.i, v.i))
        s->b.failed = diag_out_of_memory(s->d);
    return sum;
}

value_id shard_zeros(struct sharding *s, const struct shard_cut *c, uint32_t j, uint32_t k) {
    node_id def =
        j == 0 && c->n.op == OP_ScatterElements ? graph_value(s->g, c->n.in[0])->def : NODE_NONE;
    const struct node *n = def.i ? graph_node(s->g, def) : NULL;
    const struct type *t = shard_in_type(&c->r, 0);
    int32_t axis = shard_operand_axis(c, 0);
    int64_t dims[LIMIT_RANK];
    if (!n || n->op != OP_ConstantOfShape || axis < 0)
        return VALUE_NONE;
    for (int32_t i = 0; i < t->rank; i++)
        dims[i] = t->dims[i].size;
    struct shard_range x = shard_operand_range(c, 0, axis, k);
    dims[axis] = x.hi - x.lo;
    struct attrs attrs = {n->attrs, n->n_attrs};
    value_id zeros =
        build_op(&s->b, "ConstantOfShape", VALUES(build_ints(&s->b, dims, t->rank)), attrs);
    shard_place(s, s->group, k);
    return zeros;
}
