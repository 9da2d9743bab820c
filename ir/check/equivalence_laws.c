// Which dimensions an operator connects, as patterns: "nc.,oc.,o>no." are the operands and, behind
// the arrow, the results of a convolution. Dimensions with the same letter are divided together; a
// letter that the result lacks is summed. One character stands for one dimension, but
//
//     _   a dimension that is not divided       *   leading dimensions, aligned at the last one
//     .   the remaining ones, not divided       @   the remaining ones, each divided by itself
//     ~   the remaining ones, under windows     g   groups: several elements for each unit
//
// A dimension of one element that others broadcast has no letter. Operators whose dimensions depend
// on attributes and shapes (Reshape, Transpose, reductions, indices) have functions below.
#include <string.h>

#include "ir/check/equivalence_parts.h"

enum { LEADING = 128, OWN = 160, MAX_PATTERN = 256 };

const struct type *equiv_static_type(struct numbering *s, uint32_t class) {
    const struct type *t = class ? equiv_at(s, class)->type : NULL;
    return type_is_static(t) && t->rank <= LAW_RANK ? t : NULL;
}

struct law {
    struct numbering *s;
    struct equiv_whole *w;
    const struct node *n;
};

static const struct type *operand(const struct law *l, uint32_t k) {
    return k < l->w->n_in ? equiv_static_type(l->s, l->w->in[k]) : NULL;
}

static const struct type *result(const struct law *l, uint32_t k) {
    return k < l->w->n_out ? equiv_static_type(l->s, l->w->out[k]) : NULL;
}

static void set(struct law_dim *at, const struct type *t, int32_t dim, uint8_t letter) {
    if (t && dim >= 0 && dim < t->rank)
        at[dim] = (struct law_dim){letter, 1};
}

static void set_x(struct law *l, uint32_t k, int32_t dim, uint8_t letter) {
    if (k < l->w->n_in)
        set(l->w->x[k], operand(l, k), dim, letter);
}

static void set_y(struct law *l, uint32_t k, int32_t dim, uint8_t letter) {
    if (k < l->w->n_out)
        set(l->w->y[k], result(l, k), dim, letter);
}

// ---- Patterns ----

static void read_term(struct law_dim *at, const struct type *t, const char *p, size_t n) {
    int32_t dim = 0, left = t ? t->rank - (int32_t)n + 1 : 0;
    for (size_t i = 0; t && i < n; i++)
        switch (p[i]) {
        case '*':
            for (int32_t k = 0; k < left; k++)
                set(at, t, dim++, (uint8_t)(LEADING + left - k));
            break;
        case '.':
            dim += left;
            break;
        case '@':
            for (int32_t k = 0; k < left; k++)
                set(at, t, dim++, (uint8_t)(OWN + k));
            break;
        case '~':
            for (int32_t k = 0; k < left && k < LAW_LETTERS - LAW_WINDOW; k++)
                set(at, t, dim++, (uint8_t)(LAW_WINDOW + k));
            break;
        case '_':
            dim++;
            break;
        default:
            set(at, t, dim++, (uint8_t)p[i]);
        }
}

static void read_pattern(struct law *l, const char *p) {
    bool is_result = false;
    for (uint32_t k = 0;; k++) {
        size_t n = strcspn(p, ",>|");
        if (!is_result && k < l->w->n_in)
            read_term(l->w->x[k], operand(l, k), p, n);
        if (is_result && k < l->w->n_out)
            read_term(l->w->y[k], result(l, k), p, n);
        if (!p[n])
            return;
        if (p[n] == '>') {
            is_result = true;
            k = UINT32_MAX;
        }
        p += n + 1;
    }
}

static const char *gemm_pattern(const struct law *l) {
    static const char *const of[2][2] = {{"mk,kn>mn", "mk,nk>mn"}, {"km,kn>mn", "km,nk>mn"}};
    return of[node_int(l->n, "transA", 0) != 0][node_int(l->n, "transB", 0) != 0];
}

static const char *matmul_pattern(const struct law *l) {
    const struct type *a = operand(l, 0), *b = operand(l, 1);
    if (a->rank == 1)
        return b->rank == 1 ? "k,k>" : "k,*kn>*n";
    return b->rank == 1 ? "*mk,k>*m" : "*mk,*kn>*mn";
}

