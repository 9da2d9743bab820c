// Shapes of operators that work element by element, alone or with broadcasting.
#include "passes/shape/shape.h"

status shape_same(struct shape *s) {
    return shape_set_like(s, 0, shape_in(s, 0));
}

// The common shape of inputs from .. from+n-1 under broadcasting. *rank = -1: one of them has no
// known rank.
static status broadcast(struct shape *s, uint32_t from, uint32_t n, struct dim *dims,
                        int32_t *rank) {
    *rank = 0;
    for (uint32_t k = from; k < from + n; k++) {
        const struct type *t = shape_ranked(s, k);
        if (!t) {
            *rank = -1;
            return ST_OK;
        }
        if (t->rank > *rank) {
            // Broadcasting aligns the last dimensions: shift the others to the right.
            int32_t shift = t->rank - *rank;
            for (int32_t i = *rank; i-- > 0;)
                dims[i + shift] = dims[i];
            for (int32_t i = 0; i < shift; i++)
                dims[i] = dim_of(1);
            *rank = t->rank;
        }
        for (int32_t i = 0; i < t->rank; i++) {
            struct dim *d = &dims[*rank - t->rank + i];
            if (!dim_broadcast(*d, t->dims[i], d)) {
                struct str first = str_make(s->a), second = str_make(s->a);
                type_print(&first, shape_in(s, from));
                type_print(&second, t);
                return shape_fail(s, "%s and %s do not broadcast", str_text(&first),
                                  str_text(&second));
            }
        }
    }
    return ST_OK;
}

static status broadcast_to(struct shape *s, uint32_t from, uint32_t n, enum elem e) {
    struct dim dims[64];
    int32_t rank;
    status st = broadcast(s, from, n, dims, &rank);
    if (st)
        return st;
    return rank < 0 ? shape_set_unranked(s, 0, e) : shape_set(s, 0, e, dims, rank);
}

// All inputs and the output have the same element type.
status shape_broadcast(struct shape *s) {
    enum elem e = shape_elem(s, 0);
    for (uint32_t k = 1; k < s->n->n_in; k++) {
        enum elem other = shape_elem(s, k);
        if (e && other && e != other)
            return shape_fail(s, "input 0 is %s, but input %u is %s", elem_text(e), k,
                              elem_text(other));
        e = e ? e : other;
    }
    return broadcast_to(s, 0, s->n->n_in, e);
}

// The output has the element type of the first input: the exponent of Pow, the slope of PRelu and
// the shift of BitShift may have others.
status shape_broadcast_first(struct shape *s) {
    return broadcast_to(s, 0, s->n->n_in, shape_elem(s, 0));
}

status shape_compare(struct shape *s) {
    return broadcast_to(s, 0, s->n->n_in, ELEM_BOOL);
}

status shape_is(struct shape *s) {
    const struct type *t = shape_ranked(s, 0);
    return t ? shape_set(s, 0, ELEM_BOOL, t->dims, t->rank) : shape_set_unranked(s, 0, ELEM_BOOL);
}

status shape_where(struct shape *s) {
    enum elem a = shape_elem(s, 1), b = shape_elem(s, 2);
    if (a && b && a != b)
        return shape_fail(s, "the second and third input have the element types %s and %s",
                          elem_text(a), elem_text(b));
    return broadcast_to(s, 0, 3, a ? a : b);
}

// The shape of input 0 with a given element type.
static status recast(struct shape *s, uint32_t k, enum elem e) {
    const struct type *t = shape_ranked(s, 0);
    return t ? shape_set(s, k, e, t->dims, t->rank) : shape_set_unranked(s, k, e);
}

status shape_cast(struct shape *s) {
    enum elem to = (enum elem)node_int(s->n, "to", 0);
    if (!elem_text(to))
        return shape_fail(s, "attribute \"to\" is %d, which is no element type", (int)to);
    return recast(s, 0, to);
}

status shape_cast_like(struct shape *s) {
    return recast(s, 0, shape_elem(s, 1));
}

status shape_random_like(struct shape *s) {
    int64_t to = node_int(s->n, "dtype", 0);
    return recast(s, 0, to ? (enum elem)to : shape_elem(s, 0));
}

status shape_dropout(struct shape *s) {
    status st = shape_same(s);
    return st ? st : recast(s, 1, ELEM_BOOL);
}

status shape_quantize(struct shape *s) {
    int64_t to = node_int(s->n, "output_dtype", 0);
    enum elem zero = shape_elem(s, 2);
    return recast(s, 0, zero ? zero : to ? (enum elem)to : ELEM_U8);
}

status shape_dequantize(struct shape *s) {
    int64_t to = node_int(s->n, "output_dtype", 0);
    enum elem scale = shape_elem(s, 1);
    return recast(s, 0, to ? (enum elem)to : scale ? scale : ELEM_F32);
}

status shape_dynamic_quantize(struct shape *s) {
    status st = recast(s, 0, ELEM_U8);
    if (!st)
        st = shape_set(s, 1, ELEM_F32, NULL, 0);
    return st ? st : shape_set(s, 2, ELEM_U8, NULL, 0);
}
