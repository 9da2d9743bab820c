// Shapes of normalizations, losses and attention.
#include "passes/shape/shape.h"

#include <string.h>

#include "ir/base/limits.h"

status shape_batch_norm(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    status st = shape_same(s);
    for (uint32_t k = 1; !st && k < 5; k++) {
        if (k < s->n->n_in && x && x->rank > 1) {
            const struct type *p = shape_ranked(s, k);
            struct dim c = x->dims[1];
            if (p && (p->rank != 1 ||
                      (dim_known(c) && dim_known(p->dims[0]) && c.size != p->dims[0].size)))
                return shape_fail(s, "input %u must have one element per channel", k);
        }
        // The running statistics keep their type.
        st = shape_set_like(s, k, shape_in(s, k == 1 || k == 3 ? 3 : 4));
    }
    return st;
}

// LayerNormalization: the optional statistics keep the dimensions before the axis, and 1 for the
// others.
status shape_layer_norm(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    status st = shape_same(s);
    int32_t axis;
    if (st || !x)
        return st;
    if ((st = shape_axis(s, node_int(s->n, "axis", -1), x->rank, &axis)))
        return st;
    struct dim dims[LIMIT_RANK];
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = i < axis ? x->dims[i] : dim_of(1);
    enum elem e = (enum elem)node_int(s->n, "stash_type", ELEM_F32);
    for (uint32_t k = 1; !st && k < 3; k++)
        st = shape_set(s, k, e, dims, x->rank);
    return st;
}

static status reduced_loss(struct shape *s, const struct type *labels, enum elem e) {
    const char *how = node_text(s->g, s->n, "reduction", "mean");
    if (strcmp(how, "none") != 0)
        return shape_set(s, 0, e, NULL, 0);
    return labels ? shape_set(s, 0, e, labels->dims, labels->rank) : shape_set_unranked(s, 0, e);
}

status shape_cross_entropy(struct shape *s) {
    status st = reduced_loss(s, shape_ranked(s, 1), shape_elem(s, 0));
    return st ? st : shape_set_like(s, 1, shape_in(s, 0));
}

status shape_nll(struct shape *s) {
    return reduced_loss(s, shape_ranked(s, 1), shape_elem(s, 0));
}

// Attention (opset 23) on [batch, heads, length, size], or [batch, length, heads * size] with the
// numbers of heads as attributes. Outputs: result, keys and values so far, and the scores.
status shape_attention(struct shape *s) {
    const struct type *q = shape_ranked(s, 0), *k = shape_ranked(s, 1), *v = shape_ranked(s, 2);
    const struct type *past = shape_ranked(s, 4);
    if (!q || !k || !v || q->rank != k->rank || q->rank != v->rank ||
        (q->rank != 3 && q->rank != 4))
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    int64_t heads = node_int(s->n, "q_num_heads", 0), kv_heads = node_int(s->n, "kv_num_heads", 0);
    if (q->rank == 3 && (heads < 1 || kv_heads < 1))
        return shape_fail(s, "inputs of rank 3 need q_num_heads and kv_num_heads");
    struct dim length = q->dims[q->rank - 2], kv_length = k->dims[k->rank - 2];
    struct dim total = past && past->rank == 4 ? dim_add(past->dims[2], kv_length) : kv_length;
    struct dim n_q = q->rank == 4 ? q->dims[1] : dim_of(heads),
               n_kv = q->rank == 4 ? k->dims[1] : dim_of(kv_heads);
    struct dim k_size = k->dims[k->rank - 1], v_size = v->dims[v->rank - 1];
    if (q->rank == 3) {
        k_size = dim_known(k_size) ? dim_of(k_size.size / kv_heads) : k_size;
        v_size = dim_known(v_size) ? dim_of(v_size.size / kv_heads) : v_size;
    }
    struct dim flat[] = {q->dims[0], length, dim_mul(n_q, v_size)},
               out[] = {q->dims[0], n_q, length, v_size};
    struct dim keys[] = {q->dims[0], n_kv, total, k_size},
               values[] = {q->dims[0], n_kv, total, v_size};
    struct dim scores[] = {q->dims[0], n_q, length, total};
    status st = q->rank == 3 ? shape_set(s, 0, q->elem, flat, 3) : shape_set(s, 0, q->elem, out, 4);
    if (!st)
        st = shape_set(s, 1, k->elem, keys, 4);
    if (!st)
        st = shape_set(s, 2, v->elem, values, 4);
    return st ? st : shape_set(s, 3, q->elem, scores, 4);
}
