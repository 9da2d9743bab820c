// Which dimensions an operator connects, where it depends on attributes and shapes: see
// equivalence_laws.c. Each dimension that is kept has a letter of its own.
#include <string.h>

#include "ir/check/equivalence_parts.h"

static int32_t axis_of(const struct law *l, int64_t otherwise, int32_t rank) {
    int64_t axis = node_int(l->n, "axis", otherwise);
    axis = axis < 0 ? axis + rank : axis;
    return axis >= 0 && axis < rank ? (int32_t)axis : -1;
}

static const int64_t *ints_of(const struct law *l, uint32_t k, int64_t *n) {
    const struct equiv_class *c =
        k < l->w->n_in && l->w->in[k] ? equiv_at(l->s, l->w->in[k]) : NULL;
    *n = c ? c->n_ints : 0;
    return c ? c->ints : NULL;
}

// Dimension i of all operands and results of full rank, unless it is excluded.
static void keep_dims(struct law *l, const bool *excluded) {
    const struct type *x = law_operand(l, 0);
    for (int32_t i = 0; x && i < x->rank; i++) {
        if (excluded[i])
            continue;
        for (uint32_t k = 0; k < l->w->n_in; k++)
            if (law_operand(l, k) && law_operand(l, k)->rank == x->rank &&
                (k == 0 || l->n->op == OP_Concat))
                law_set_x(l, k, i, (uint8_t)(LAW_OWN + i));
        for (uint32_t k = 0; k < l->w->n_out; k++)
            if (law_result(l, k) && law_result(l, k)->rank == x->rank)
                law_set_y(l, k, i, (uint8_t)(LAW_OWN + i));
    }
}

static bool law_of_axis(struct law *l, int32_t axis) {
    bool excluded[LAW_RANK] = {false};
    if (axis < 0)
        return false;
    excluded[axis] = true;
    keep_dims(l, excluded);
    return true;
}

static bool sliced_dims(struct law *l, const struct type *x, bool *sliced) {
    int64_t n_start, n_axes;
    const int64_t *axes = ints_of(l, 3, &n_axes);
    const struct type *start = law_operand(l, 1);
    if (l->w->n_in < 3 || !start || start->rank != 1 || (l->w->n_in > 3 && l->w->in[3] && !axes))
        return false;
    n_start = start->dims[0].size;
    for (int64_t i = 0; i < n_start; i++) {
        int64_t at = !axes ? i : axes[i] < 0 ? axes[i] + x->rank : axes[i];
        if (at < 0 || at >= x->rank || (axes && n_axes != n_start))
            return false;
        sliced[at] = true;
    }
    return true;
}

static bool padded_dims(struct law *l, const struct type *x, bool *padded) {
    int64_t n, n_axes;
    const int64_t *pads = ints_of(l, 1, &n), *axes = ints_of(l, 3, &n_axes);
    bool has_axes = l->w->n_in > 3 && l->w->in[3];
    n_axes = has_axes ? n_axes : x->rank;
    if (!pads || (has_axes && !axes) || n != 2 * n_axes)
        return false;
    for (int64_t i = 0; i < n_axes; i++) {
        int64_t at = !has_axes ? i : axes[i] < 0 ? axes[i] + x->rank : axes[i];
        if (at < 0 || at >= x->rank)
            return false;
        padded[at] |= pads[i] != 0 || pads[n_axes + i] != 0;
    }
    return true;
}

static bool law_of_moved(struct law *l) {
    const struct type *x = law_operand(l, 0), *y = law_result(l, 0);
    bool excluded[LAW_RANK] = {false}, ok = x && y;
    if (ok && l->n->op == OP_Slice)
        ok = sliced_dims(l, x, excluded);
    else if (ok && l->n->op == OP_Pad)
        ok = padded_dims(l, x, excluded);
    else
        for (int32_t i = 0; ok && i < x->rank; i++)
            excluded[i] = l->n->op == OP_Tile ? x->dims[i].size != y->dims[i].size
                                              : i >= x->rank - 2; // Trilu
    if (ok)
        keep_dims(l, excluded);
    return ok;
}

