// Attributes of parts: see equivalence_parts.h. They are those of the whole, but for
//
//   pads and auto_pad, under windows
//   group, of a part of the groups
//   reduction, of a loss that is a mean and in parts a sum
#include <string.h>

#include "ir/check/equivalence_parts.h"

int32_t law_dim_of(const struct law_dim *at, const struct type *t, uint8_t letter) {
    for (int32_t i = 0; t && i < t->rank; i++)
        if (at[i].letter == letter)
            return i;
    return -1;
}

bool equiv_is_summed(struct numbering *s, const struct equiv_match *m) {
    return law_dim_of(m->w->y[0], equiv_static_type(s, m->w->out[0]), m->letter) < 0;
}

static bool same_attr(const struct attr *a, const struct attr *b) {
    if (a->kind != b->kind || a->ref || b->ref)
        return false;
    switch (a->kind) {
    case ATTR_INT:
        return a->i == b->i;
    case ATTR_FLOAT:
        return a->f == b->f;
    case ATTR_INTS:
        return a->n == b->n && (a->n == 0 || memcmp(a->ints, b->ints, a->n * sizeof *a->ints) == 0);
    case ATTR_STRING:
        return a->s.n == b->s.n && (a->s.n == 0 || memcmp(a->s.at, b->s.at, a->s.n) == 0);
    default:
        return a == b;
    }
}

// ConstantOfShape's value: a tensor, compared as a constant.
static bool same_value(struct numbering *s, const struct attr *a, const struct attr *b) {
    return a->kind == ATTR_TENSOR && b->kind == ATTR_TENSOR && !a->ref && !b->ref &&
           equiv_constant(s, a->t, NULL) == equiv_constant(s, b->t, NULL);
}

bool equiv_same_filling(struct numbering *s, uint32_t a, uint32_t b) {
    const struct equiv_class *x = equiv_at(s, a), *y = b ? equiv_at(s, b) : NULL;
    if (!y || !x->node.i || !y->node.i)
        return false;
    const struct node *m = graph_node(x->g, x->node), *n = graph_node(y->g, y->node);
    const struct attr *v = node_attr(m, "value"), *w = node_attr(n, "value");
    return m->op == OP_ConstantOfShape && n->op == OP_ConstantOfShape &&
           (v && w ? same_value(s, v, w) : v == w);
}

// An attribute in which a part differs from its whole by a rule below.
static bool is_excepted(struct numbering *s, const struct equiv_match *m, const char *name) {
    bool is_window = m->letter >= LAW_WINDOW, is_mean = m->w->scale != 1 && equiv_is_summed(s, m);
    return (is_window && (strcmp(name, "pads") == 0 || strcmp(name, "auto_pad") == 0)) ||
           (m->letter == 'g' && strcmp(name, "group") == 0) ||
           (is_mean && strcmp(name, "reduction") == 0);
}

static bool covers(struct numbering *s, const struct equiv_match *m, const struct node *a,
                   const struct node *b) {
    for (uint32_t k = 0; k < a->n_attrs; k++) {
        const struct attr *x = &a->attrs[k], *y = node_attr(b, x->name);
        if (!is_excepted(s, m, x->name) && (!y || !(same_attr(x, y) || same_value(s, x, y))))
            return false;
    }
    return true;
}

// A mean is in parts as sums: of a reduction, over the same dimensions; of a loss.
static bool match_mean(struct numbering *s, const struct equiv_match *m) {
    const struct node *whole = graph_node(m->w->g, m->w->node);
    const struct type *x = equiv_static_type(s, m->w->in[0]);
    bool a[LAW_RANK], b[LAW_RANK];
    if (whole->op != OP_ReduceMean)
        return strcmp(node_text(m->g, m->n, "reduction", "mean"), "sum") == 0 &&
               equiv_is_summed(s, m);
    if (m->n->op != OP_ReduceSum || !equiv_is_summed(s, m) ||
        !equiv_reduced(s, whole, m->w->in, m->w->n_in, x, a) ||
        !equiv_reduced(s, m->n, m->in, m->n_in, x, b))
        return false;
    for (int32_t i = 0; i < x->rank; i++)
        if (a[i] != b[i])
            return false;
    return node_int(whole, "keepdims", 1) == node_int(m->n, "keepdims", 1);
}

bool equiv_match_attrs(struct numbering *s, struct equiv_match *m) {
    const struct node *whole = graph_node(m->w->g, m->w->node);
    if (m->letter >= LAW_WINDOW && !equiv_windows(s, m))
        return false;
    if (m->letter == 'g' && node_int(m->n, "group", 1) != m->hi - m->lo)
        return false;
    if (whole->op == OP_ReduceMean && m->n->op == OP_ReduceSum)
        return match_mean(s, m);
    if (m->w->scale != 1 && equiv_is_summed(s, m) && !match_mean(s, m))
        return false;
    return covers(s, m, m->n, whole) && covers(s, m, whole, m->n);
}
