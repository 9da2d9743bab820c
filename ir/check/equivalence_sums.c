// What parts are joined by: see equivalence_parts.h.
//
//     Slice(x, lo, hi) is a piece of x, and of what x is a piece of
//     Concat of adjacent pieces is a longer piece; of all of them, the whole
//     Add of the sums over adjacent ranges is the sum over both; over all of them, the whole, up to
//     the order of summation. The same for Max, Min and Mul.
//     Sum of several of them, in their order, likewise
//     Add and Sum of the same piece of such sums are that piece of their sum; Div likewise
//     Div(sum over n elements, n) is their mean
//     Add(positions in a piece, those before it) are positions in the whole, and Sub the reverse
#include "ir/check/equivalence_parts.h"

bool equiv_slice_range(struct numbering *s, const uint32_t *in, uint32_t n_in,
                       struct equiv_part *out) {
    const struct type *x = n_in > 0 ? equiv_static_type(s, in[0]) : NULL;
    int64_t at[] = {0, 0, 0, 1};
    for (uint32_t k = 1; k < 5 && x; k++) {
        const struct equiv_class *c = k < n_in && in[k] ? equiv_at(s, in[k]) : NULL;
        if ((!c && k < 3) || (c && (!c->ints || c->n_ints != 1)))
            return false;
        at[k - 1] = c ? c->ints[0] : at[k - 1];
    }
    if (!x || n_in < 3 || n_in > 5 || at[3] != 1)
        return false;
    int64_t axis = at[2] < 0 ? at[2] + x->rank : at[2];
    if (axis < 0 || axis >= x->rank)
        return false;
    int64_t size = x->dims[axis].size;
    for (int k = 0; k < 2; k++) {
        at[k] = at[k] < -size ? 0 : at[k] < 0 ? at[k] + size : at[k];
        at[k] = at[k] > size ? size : at[k];
    }
    *out = (struct equiv_part){
        .kind = EQUIV_PIECE, .of = in[0], .axis = (int32_t)axis, .lo = at[0], .hi = at[1]};
    return at[0] < at[1];
}

static uint32_t join_slice(struct numbering *s, const uint32_t *in, uint32_t n_in) {
    struct equiv_part p;
    if (!equiv_slice_range(s, in, n_in, &p))
        return 0;
    struct equiv_part outer = equiv_at(s, in[0])->part;
    bool is_nested =
        outer.kind == EQUIV_PIECE && outer.axis == p.axis && !equiv_at(s, in[0])->in_step;
    if (is_nested) {
        p.of = outer.of;
        p.lo += outer.lo;
        p.hi += outer.lo;
    } else if (outer.kind == EQUIV_UNIFORM && outer.axis == p.axis) {
        outer.hi = p.hi - p.lo;
        p = outer;
    }
    return equiv_part_class(s, p);
}

static uint32_t join_concat(struct numbering *s, const struct node *n, const uint32_t *in,
                            uint32_t n_in) {
    const struct type *t = n_in > 1 ? equiv_static_type(s, in[0]) : NULL;
    int64_t axis = node_int(n, "axis", 0);
    if (!t)
        return 0;
    axis = axis < 0 ? axis + t->rank : axis;
    struct equiv_part all = equiv_at(s, in[0])->part;
    for (uint32_t k = 0; k < n_in; k++) {
        if (!in[k])
            return 0;
        struct equiv_part p = equiv_at(s, in[k])->part;
        bool is_piece = p.kind == EQUIV_PIECE || p.kind == EQUIV_UNIFORM;
        if (!is_piece || p.of != all.of || p.axis != axis)
            return 0;
        if (p.kind == EQUIV_UNIFORM) { // anywhere
            int64_t lo = k ? all.hi : 0;
            p = (struct equiv_part){EQUIV_PIECE, p.of, p.axis, .lo = lo, .hi = lo + p.hi - p.lo};
        }
        if (k > 0 && p.lo != all.hi)
            return 0;
        if (k == 0)
            all = p;
        all.hi = p.hi;
    }
    const struct type *whole = equiv_static_type(s, all.of);
    return whole && all.hi <= whole->dims[axis].size ? equiv_part_class(s, all) : 0;
}

// The sum that a class is a piece of, or the class itself: *piece is that piece, or none.
static uint32_t without_piece(struct numbering *s, uint32_t class, struct equiv_part *piece) {
    const struct equiv_part *p = equiv_piece(s, class, EQUIV_PIECE);
    *piece = (struct equiv_part){0};
    if (!p || !equiv_piece(s, p->of, EQUIV_SUM))
        return class;
    *piece = *p;
    return p->of;
}