// Runs of dimensions with equal products: their leading ones are divided together.
static bool law_of_reshape(struct law *l) {
    const struct type *x = law_operand(l, 0), *y = law_result(l, 0);
    int32_t i = 0, k = 0;
    uint8_t letter = LAW_OWN;
    int64_t n;
    if (!x || !y || !type_elements(x, &n) || n == 0)
        return false;
    while (i < x->rank && k < y->rank) {
        int32_t first[] = {-1, -1};
        int64_t a = 1, b = 1;
        do { // the next run
            if (a <= b && i < x->rank) {
                if (first[0] < 0 && x->dims[i].size != 1)
                    first[0] = i;
                a *= x->dims[i++].size;
            } else if (k < y->rank) {
                if (first[1] < 0 && y->dims[k].size != 1)
                    first[1] = k;
                b *= y->dims[k++].size;
            } else {
                return true;
            }
        } while (a != b || first[0] < 0 || first[1] < 0);
        int64_t p = x->dims[first[0]].size, q = y->dims[first[1]].size, r = q;
        for (int64_t rest = p; rest > 0;) {
            int64_t next = r % rest;
            r = rest;
            rest = next;
        }
        l->w->x[0][first[0]] = (struct law_dim){letter, p / r};
        l->w->y[0][first[1]] = (struct law_dim){letter++, q / r};
    }
    return true;
}

static bool law_of_transpose(struct law *l) {
    const struct attr *perm = node_attr(l->n, "perm");
    const struct type *x = law_operand(l, 0);
    for (int32_t i = 0; x && i < x->rank; i++) {
        int64_t from = x->rank - 1 - i;
        if (perm && (perm->kind != ATTR_INTS || perm->ref || perm->n != (size_t)x->rank))
            return false;
        from = perm ? perm->ints[i] : from;
        law_set_x(l, 0, (int32_t)from, (uint8_t)(LAW_OWN + i));
        law_set_y(l, 0, i, (uint8_t)(LAW_OWN + i));
    }
    return x != NULL;
}

bool equiv_reduced(struct numbering *s, const struct node *n, const uint32_t *in, uint32_t n_in,
                   const struct type *x, bool *reduced) {
    const struct attr *a = node_attr(n, "axes");
    const int64_t *axes = a && a->kind == ATTR_INTS && !a->ref ? a->ints : NULL;
    int64_t n_axes = axes ? (int64_t)a->n : 0;
    if (n_in > 1 && in[1]) {
        axes = equiv_at(s, in[1])->ints;
        n_axes = equiv_at(s, in[1])->n_ints;
        if (!axes)
            return false;
    }
    if (a && !axes)
        return false;
    bool all = n_axes == 0 && !node_int(n, "noop_with_empty_axes", 0);
    for (int32_t i = 0; i < x->rank; i++)
        reduced[i] = all;
    for (int64_t i = 0; i < n_axes; i++) {
        int64_t at = axes[i] < 0 ? axes[i] + x->rank : axes[i];
        if (at < 0 || at >= x->rank)
            return false;
        reduced[at] = true;
    }
    return true;
}

static bool law_of_reduce(struct law *l) {
    const struct type *x = law_operand(l, 0);
    bool reduced[LAW_RANK], keeps = node_int(l->n, "keepdims", 1) != 0;
    int32_t to = 0;
    if (!x || !equiv_reduced(l->s, l->n, l->w->in, l->w->n_in, x, reduced))
        return false;
    switch (l->n->op) {
    case OP_ReduceSum:
    case OP_ReduceSumSquare:
    case OP_ReduceL1:
        break;
    case OP_ReduceMean:
        for (int32_t i = 0; i < x->rank; i++)
            l->w->scale *= reduced[i] ? x->dims[i].size : 1;
        break;
    case OP_ReduceMax:
        l->w->join = OP_Max;
        break;
    case OP_ReduceMin:
        l->w->join = OP_Min;
        break;
    case OP_ReduceProd:
        l->w->join = OP_Mul;
        break;
    default:
        l->w->join = OP_UNKNOWN;
    }
    for (int32_t i = 0; i < x->rank; i++) {
        if (!reduced[i] || l->w->join != OP_UNKNOWN)
            law_set_x(l, 0, i, (uint8_t)(LAW_OWN + i));
        if (!reduced[i])
            law_set_y(l, 0, to, (uint8_t)(LAW_OWN + i));
        to += keeps || !reduced[i];
    }
    return true;
}

