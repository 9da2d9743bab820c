// Layer normalization, which exports up to opset 16 spell out:
//
//     c = x - mean(x),  y = c / sqrt(mean(c²) + epsilon) * scale + bias
//
// over the last dimensions, those of the scale.
#include "passes/recognize/recognize.h"

// The mean over the last dimensions, n of them, of a value of that rank.
static value_id mean_of(const struct recognize *r, value_id v, int32_t rank, int32_t n) {
    const struct node *mean = recognize_made_by(r, v, OP_ReduceMean);
    const struct attr *at = mean ? node_attr(mean, "axes") : NULL;
    int64_t *axes = at ? at->ints : NULL, count = at ? (int64_t)at->n : 0;
    if (mean && mean->n_in == 2) {
        const struct value *x = graph_value(r->g, mean->in[1]);
        if (!x->init || x->is_input || !x->init->data.source || !tensor_elements(x->init, &count) ||
            tensor_ints(x->init, r->a, r->d, &axes))
            return VALUE_NONE;
    }
    if (!axes || count != n || node_int(mean, "keepdims", 1) != 1)
        return VALUE_NONE;
    uint64_t found = 0;
    for (int64_t i = 0; i < count; i++)
        found |= (uint64_t)1 << (axes[i] < 0 ? axes[i] + rank : axes[i]);
    uint64_t want = (((uint64_t)1 << n) - 1) << (rank - n);
    return found == want ? mean->in[0] : VALUE_NONE;
}

// c² for a value c; VALUE_NONE: it is no square.
static value_id root_of_square(const struct recognize *r, value_id v) {
    struct product p = recognize_product(r, v);
    return p.n == 2 && p.scale == 1 && value_same(p.factor[0], p.factor[1]) ? p.factor[0]
                                                                            : VALUE_NONE;
}

static value_id centred(const struct recognize *r, value_id v, int32_t rank, int32_t n) {
    const struct node *c = recognize_made_by(r, v, OP_Sub);
    return c && value_same(mean_of(r, c->in[1], rank, n), c->in[0]) ? c->in[0] : VALUE_NONE;
}

// x of c / sqrt(mean(c²) + epsilon). The two c may be two nodes.
static value_id normalized(const struct recognize *r, value_id v, int32_t rank, int32_t n,
                           double *epsilon) {
    const struct node *over = recognize_made_by(r, v, OP_Div),
                      *root = over ? recognize_made_by(r, over->in[1], OP_Sqrt) : NULL,
                      *sum = root ? recognize_made_by(r, root->in[0], OP_Add) : NULL;
    for (int k = 0; sum && k < 2; k++) {
        value_id square = mean_of(r, sum->in[1 - k], rank, n), x;
        if (recognize_number(r, sum->in[k], epsilon) && square.i &&
            (x = centred(r, root_of_square(r, square), rank, n)).i &&
            value_same(x, centred(r, over->in[0], rank, n)))
            return x;
    }
    return VALUE_NONE;
}

// The scale or the bias: as many dimensions as the normalization, of the same sizes.
static bool is_affine(const struct recognize *r, value_id v, const struct type *y, int32_t n) {
    const struct type *t = recognize_type(r, v);
    bool same = t && t->rank == n && n <= y->rank && t->elem == y->elem;
    for (int32_t i = 0; same && i < n; i++)
        same = t->dims[i].size == y->dims[y->rank - n + i].size;
    return same;
}

bool recognize_norm(struct recognize *r, const struct node *n) {
    const struct type *y = recognize_type(r, n->out[0]);
    if (n->op != OP_Add || !y || !elem_is_float(y->elem))
        return false;
    for (int k = 0; k < 4; k++) {
        value_id bias = n->in[k & 1];
        const struct node *scaled = recognize_made_by(r, n->in[1 - (k & 1)], OP_Mul);
        const struct type *b = recognize_type(r, bias);
        if (!scaled || !b || b->rank < 1 || !is_affine(r, bias, y, b->rank))
            continue;
        value_id scale = scaled->in[k >> 1], xhat = scaled->in[1 - (k >> 1)];
        double epsilon;
        value_id x = normalized(r, xhat, y->rank, b->rank, &epsilon);
        if (x.i && is_affine(r, scale, y, b->rank))
            return recognize_become(
                r, OP_LayerNormalization, VALUES(x, scale, bias),
                ATTRS(attr_int("axis", -b->rank), attr_float("epsilon", epsilon)));
    }
    return false;
}