static const char *pattern_of(const struct law *l) {
    bool is_grouped = node_int(l->n, "group", 1) > 1,
         has_second = l->n->n_out > 1 && l->n->out[1].i;
    switch (l->n->op) {
    case OP_MatMul:
        return operand(l, 0) && operand(l, 1) ? matmul_pattern(l) : NULL;
    case OP_Gemm:
        return gemm_pattern(l);
    case OP_Conv:
        return is_grouped ? "ng~,g.,g>ng~" : "nc~,oc.,o>no~";
    case OP_ConvTranspose:
        return is_grouped ? "ng.,g.,g>ng." : "nc.,co.,o>no.";
    case OP_MaxPool:
    case OP_AveragePool:
    case OP_LpPool:
        return has_second ? "n.>n.|n." : node_int(l->n, "ceil_mode", 0) ? "nc.>nc." : "nc~>nc~";
    case OP_MaxUnpool:
        return "n.,n.>n.";
    case OP_GlobalAveragePool:
    case OP_GlobalMaxPool:
    case OP_GlobalLpPool:
        return "nc.>nc.";
    case OP_DepthToSpace:
    case OP_SpaceToDepth:
    case OP_LRN:
    case OP_Col2Im:
    case OP_GroupNormalization:
        return "n.>n.";
    case OP_InstanceNormalization:
        return "nc.,c,c>nc.";
    case OP_BatchNormalization:
        return node_int(l->n, "training_mode", 0) || l->n->n_out > 1 ? "_c.,c,c,c,c>_c.|c|c"
                                                                     : "nc@,c,c,c,c>nc@";
    default:
        return NULL;
    }
}

// Letters of an equation "ab,bc->ac", as a pattern.
static bool einsum_pattern(const struct law *l, char *out) {
    const char *p = node_text(l->w->g, l->n, "equation", "");
    size_t n = 0;
    bool has_arrow = false;
    for (; *p && n + 1 < MAX_PATTERN; p++) {
        bool is_letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
        if (*p == '-' && p[1] == '>') {
            has_arrow = true;
            continue;
        }
        if (!is_letter && *p != ',' && *p != '>' && *p != ' ')
            return false;
        for (size_t i = n; is_letter && i-- > 0 && out[i] != ',' && out[i] != '>';)
            if (out[i] == *p) // a diagonal
                return false;
        if (*p != ' ')
            out[n++] = *p;
    }
    out[n] = 0;
    return has_arrow && !*p;
}

// ---- Operators whose dimensions depend on attributes and shapes ----

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
    const struct type *x = operand(l, 0);
    for (int32_t i = 0; x && i < x->rank; i++) {
        if (excluded[i])
            continue;
        for (uint32_t k = 0; k < l->w->n_in; k++)
            if (operand(l, k) && operand(l, k)->rank == x->rank &&
                (k == 0 || l->n->op == OP_Concat))
                set_x(l, k, i, (uint8_t)(OWN + i));
        for (uint32_t k = 0; k < l->w->n_out; k++)
            if (result(l, k) && result(l, k)->rank == x->rank)
                set_y(l, k, i, (uint8_t)(OWN + i));
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
    const struct type *start = operand(l, 1);
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
    const struct type *x = operand(l, 0), *y = result(l, 0);
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
    const struct type *x = operand(l, 0), *y = result(l, 0);
    int32_t i = 0, k = 0;
    uint8_t letter = OWN;
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
    const struct type *x = operand(l, 0);
    for (int32_t i = 0; x && i < x->rank; i++) {
        int64_t from = x->rank - 1 - i;
        if (perm && (perm->kind != ATTR_INTS || perm->ref || perm->n != (size_t)x->rank))
            return false;
        from = perm ? perm->ints[i] : from;
        set_x(l, 0, (int32_t)from, (uint8_t)(OWN + i));
        set_y(l, 0, i, (uint8_t)(OWN + i));
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
    const struct type *x = operand(l, 0);
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
            set_x(l, 0, i, (uint8_t)(OWN + i));
        if (!reduced[i])
            set_y(l, 0, to, (uint8_t)(OWN + i));
        to += keeps || !reduced[i];
    }
    return true;
}