static bool law_of_arg(struct law *l) {
    const struct type *x = law_operand(l, 0);
    int32_t axis = x ? axis_of(l, 0, x->rank) : -1;
    bool keeps = node_int(l->n, "keepdims", 1) != 0;
    for (int32_t i = 0; axis >= 0 && i < x->rank; i++)
        if (i != axis) {
            law_set_x(l, 0, i, (uint8_t)(LAW_OWN + i));
            law_set_y(l, 0, keeps || i < axis ? i : i - 1, (uint8_t)(LAW_OWN + i));
        }
    return axis >= 0;
}

static bool law_of_layer(struct law *l) {
    const struct type *x = law_operand(l, 0);
    int32_t axis = x ? axis_of(l, -1, x->rank) : -1;
    for (int32_t i = 0; i < axis; i++) {
        law_set_x(l, 0, i, (uint8_t)(LAW_OWN + i));
        for (uint32_t k = 0; k < l->w->n_out; k++)
            law_set_y(l, k, i, (uint8_t)(LAW_OWN + i));
    }
    return axis >= 0;
}

static bool law_of_gather(struct law *l) {
    const struct type *x = law_operand(l, 0), *at = law_operand(l, 1);
    int32_t axis = x && at ? axis_of(l, 0, x->rank) : -1;
    for (int32_t i = 0; axis >= 0 && i < x->rank; i++)
        if (i != axis) {
            law_set_x(l, 0, i, (uint8_t)(LAW_OWN + i));
            law_set_y(l, 0, i < axis ? i : i - 1 + at->rank, (uint8_t)(LAW_OWN + i));
        }
    for (int32_t i = 0; axis >= 0 && i < at->rank; i++) {
        law_set_x(l, 1, i, (uint8_t)(LAW_LEADING + i));
        law_set_y(l, 0, axis + i, (uint8_t)(LAW_LEADING + i));
    }
    return axis >= 0;
}

static bool adds(const struct law *l) {
    return strcmp(node_text(l->w->g, l->n, "reduction", "none"), "add") == 0;
}

// GatherElements and ScatterElements: dimensions that data and indices have in full, and the
// indices along the axis.
static bool law_of_elements(struct law *l) {
    const struct type *x = law_operand(l, 0), *at = law_operand(l, 1);
    int32_t axis = x && at ? axis_of(l, 0, x->rank) : -1;
    bool gathers = l->n->op == OP_GatherElements;
    for (int32_t i = 0; axis >= 0 && i < x->rank; i++) {
        if (i == axis ? !gathers && !adds(l) : x->dims[i].size != at->dims[i].size)
            continue;
        if (i != axis)
            law_set_x(l, 0, i, (uint8_t)(LAW_OWN + i));
        law_set_x(l, 1, i, (uint8_t)(LAW_OWN + i));
        law_set_x(l, 2, i, (uint8_t)(LAW_OWN + i));
        if (i != axis || gathers)
            law_set_y(l, 0, i, (uint8_t)(LAW_OWN + i));
    }
    return axis >= 0;
}

