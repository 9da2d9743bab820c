// Positions of maxima: see equivalence_parts.h. MaxPool counts them from the beginning of all
// images. A part of it along the batch counts from that of its own, and
//
//     MaxUnpool of a part of the images, by positions that count in it, is that part of the whole's
//     ScatterElements of updates at the positions of a pooling: those of an image lie in it, so the
//     result of a part of the images is that part of the whole's
#include "ir/check/equivalence_parts.h"

// The second result of a pooling, or a view of it: the positions of maxima, image after image.
// Returns the operand of the pooling; NULL: it is something else.
static const struct type *pooled(struct numbering *s, uint32_t class) {
    const struct equiv_class *c = class ? equiv_at(s, class) : NULL;
    while (c && c->node.i && graph_node(c->g, c->node)->op == OP_Reshape && c->n_in == 2) {
        class = c->in[0];
        c = class ? equiv_at(s, class) : NULL;
    }
    if (!c || !c->node.i || graph_node(c->g, c->node)->op != OP_MaxPool || c->n_in != 1)
        return NULL;
    uint32_t x = c->in[0], at = equiv_first_whole(s, OP_MaxPool, x);
    for (; at; at = s->wholes.at[at - 1].next)
        if (s->wholes.at[at - 1].n_out > 1 && s->wholes.at[at - 1].out[1] == class)
            return equiv_static_type(s, x);
    return NULL;
}

bool law_of_maxima(struct law *l) {
    const struct type *x = law_operand(l, 0), *at = law_operand(l, 1);
    const struct type *images = x && at && x->rank == 1 ? pooled(l->s, l->w->in[1]) : NULL;
    int64_t n = images && images->rank > 0 ? images->dims[0].size : 0, n_elements;
    if (n < 1 || at->rank != 1 || !type_elements(images, &n_elements) ||
        n_elements != x->dims[0].size || at->dims[0].size % n)
        return false;
    law_set_x(l, 0, 0, 'n');
    law_set_x(l, 1, 0, 'n');
    law_set_x(l, 2, 0, 'n');
    law_set_y(l, 0, 0, 'n');
    l->w->x[0][0].unit = l->w->y[0][0].unit = n_elements / n;
    l->w->x[1][0].unit = l->w->x[2][0].unit = at->dims[0].size / n;
    return true;
}

// Elements for each index of the first dimension.
static int64_t elements_of_one(struct numbering *s, uint32_t class) {
    const struct type *t = equiv_static_type(s, class);
    int64_t n;
    return t && t->rank > 0 && type_elements(t, &n) && n > 0 ? n / t->dims[0].size : 0;
}

bool equiv_reads_positions(struct numbering *s, const struct equiv_match *m, uint32_t k) {
    bool scatters = m->n->op == OP_ScatterElements && equiv_static_type(s, m->w->out[0]) &&
                    m->w->y[0][0].letter == 'n' && m->letter == 'n';
    return k == 1 && (m->n->op == OP_MaxUnpool || scatters);
}

int64_t equiv_positions_before(struct numbering *s, const struct equiv_match *m,
                               const struct equiv_part *p) {
    if (m->n->op == OP_ScatterElements)
        return p->lo / m->w->x[1][0].unit * m->w->y[0][0].unit;
    return p->lo * elements_of_one(s, m->w->out[0]);
}

bool equiv_makes_positions(struct numbering *s, const struct equiv_match *m, uint32_t k, int64_t lo,
                           int64_t *before) {
    const struct equiv_part *p =
        m->n->op == OP_Reshape ? equiv_piece(s, m->in[0], EQUIV_LOCAL) : NULL;
    bool is_pool = m->n->op == OP_MaxPool && k == 1;
    *before = p ? p->scale : is_pool ? lo * elements_of_one(s, m->w->in[0]) : 0;
    return p || is_pool;
}
