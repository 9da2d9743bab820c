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

const struct type *equiv_static_type(struct numbering *s, uint32_t class) {
    const struct type *t = class ? equiv_at(s, class)->type : NULL;
    return type_is_static(t) && t->rank <= LAW_RANK ? t : NULL;
}

const struct type *law_operand(const struct law *l, uint32_t k) {
    return k < l->w->n_in ? equiv_static_type(l->s, l->w->in[k]) : NULL;
}

const struct type *law_result(const struct law *l, uint32_t k) {
    return k < l->w->n_out ? equiv_static_type(l->s, l->w->out[k]) : NULL;
}

static void set(struct law_dim *at, const struct type *t, int32_t dim, uint8_t letter) {
    if (t && dim >= 0 && dim < t->rank)
        at[dim] = (struct law_dim){letter, 1};
}

void law_set_x(struct law *l, uint32_t k, int32_t dim, uint8_t letter) {
    if (k < l->w->n_in)
        set(l->w->x[k], law_operand(l, k), dim, letter);
}

void law_set_y(struct law *l, uint32_t k, int32_t dim, uint8_t letter) {
    if (k < l->w->n_out)
        set(l->w->y[k], law_result(l, k), dim, letter);
}

// ---- Patterns ----

static void read_term(struct law_dim *at, const struct type *t, const char *p, size_t n) {
    int32_t dim = 0, left = t ? t->rank - (int32_t)n + 1 : 0;
    for (size_t i = 0; t && i < n; i++)
        switch (p[i]) {
        case '*':
            for (int32_t k = 0; k < left; k++)
                set(at, t, dim++, (uint8_t)(LAW_LEADING + left - k));
            break;
        case '.':
            dim += left;
            break;
        case '@':
            for (int32_t k = 0; k < left; k++)
                set(at, t, dim++, (uint8_t)(LAW_OWN + k));
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

void law_pattern(struct law *l, const char *p) {
    bool is_result = false;
    for (uint32_t k = 0;; k++) {
        size_t n = strcspn(p, ",>|");
        if (!is_result && k < l->w->n_in)
            read_term(l->w->x[k], law_operand(l, k), p, n);
        if (is_result && k < l->w->n_out)
            read_term(l->w->y[k], law_result(l, k), p, n);
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
    const struct type *a = law_operand(l, 0), *b = law_operand(l, 1);
    if (a->rank == 1)
        return b->rank == 1 ? "k,k>" : "k,*kn>*n";
    return b->rank == 1 ? "*mk,k>*m" : "*mk,*kn>*mn";
}

static const char *pattern_of(const struct law *l) {
    bool is_grouped = node_int(l->n, "group", 1) > 1,
         has_second = l->n->n_out > 1 && l->n->out[1].i;
    switch (l->n->op) {
    case OP_MatMul:
        return law_operand(l, 0) && law_operand(l, 1) ? matmul_pattern(l) : NULL;
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
bool law_of_einsum(const struct law *l, char *out) {
    const char *p = node_text(l->w->g, l->n, "equation", "");
    size_t n = 0;
    bool has_arrow = false;
    for (; *p && n + 1 < LAW_MAX_PATTERN; p++) {
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

static bool fill(struct law *l) {
    if (l->n->op == OP_UNKNOWN || (op_info(l->n->op)->flags & OPF_RANDOM))
        return false;
    const char *pattern = pattern_of(l);
    if (pattern) {
        law_pattern(l, pattern);
        int32_t rank = l->n->op == OP_Gemm && law_operand(l, 2) ? law_operand(l, 2)->rank : 0;
        law_set_x(l, 2, rank - 1, rank ? 'n' : LAW_NONE);
        law_set_x(l, 2, rank - 2, rank ? 'm' : LAW_NONE);
        return true;
    }
    if (op_info(l->n->op)->flags & OPF_ELEMENTWISE) {
        for (uint32_t k = 0; k < l->w->n_in; k++)
            read_term(l->w->x[k], law_operand(l, k), "*", 1);
        read_term(l->w->y[0], law_result(l, 0), "*", 1);
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
    w->extent = ARENA_ARRAY(s->a, int64_t, LAW_LETTERS);
    if (!w->x || !w->y || !w->extent) {
        s->failed = s->failed ? s->failed : diag_out_of_memory(s->d);
        return;
    }
    w->has_law = w->n_out > 0 && equiv_static_type(s, w->out[0]) && fill(&l);
    int64_t n_groups = node_int(l.n, "group", 1);
    for (uint32_t k = 0; w->has_law && k < w->n_in; k++)
        take_extent(w, w->x[k], law_operand(&l, k), n_groups);
    for (uint32_t k = 0; w->has_law && k < w->n_out; k++)
        take_extent(w, w->y[k], law_result(&l, k), n_groups);
    for (uint32_t k = 0; w->has_law && k < w->n_in; k++)
        settle(w, w->x[k], law_operand(&l, k));
    for (uint32_t k = 0; w->has_law && k < w->n_out; k++)
        settle(w, w->y[k], law_result(&l, k));
}
