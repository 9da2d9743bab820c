// Sharding of reductions, normalizations and losses: free along the dimensions that they do not
// reduce; along the others, parts are summed where the reduction is one.
#include <string.h>

#include "passes/shard/shard_rule.h"

// Softmax and others that work along one axis; results may have the axis in another size.
void shard_along(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0), *y = shard_out_type(r, 0);
    bool by_operand = r->s->n->op == OP_CumSum || r->s->n->op == OP_CumProd;
    bool keeps = r->s->n->op != OP_ArgMax && r->s->n->op != OP_ArgMin;
    int64_t *given = NULL, n = 0;
    if (by_operand && (!shape_numbers(r->s, 1, &given, &n) || n != 1)) {
        r->why = "its axis is unknown";
        return;
    }
    int64_t otherwise = keeps ? -1 : 0;
    int32_t axis = shard_axis(r, "axis", otherwise, x->rank);
    if (by_operand)
        axis = (int32_t)(given[0] < 0 ? given[0] + x->rank : given[0]);
    keeps |= node_int(r->s->n, "keepdims", 1) != 0;
    for (int32_t i = 0; i < x->rank; i++) {
        int32_t to = keeps || i < axis ? i : i - 1;
        if (i == axis || to >= y->rank)
            continue;
        uint32_t l = shard_label(r, SHARD_CONCAT, shard_size(x, i));
        shard_in(r, 0, i, l);
        for (uint32_t k = 0; k < r->s->n->n_out; k++)
            shard_out(r, k, to, l);
    }
    r->why = "it works along its only dimension";
}

static bool join_of(enum op op, enum shard_join *join) {
    switch (op) {
    case OP_ReduceSum:
    case OP_ReduceSumSquare:
    case OP_ReduceL1:
        *join = SHARD_SUM;
        return true;
    case OP_ReduceMean:
        *join = SHARD_MEAN;
        return true;
    case OP_ReduceMax:
        *join = SHARD_MAX;
        return true;
    case OP_ReduceMin:
        *join = SHARD_MIN;
        return true;
    case OP_ReduceProd:
        *join = SHARD_PRODUCT;
        return true;
    default:
        return false;
    }
}

void shard_reduce(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0);
    int64_t *axes, n, n_mean = 1;
    bool known, reduced[LIMIT_RANK] = {false}, keeps = node_int(r->s->n, "keepdims", 1) != 0;
    enum shard_join join;
    int32_t to = 0;
    r->why = "its axes are unknown";
    if (shape_axes(r->s, 1, x->rank, &axes, &n, &known) || !known)
        return;
    r->why = NULL;
    bool all = n == 0 && !node_int(r->s->n, "noop_with_empty_axes", 0);
    for (int64_t i = 0; i < n; i++)
        reduced[axes[i]] = true;
    for (int32_t i = 0; i < x->rank; i++) {
        reduced[i] |= all;
        n_mean *= reduced[i] ? shard_size(x, i) : 1;
    }
    for (int32_t i = 0; i < x->rank; i++) {
        uint32_t l = 0;
        if (!reduced[i])
            l = shard_label(r, SHARD_CONCAT, shard_size(x, i));
        else if (join_of(r->s->n->op, &join))
            l = shard_label(r, join, shard_size(x, i));
        shard_in(r, 0, i, l);
        if (reduced[i])
            r->label[l].n_mean = n_mean;
        else
            shard_out(r, 0, to, l);
        to += keeps || !reduced[i];
    }
}

void shard_layer_norm(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0);
    int32_t axis = shard_axis(r, "axis", -1, x->rank);
    for (int32_t i = 0; i < axis; i++) {
        uint32_t l = shard_both(r, i);
        shard_out(r, 1, i, l);
        shard_out(r, 2, i, l);
    }
}

void shard_instance_norm(struct shard_rule *r) {
    shard_both(r, 0);
    uint32_t l = shard_both(r, 1);
    shard_in(r, 1, 0, l);
    shard_in(r, 2, 0, l);
}

// In training mode mean and variance are of the whole batch: their parts are joined first.
void shard_batch_norm(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0);
    bool training = node_int(r->s->n, "training_mode", 0) != 0;
    for (int32_t i = 0; i < x->rank; i++) {
        uint32_t l = shard_both(r, i);
        for (uint32_t k = 1; i == 1 && k < 5; k++) {
            shard_in(r, k, 0, l);
            shard_out(r, k, 0, l);
        }
        if (i != 1 && training && x->dims[i].size > 1)
            r->label[l].join = SHARD_MOMENTS;
    }
}

// SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss: scores [N, C, …], labels [N, …].
void shard_loss(struct shard_rule *r) {
    const struct type *x = shard_in_type(r, 0);
    const char *reduction = node_text(r->s->g, r->s->n, "reduction", "mean");
    bool is_mean = strcmp(reduction, "mean") == 0, is_none = strcmp(reduction, "none") == 0;
    int64_t n = 0;
    if (is_mean && (shape_has(r->s, 2) || node_attr(r->s->n, "ignore_index"))) {
        r->why = "its mean counts weights or leaves out labels";
        return;
    }
    type_elements(shard_in_type(r, 1), &n);
    for (int32_t i = 0; i < x->rank; i++) {
        uint32_t l = i == 1 ? 0
                            : shard_label(r,
                                          is_none   ? SHARD_CONCAT
                                          : is_mean ? SHARD_MEAN
                                                    : SHARD_SUM,
                                          shard_size(x, i));
        int32_t own = i > 1 ? i - 1 : 0;
        r->label[l].n_mean = n;
        shard_in(r, 0, i, l);
        shard_in(r, 1, i == 1 ? 0 : own, l);
        shard_out(r, 1, i, l); // log-probabilities
        if (is_none && i != 1)
            shard_out(r, 0, own, l);
    }
}