static uint32_t with_piece(struct numbering *s, uint32_t sum, struct equiv_part piece) {
    piece.of = sum;
    return sum && piece.kind == EQUIV_PIECE ? equiv_part_class(s, piece) : sum;
}

// Sums over ranges that follow each other, in any order.
static uint32_t join_two(struct numbering *s, enum op join, uint32_t x, uint32_t y) {
    struct equiv_part a = equiv_at(s, x)->part, b = equiv_at(s, y)->part;
    if (a.kind != EQUIV_SUM || b.kind != EQUIV_SUM || a.of != b.of || a.letter != b.letter ||
        a.join != join || b.join != join || a.scale != b.scale || (a.has_bias && b.has_bias))
        return 0;
    if (a.hi != b.lo && b.hi != a.lo)
        return 0;
    a.lo = a.lo < b.lo ? a.lo : b.lo;
    a.hi = a.hi > b.hi ? a.hi : b.hi;
    a.has_bias |= b.has_bias;
    return equiv_part_class(s, a);
}

static uint32_t join_sums(struct numbering *s, const struct node *n, const uint32_t *in,
                          uint32_t n_in) {
    struct equiv_part piece, other;
    if (n_in < 2 || (n->op != OP_Sum && n_in != 2) || !in[0])
        return 0;
    uint32_t sum = without_piece(s, in[0], &piece);
    for (uint32_t k = 1; k < n_in && sum; k++) {
        uint32_t one = in[k] ? without_piece(s, in[k], &other) : 0;
        if (!one || other.kind != piece.kind || other.axis != piece.axis || other.lo != piece.lo ||
            other.hi != piece.hi)
            return 0;
        sum = join_two(s, n->op == OP_Sum ? OP_Add : n->op, sum, one);
    }
    return with_piece(s, sum, piece);
}

// The whole sum, n times its mean.
static uint32_t join_mean(struct numbering *s, const uint32_t *in, uint32_t n_in) {
    struct equiv_part piece;
    uint32_t sum = n_in == 2 && in[0] ? without_piece(s, in[0], &piece) : 0;
    const struct equiv_part *p = equiv_piece(s, sum, EQUIV_SUM);
    const struct equiv_class *n = n_in == 2 && in[1] ? equiv_at(s, in[1]) : NULL;
    if (!p || !n || !n->is_number || n->number != (double)p->scale || p->scale == 1 || p->lo != 0 ||
        p->hi != p->extent || p->has_bias != p->needs_bias)
        return 0;
    s->completes = true;
    return with_piece(s, p->of, piece);
}

static uint32_t join_positions(struct numbering *s, const struct node *n, const uint32_t *in,
                               uint32_t n_in) {
    const struct equiv_class *c = n_in == 2 && in[1] ? equiv_at(s, in[1]) : NULL;
    if (!c || !in[0] || !c->ints || c->n_ints != 1 || !c->type || c->type->rank != 0)
        return 0;
    struct equiv_part p = equiv_at(s, in[0])->part;
    int64_t before = c->ints[0];
    if (n->op == OP_Add && p.kind == EQUIV_LOCAL && p.scale == before) {
        p.kind = EQUIV_PIECE;
        p.scale = 0;
    } else if (n->op == OP_Sub && p.kind == EQUIV_PIECE && p.axis == 0) {
        p.kind = EQUIV_LOCAL;
        p.scale = before;
    } else {
        return 0;
    }
    return equiv_part_class(s, p);
}

bool equiv_joined(struct numbering *s, const struct node *n, const uint32_t *in, uint32_t n_in,
                  uint32_t *class) {
    uint32_t made = 0;
    if (n->n_out != 1 || !n->out[0].i)
        return false;
    if (n->op == OP_Slice)
        made = join_slice(s, in, n_in);
    else if (n->op == OP_Concat)
        made = join_concat(s, n, in, n_in);
    else if (n->op == OP_Div)
        made = join_mean(s, in, n_in);
    else if (n->op == OP_Add || n->op == OP_Sum || n->op == OP_Max || n->op == OP_Min ||
             n->op == OP_Mul)
        made = join_sums(s, n, in, n_in);
    if (!made && (n->op == OP_Add || n->op == OP_Sub))
        made = join_positions(s, n, in, n_in);
    if (made)
        class[n->out[0].i] = made;
    return made != 0;
}
