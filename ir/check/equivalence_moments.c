// BatchNormalization in training mode from statistics that are computed apart: see
// equivalence_parts.h. With X the whole operand, of n elements for each channel,
//
//     mean = Div(ReduceSum(X), n)
//     variance = Div(ReduceSum(Mul(D, D)), n), where D = Sub(X, Reshape(mean))
//     BatchNormalization(X, scale, bias, mean, variance), not in training mode, is its first result
//     Add(Mul(old, momentum), Mul(mean, 1 - momentum)) is its second, and of the variance its third
//
// up to the order of summation. The terms are classes over whole operands, whatever parts they were
// computed in.
#include <math.h>

#include "ir/check/equivalence_parts.h"

// The class is made by this operator; its operands.
static const uint32_t *made_by(struct numbering *s, uint32_t class, enum op op, uint32_t n_in) {
    const struct equiv_class *c = class ? equiv_at(s, class) : NULL;
    return c && c->node.i && graph_node(c->g, c->node)->op == op && c->n_in == n_in ? c->in : NULL;
}

// Whether a class is the mean of x over all dimensions but the second.
static bool is_mean(struct numbering *s, uint32_t class, uint32_t x) {
    const uint32_t *div = made_by(s, class, OP_Div, 2);
    const uint32_t *sum = div ? made_by(s, div[0], OP_ReduceSum, 2) : NULL;
    const struct type *t = equiv_static_type(s, x);
    bool reduced[LAW_RANK];
    int64_t n;
    if (!sum || sum[0] != x || !t || t->rank < 2 || !type_elements(t, &n) || n == 0)
        return false;
    const struct equiv_class *c = equiv_at(s, div[0]), *count = div[1] ? equiv_at(s, div[1]) : NULL;
    if (!equiv_reduced(s, graph_node(c->g, c->node), sum, 2, t, reduced))
        return false;
    for (int32_t i = 0; i < t->rank; i++)
        if (reduced[i] != (i != 1))
            return false;
    n /= t->dims[1].size;
    return count && count->is_number && count->number == (double)n;
}

// Whether a class is the mean, in the shape in which it is subtracted from x.
static bool is_centre(struct numbering *s, uint32_t class, uint32_t mean, uint32_t x) {
    const uint32_t *in = made_by(s, class, OP_Reshape, 2);
    const struct type *t = equiv_static_type(s, x);
    const struct equiv_class *shape = in && in[1] ? equiv_at(s, in[1]) : NULL;
    if (!shape || in[0] != mean || !shape->ints || shape->n_ints != t->rank)
        return false;
    for (int32_t i = 0; i < t->rank; i++)
        if (shape->ints[i] != (i == 1 ? t->dims[1].size : 1))
            return false;
    return true;
}

static bool is_variance(struct numbering *s, uint32_t class, uint32_t mean, uint32_t x) {
    const uint32_t *div = made_by(s, class, OP_Div, 2);
    const uint32_t *sum = div ? made_by(s, div[0], OP_ReduceSum, 2) : NULL;
    const uint32_t *square = sum ? made_by(s, sum[0], OP_Mul, 2) : NULL;
    const uint32_t *distance =
        square && square[0] == square[1] ? made_by(s, square[0], OP_Sub, 2) : NULL;
    return distance && distance[0] == x && is_mean(s, class, sum[0]) && is_mean(s, mean, x) &&
           is_centre(s, distance[1], mean, x);
}

static bool is_training(const struct equiv_whole *w) {
    return node_int(graph_node(w->g, w->node), "training_mode", 0) != 0 && w->n_in == 5;
}

// A part of the first result.
static uint32_t normalized(struct numbering *s, const struct node *n, const uint32_t *in) {
    struct equiv_part p = equiv_at(s, in[0])->part;
    uint32_t at = p.kind == EQUIV_PIECE && p.axis != 1 ? equiv_first_whole(s, n->op, p.of) : 0;
    for (; at; at = s->wholes.at[at - 1].next) {
        const struct equiv_whole *w = &s->wholes.at[at - 1];
        const struct node *whole = graph_node(w->g, w->node);
        bool same_epsilon =
            (float)node_real(n, "epsilon", 1e-5f) == (float)node_real(whole, "epsilon", 1e-5f);
        if (!is_training(w) || !same_epsilon || in[1] != w->in[1] || in[2] != w->in[2] ||
            !is_mean(s, in[3], p.of) || !is_variance(s, in[4], in[3], p.of))
            continue;
        p.of = w->out[0];
        s->completes = true;
        return equiv_part_class(s, p);
    }
    return 0;
}

static bool is_number(struct numbering *s, uint32_t class, double x) {
    const struct equiv_class *c = class ? equiv_at(s, class) : NULL;
    return c && c->is_number && fabs(c->number - x) <= 1e-6;
}