static bool law_of_arg(struct law *l) {
    const struct type *x = operand(l, 0);
    int32_t axis = x ? axis_of(l, 0, x->rank) : -1;
    bool keeps = node_int(l->n, "keepdims", 1) != 0;
    for (int32_t i = 0; axis >= 0 && i < x->rank; i++)
        if (i != axis) {
            set_x(l, 0, i, (uint8_t)(OWN + i));
            set_y(l, 0, keeps || i < axis ? i : i - 1, (uint8_t)(OWN + i));
        }
    return axis >= 0;
}

static bool law_of_layer(struct law *l) {
    const struct type *x = operand(l, 0);
    int32_t axis = x ? axis_of(l, -1, x->rank) : -1;
    for (int32_t i = 0; i < axis; i++) {
        set_x(l, 0, i, (uint8_t)(OWN + i));
        for (uint32_t k = 0; k < l->w->n_out; k++)
            set_y(l, k, i, (uint8_t)(OWN + i));
    }
    return axis >= 0;
}

static bool law_of_gather(struct law *l) {
    const struct type *x = operand(l, 0), *at = operand(l, 1);
    int32_t axis = x && at ? axis_of(l, 0, x->rank) : -1;
    for (int32_t i = 0; axis >= 0 && i < x->rank; i++)
        if (i != axis) {
            set_x(l, 0, i, (uint8_t)(OWN + i));
            set_y(l, 0, i < axis ? i : i - 1 + at->rank, (uint8_t)(OWN + i));
        }
    for (int32_t i = 0; axis >= 0 && i < at->rank; i++) {
        set_x(l, 1, i, (uint8_t)(LEADING + i));
        set_y(l, 0, axis + i, (uint8_t)(LEADING + i));
    }
    return axis >= 0;
}

static bool adds(const struct law *l) {
    return strcmp(node_text(l->w->g, l->n, "reduction", "none"), "add") == 0;
}

// GatherElements and ScatterElements: dimensions that data and indices have in full, and the
// indices along the axis.
static bool law_of_elements(struct law *l) {
    const struct type *x = operand(l, 0), *at = operand(l, 1);
    int32_t axis = x && at ? axis_of(l, 0, x->rank) : -1;
    bool gathers = l->n->op == OP_GatherElements;
    for (int32_t i = 0; axis >= 0 && i < x->rank; i++) {
        if (i == axis ? !gathers && !adds(l) : x->dims[i].size != at->dims[i].size)
            continue;
        if (i != axis)
            set_x(l, 0, i, (uint8_t)(OWN + i));
        set_x(l, 1, i, (uint8_t)(OWN + i));
        set_x(l, 2, i, (uint8_t)(OWN + i));
        if (i != axis || gathers)
            set_y(l, 0, i, (uint8_t)(OWN + i));
    }
    return axis >= 0;
}

static bool law_of_scatter_nd(struct law *l) {
    const struct type *x = operand(l, 0), *at = operand(l, 1);
    if (!x || !at || at->rank == 0)
        return false;
    int32_t depth = (int32_t)at->dims[at->rank - 1].size;
    for (int32_t i = 0; adds(l) && i < at->rank - 1; i++) {
        set_x(l, 1, i, (uint8_t)(LEADING + i));
        set_x(l, 2, i, (uint8_t)(LEADING + i));
    }
    for (int32_t i = depth; i < x->rank; i++) {
        set_x(l, 0, i, (uint8_t)(OWN + i));
        set_x(l, 2, at->rank - 1 + i - depth, (uint8_t)(OWN + i));
        set_y(l, 0, i, (uint8_t)(OWN + i));
    }
    return true;
}

static bool law_of_one_hot(struct law *l) {
    const struct type *at = operand(l, 0), *y = result(l, 0);
    int32_t axis = at && y ? axis_of(l, -1, y->rank) : -1;
    for (int32_t i = 0; axis >= 0 && i < at->rank; i++) {
        set_x(l, 0, i, (uint8_t)(OWN + i));
        set_y(l, 0, i < axis ? i : i + 1, (uint8_t)(OWN + i));
    }
    return axis >= 0;
}

static bool law_of_loss(struct law *l) {
    const char *how = node_text(l->w->g, l->n, "reduction", "mean");
    const struct type *labels = operand(l, 1);
    bool is_mean = strcmp(how, "mean") == 0;
    if ((is_mean && (node_attr(l->n, "ignore_index") || l->w->n_in > 2)) || !labels)
        return false;
    for (int32_t i = 0; is_mean && i < labels->rank; i++)
        l->w->scale *= labels->dims[i].size;
    read_pattern(l, strcmp(how, "none") == 0 ? "n_@,n@,_>n@|n_@" : "n_@,n@,_>|n_@");
    return true;
}