static bool law_of_scatter_nd(struct law *l) {
    const struct type *x = law_operand(l, 0), *at = law_operand(l, 1);
    if (!x || !at || at->rank == 0)
        return false;
    int32_t depth = (int32_t)at->dims[at->rank - 1].size;
    for (int32_t i = 0; adds(l) && i < at->rank - 1; i++) {
        law_set_x(l, 1, i, (uint8_t)(LAW_LEADING + i));
        law_set_x(l, 2, i, (uint8_t)(LAW_LEADING + i));
    }
    for (int32_t i = depth; i < x->rank; i++) {
        law_set_x(l, 0, i, (uint8_t)(LAW_OWN + i));
        law_set_x(l, 2, at->rank - 1 + i - depth, (uint8_t)(LAW_OWN + i));
        law_set_y(l, 0, i, (uint8_t)(LAW_OWN + i));
    }
    return true;
}

static bool law_of_one_hot(struct law *l) {
    const struct type *at = law_operand(l, 0), *y = law_result(l, 0);
    int32_t axis = at && y ? axis_of(l, -1, y->rank) : -1;
    for (int32_t i = 0; axis >= 0 && i < at->rank; i++) {
        law_set_x(l, 0, i, (uint8_t)(LAW_OWN + i));
        law_set_y(l, 0, i < axis ? i : i + 1, (uint8_t)(LAW_OWN + i));
    }
    return axis >= 0;
}

static bool law_of_loss(struct law *l) {
    const char *how = node_text(l->w->g, l->n, "reduction", "mean");
    const struct type *labels = law_operand(l, 1);
    bool is_mean = strcmp(how, "mean") == 0;
    if ((is_mean && (node_attr(l->n, "ignore_index") || l->w->n_in > 2)) || !labels)
        return false;
    for (int32_t i = 0; is_mean && i < labels->rank; i++)
        l->w->scale *= labels->dims[i].size;
    law_pattern(l, strcmp(how, "none") == 0 ? "n_@,n@,_>n@|n_@" : "n_@,n@,_>|n_@");
    return true;
}

bool law_by_shape(struct law *l) {
    const struct type *x = law_operand(l, 0);
    bool none[LAW_RANK] = {false};
    char text[LAW_MAX_PATTERN];
    int64_t n;
    const int64_t *given;
    switch (l->n->op) {
    case OP_Expand:
        law_pattern(l, "*,.>*");
        return true;
    case OP_ConstantOfShape:
        law_pattern(l, ".>*");
        return true;
    case OP_Einsum:
        if (!law_of_einsum(l, text))
            return false;
        law_pattern(l, text);
        return true;
    case OP_Transpose:
        return law_of_transpose(l);
    case OP_Reshape:
    case OP_Flatten:
    case OP_Squeeze:
    case OP_Unsqueeze:
        return law_of_reshape(l);
    case OP_Slice:
    case OP_Pad:
    case OP_Tile:
    case OP_Trilu:
        return law_of_moved(l);
    case OP_Concat:
    case OP_Split:
        return x && law_of_axis(l, axis_of(l, 0, x->rank));
    case OP_Softmax:
    case OP_LogSoftmax:
    case OP_Hardmax:
    case OP_LpNormalization:
    case OP_TopK:
        return x && law_of_axis(l, axis_of(l, -1, x->rank));
    case OP_CumSum:
    case OP_CumProd:
        given = ints_of(l, 1, &n);
        if (!x || !given || n != 1 || given[0] < -x->rank || given[0] >= x->rank)
            return false;
        none[given[0] < 0 ? given[0] + x->rank : given[0]] = true;
        keep_dims(l, none);
        return true;
    case OP_ArgMax:
    case OP_ArgMin:
        return law_of_arg(l);
    case OP_LayerNormalization:
    case OP_RMSNormalization:
        return law_of_layer(l);
    case OP_Gather:
        return law_of_gather(l);
    case OP_ScatterElements:
        return law_of_maxima(l) || law_of_elements(l);
    case OP_GatherElements:
        return law_of_elements(l);
    case OP_ScatterND:
        return law_of_scatter_nd(l);
    case OP_OneHot:
        return law_of_one_hot(l);
    case OP_SoftmaxCrossEntropyLoss:
    case OP_NegativeLogLikelihoodLoss:
        return law_of_loss(l);
    default:
        return strncmp(op_info(l->n->op)->name, "Reduce", 6) == 0 && law_of_reduce(l);
    }
}