// The operand of which a class is the mean, or the variance around its mean.
static uint32_t statistic_of(struct numbering *s, uint32_t class, bool *is_second) {
    const uint32_t *div = made_by(s, class, OP_Div, 2);
    const uint32_t *sum = div ? made_by(s, div[0], OP_ReduceSum, 2) : NULL;
    const uint32_t *square = sum ? made_by(s, sum[0], OP_Mul, 2) : NULL;
    const uint32_t *distance =
        square && square[0] == square[1] ? made_by(s, square[0], OP_Sub, 2) : NULL;
    const uint32_t *centre = distance ? made_by(s, distance[1], OP_Reshape, 2) : NULL;
    *is_second = centre && is_variance(s, class, centre[0], distance[0]);
    if (*is_second)
        return distance[0];
    return sum && is_mean(s, class, sum[0]) ? sum[0] : 0;
}

static uint32_t running(struct numbering *s, const uint32_t *in) {
    const uint32_t *old = made_by(s, in[0], OP_Mul, 2), *batch = made_by(s, in[1], OP_Mul, 2);
    bool is_second;
    uint32_t x = old && batch ? statistic_of(s, batch[0], &is_second) : 0;
    for (uint32_t at = x ? equiv_first_whole(s, OP_BatchNormalization, x) : 0; at;
         at = s->wholes.at[at - 1].next) {
        const struct equiv_whole *w = &s->wholes.at[at - 1];
        double momentum = node_real(graph_node(w->g, w->node), "momentum", 0.9f);
        uint32_t k = is_second ? 2 : 1;
        if (is_training(w) && w->n_out > k && w->in[k + 2] == old[0] &&
            is_number(s, old[1], momentum) && is_number(s, batch[1], 1 - momentum)) {
            s->completes = true;
            return w->out[k];
        }
    }
    return 0;
}

bool equiv_moments(struct numbering *s, const struct node *n, const uint32_t *in, uint32_t n_in,
                   uint32_t *class) {
    uint32_t made = 0;
    bool is_plain = n->op == OP_BatchNormalization && !node_int(n, "training_mode", 0);
    if (n->n_out != 1 || !n->out[0].i || n_in < 2 || !in[0] || !in[1])
        return false;
    if (is_plain && n_in == 5)
        made = normalized(s, n, in);
    else if (n->op == OP_Add && n_in == 2)
        made = running(s, in);
    if (made)
        class[n->out[0].i] = made;
    return made != 0;
}

// The node over whole operands, where the step has none. It is a term of its own, whatever is made
// of it.
bool equiv_imply(struct numbering *s, const struct graph *g, node_id id, const uint32_t *in,
                 uint32_t n_in) {
    const struct node *n = graph_node(g, id);
    if ((n->op != OP_Sub && n->op != OP_Mul && n->op != OP_ReduceSum) || n->n_out != 1)
        return false;
    uint32_t *whole = ARENA_ARRAY(s->a, uint32_t, n_in), *out = ARENA_ARRAY(s->a, uint32_t, 1);
    bool has_piece = false, is_new;
    if (!whole || !out) {
        s->failed = diag_out_of_memory(s->d);
        return false;
    }
    for (uint32_t k = 0; k < n_in; k++) {
        const struct equiv_part *p = equiv_piece(s, in[k], EQUIV_PIECE);
        whole[k] = p ? p->of : in[k];
        has_piece |= p != NULL;
    }
    const struct type *x = n_in > 0 ? equiv_static_type(s, whole[0]) : NULL;
    bool reduced[LAW_RANK] = {false};
    int64_t dims[LAW_RANK];
    int32_t rank = 0;
    if (!has_piece || !x || (n->op == OP_ReduceSum && !equiv_reduced(s, n, in, n_in, x, reduced)))
        return false;
    bool keeps = n->op != OP_ReduceSum || node_int(n, "keepdims", 1);
    for (int32_t i = 0; i < x->rank; i++)
        if (!reduced[i] || keeps)
            dims[rank++] = reduced[i] ? 1 : x->dims[i].size;
    equiv_put_node(s, g, id, whole, n_in, NULL);
    equiv_put(s, 0);
    out[0] = equiv_intern(s, &is_new);
    if (!is_new || s->failed)
        return false;
    const struct type *t = type_static(s->a, x->elem, dims, rank);
    *equiv_at(s, out[0]) = (struct equiv_class){
        .type = t, .g = g, .node = id, .name = "a whole", .in = whole, .n_in = n_in};
    equiv_push_whole(s, (struct equiv_whole){
                            .g = g, .node = id, .in = whole, .n_in = n_in, .out = out, .n_out = 1});
    return !s->failed;
}