static bool law_by_shape(struct law *l) {
    const struct type *x = operand(l, 0);
    bool none[LAW_RANK] = {false};
    char text[MAX_PATTERN];
    int64_t n;
    const int64_t *given;
    switch (l->n->op) {
    case OP_Expand:
        read_pattern(l, "*,.>*");
        return true;
    case OP_ConstantOfShape:
        read_pattern(l, ".>*");
        return true;
    case OP_Einsum:
        if (!einsum_pattern(l, text))
            return false;
        read_pattern(l, text);
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
    case OP_GatherElements:
    case OP_ScatterElements:
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

static bool fill(struct law *l) {
    if (l->n->op == OP_UNKNOWN || (op_info(l->n->op)->flags & OPF_RANDOM))
        return false;
    const char *pattern = pattern_of(l);
    if (pattern) {
        read_pattern(l, pattern);
        int32_t rank = l->n->op == OP_Gemm && operand(l, 2) ? operand(l, 2)->rank : 0;
        set_x(l, 2, rank - 1, rank ? 'n' : LAW_NONE);
        set_x(l, 2, rank - 2, rank ? 'm' : LAW_NONE);
        return true;
    }
    if (op_info(l->n->op)->flags & OPF_ELEMENTWISE) {
        for (uint32_t k = 0; k < l->w->n_in; k++)
            read_term(l->w->x[k], operand(l, k), "*", 1);
        read_term(l->w->y[0], result(l, 0), "*", 1);
        return true;
    }
    return law_by_shape(l);
}

// ---- Units ----

static void take_extent(struct equiv_whole *w, const struct law_dim *at, const struct type *t,
                        int64_t n_groups) {
    for (int32_t i = 0; t && i < t->rank; i++)
        if (at[i].letter) {
            int64_t n = at[i].letter == 'g' ? n_groups : t->dims[i].size / at[i].unit;
            if (n > w->extent[at[i].letter])
                w->extent[at[i].letter] = n;
        }
}

// Units of groups; a dimension of one element beside a longer one has no letter.
static void settle(const struct equiv_whole *w, struct law_dim *at, const struct type *t) {
    for (int32_t i = 0; t && i < t->rank; i++) {
        int64_t n = w->extent[at[i].letter], size = t->dims[i].size;
        if (at[i].letter == 'g' && n > 0)
            at[i].unit = size / n;
        if (at[i].letter && at[i].letter < LAW_WINDOW && size != n * at[i].unit)
            at[i].letter = LAW_NONE;
    }
}

static struct law_dim **make_dims(struct numbering *s, const uint32_t *class, uint32_t n) {
    struct law_dim **at = ARENA_ARRAY(s->a, struct law_dim *, n);
    for (uint32_t k = 0; at && k < n; k++) {
        const struct type *t = equiv_static_type(s, class[k]);
        if (!(at[k] = ARENA_ARRAY(s->a, struct law_dim, t ? t->rank : 0)))
            return NULL;
    }
    return at;
}

void equiv_law_of(struct numbering *s, struct equiv_whole *w) {
    struct law l = {s, w, graph_node(w->g, w->node)};
    if (w->is_ready)
        return;
    w->is_ready = true;
    w->join = OP_Add;
    w->scale = 1;
    w->x = make_dims(s, w->in, w->n_in);
    w->y = make_dims(s, w->out, w->n_out);
    if (!w->x || !w->y) {
        s->failed = s->failed ? s->failed : diag_out_of_memory(s->d);
        return;
    }
    w->has_law = w->n_out > 0 && equiv_static_type(s, w->out[0]) && fill(&l);
    int64_t n_groups = node_int(l.n, "group", 1);
    for (uint32_t k = 0; w->has_law && k < w->n_in; k++)
        take_extent(w, w->x[k], operand(&l, k), n_groups);
    for (uint32_t k = 0; w->has_law && k < w->n_out; k++)
        take_extent(w, w->y[k], result(&l, k), n_groups);
    for (uint32_t k = 0; w->has_law && k < w->n_in; k++)
        settle(w, w->x[k], operand(&l, k));
    for (uint32_t k = 0; w->has_law && k < w->n_out; k++)
        settle(w, w->y[k], result(&l, k));
}
