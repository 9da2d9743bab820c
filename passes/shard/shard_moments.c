// BatchNormalization in training mode, divided along the batch or space. Its mean and variance are
// those of the whole batch:
//
//     mean = sum of parts / n,  variance = sum of (part - mean)² / n
//     part of y = scale (part - mean) / sqrt(variance + epsilon) + bias: the operator in inference
//     mode
//
// so the statistics are the same as without division, up to the order of summation. All parts of
// the mean come before the first part of the variance, and so on: three groups.
#include <string.h>

#include "passes/shard/shard_inner.h"

struct moments {
    struct sharding *s;
    const struct shard_cut *c;
    value_id *x; // the parts of the operand
    int64_t axes[LIMIT_RANK], n_axes, n, dims[LIMIT_RANK];
};

static value_id slice_of_x(struct moments *m, uint32_t k) {
    int32_t axis = shard_operand_axis(m->c, 0);
    return shard_take(m->s, m->c->n.in[0], shard_operand_range(m->c, 0, axis, k), k);
}

// The mean of the operand over all parts, or with a centre that of the squared distance to it.
static value_id mean_of(struct moments *m, value_id centre) {
    struct sharding *s = m->s;
    struct builder *b = &s->b;
    value_id *part = ARENA_ARRAY(s->a, value_id, m->c->choice.n);
    if (!part) {
        s->b.failed = diag_out_of_memory(s->d);
        return VALUE_NONE;
    }
    for (uint32_t k = 0; k < m->c->choice.n; k++) {
        value_id x = slice_of_x(m, k);
        if (centre.i)
            x = BUILD(b, "Sub", x, centre);
        if (centre.i)
            x = BUILD(b, "Mul", x, x);
        part[k] = build_op(b, "ReduceSum", VALUES(x, build_ints(b, m->axes, m->n_axes)),
                           ATTRS(attr_int("keepdims", 0)));
        shard_place(s, s->group, k);
    }
    enum elem e = shard_in_type(&m->c->r, 0)->elem;
    value_id sum = build_op(b, "Sum", (struct values){part, m->c->choice.n}, NO_ATTRS);
    value_id mean = BUILD(b, "Div", sum, build_scalar(b, e, (double)m->n));
    shard_place(s, s->group, SHARD_TAIL);
    return mean;
}

// running * momentum + batch * (1 - momentum)
static void running(struct moments *m, uint32_t j, value_id batch) {
    struct builder *b = &m->s->b;
    const struct node *n = &m->c->n;
    if (j >= n->n_out || !n->out[j].i)
        return;
    double momentum = node_real(n, "momentum", 0.9f);
    enum elem e = shard_in_type(&m->c->r, j + 2)->elem;
    value_id old = BUILD(b, "Mul", shard_whole(m->s, n->in[j + 2]), build_scalar(b, e, momentum));
    value_id part = BUILD(b, "Mul", batch, build_scalar(b, e, 1 - momentum));
    shard_add(m->s, "Add", VALUES(old, part), VALUES(n->out[j]));
    m->s->made[n->out[j].i] = m->s->group;
    shard_place(m->s, m->s->group, SHARD_TAIL);
}

static void apply_part(struct moments *m, uint32_t k, const value_id *in, value_id *part) {
    struct sharding *s = m->s;
    const struct node *n = &m->c->n;
    value_id x = slice_of_x(m, k), y = shard_fresh(s, graph_value(s->g, n->out[0])->name, k);
    node_id id =
        shard_add(s, "BatchNormalization", VALUES(x, in[0], in[1], in[2], in[3]), VALUES(y));
    struct attr epsilon = attr_float("epsilon", node_real(n, "epsilon", 1e-5f));
    if (id.i && !graph_set_attr(s->g, id, epsilon))
        s->b.failed = diag_out_of_memory(s->d);
    if (!s->b.failed)
        s->b.failed = shape_infer(s->g, id, s->d);
    *part = y;
    shard_place(s, s->group, k);
}

void shard_moments(struct sharding *s, const struct shard_cut *c) {
    struct moments m = {.s = s, .c = c, .n = 1};
    const struct type *x = shard_in_type(&c->r, 0);
    for (int32_t i = 0; i < x->rank; i++) {
        m.dims[i] = i == 1 ? x->dims[i].size : 1;
        m.n *= i == 1 ? 1 : x->dims[i].size;
        if (i != 1)
            m.axes[m.n_axes++] = i;
    }
    value_id mean = mean_of(&m, VALUE_NONE);
    shard_open_group(s, c->choice.region);
    value_id centre = BUILD(&s->b, "Reshape", mean, build_ints(&s->b, m.dims, x->rank));
    shard_place(s, s->group, 0);
    value_id variance = mean_of(&m, centre);
    shard_open_group(s, c->choice.region);
    value_id in[] = {shard_whole(s, c->n.in[1]), shard_whole(s, c->n.in[2]), mean, variance};
    running(&m, 1, mean);
    running(&m, 2, variance);
    struct shard_pieces p = {.axis = shard_operand_axis(c, 0), .n = c->choice.n};
    p.bound = c->choice.bound;
    p.part = ARENA_ARRAY(s->a, value_id, p.n);
    if (!p.part && !s->b.failed)
        s->b.failed = diag_out_of_memory(s->d);
    for (uint32_t k = 0; k < p.n && !s->b.failed; k++)
        apply_part(&m, k, in, &p.part[k]);
    if (!s->b.failed)
        shard_set_pieces(s, c->n.out[0], p);
}
