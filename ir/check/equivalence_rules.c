// Algebraic simplification for the value numbering: see equivalence.h. The identities hold in every
// graph:
//
//     all tensors of one type without elements are equal
//     Identity(x) = x
//     Unsqueeze(x, no axes) = x
//     Reshape(x, s) = x                   when s is constant and gives the shape of x
//     Concat(…, e, …) = Concat(…, …)      when e has extent 0 along the axis and another operand
//                                         is left
//     Concat(x) = x
//
// Their conditions need types. These are derived here from the operands, for Reshape, Slice,
// Compress, Cast, Shape, MatMulInteger, arithmetic, and Concat with constant operands; an unknown
// type disables the identity. Every form of control dependency that mfc writes simplifies to the
// tensor that it delays.
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"
#include "ir/check/equivalence_inner.h"

uint32_t equiv_empty(struct numbering *s, const struct type *t) {
    int64_t n;
    bool is_new;
    if (!type_elements(t, &n) || n > 0)
        return 0;
    equiv_key(s, 'E');
    equiv_put(s, t->elem);
    equiv_put(s, t->rank);
    for (int32_t i = 0; i < t->rank; i++)
        equiv_put(s, t->dims[i].size);
    uint32_t class = equiv_intern(s, &is_new);
    if (is_new) {
        static const int64_t none[1];
        struct equiv_class *c = equiv_at(s, class);
        c->type = t;
        c->ints = none;
        c->name = "an empty tensor";
    }
    return class;
}

static const struct type *type_of(struct numbering *s, const uint32_t *in, uint32_t n_in,
                                  uint32_t k) {
    const struct type *t = k < n_in && in[k] ? equiv_at(s, in[k])->type : NULL;
    return t && t->kind == TYPE_TENSOR ? t : NULL;
}

static bool has_shape(const struct type *t) {
    return t && t->has_shape && t->rank <= LIMIT_RANK;
}

struct int_vector {
    const int64_t *at;
    int64_t n;
};

// The elements of operand k, a vector of element type e; false: it is not one, or its elements are
// unknown. An omitted operand has no elements.
static bool vector_of(struct numbering *s, const uint32_t *in, uint32_t n_in, uint32_t k,
                      enum elem e, struct int_vector *out) {
    *out = (struct int_vector){0};
    if (k >= n_in || !in[k])
        return true;
    const struct equiv_class *c = equiv_at(s, in[k]);
    *out = (struct int_vector){c->ints, c->n_ints};
    return c->ints && c->type && c->type->elem == e && c->type->rank == 1;
}

static bool is_there(const uint32_t *in, uint32_t n_in, uint32_t k) {
    return k < n_in && in[k];
}

static const struct type *make_type(struct numbering *s, enum elem e, const int64_t *dims,
                                    int32_t rank) {
    const struct type *t = type_static(s->a, e, dims, rank); // -1 is an unknown dimension there too
    if (!t)
        s->failed = diag_out_of_memory(s->d);
    return t;
}

// The dimensions of Reshape(x, shape); those that cannot be computed are DIM_UNKNOWN. False: the
// node is invalid, or nothing is known.
static bool reshaped(const struct type *x, const int64_t *shape, int64_t n, bool allow_zero,
                     int64_t *dims) {
    int64_t known = 1, open = -1, whole;
    for (int64_t i = 0; i < n; i++) {
        dims[i] = shape[i];
        if (shape[i] == 0 && !allow_zero) { // copied from the operand
            if (!has_shape(x) || i >= x->rank)
                return false;
            dims[i] = x->dims[i].size;
        }
        if (shape[i] < -1 || (shape[i] == -1 && open >= 0))
            return false;
        if (shape[i] == -1)
            open = i;
        else if (dims[i] < 0 || !checked_mul(known, dims[i], &known))
            known = -1;
        known = known < 0 ? 0 : known; // the -1 dimension cannot be computed
    }
    if (!x || !type_elements(x, &whole)) {
        if (open >= 0)
            dims[open] = DIM_UNKNOWN;
        return true;
    }
    if (open >= 0)
        dims[open] = known > 0 && whole % known == 0 ? whole / known : DIM_UNKNOWN;
    return open >= 0 || known == whole;
}

static bool reshape_dims(struct numbering *s, const struct node *n, const uint32_t *in,
                         uint32_t n_in, int64_t *dims, int32_t *rank) {
    struct int_vector shape;
    if (!is_there(in, n_in, 1) || !vector_of(s, in, n_in, 1, ELEM_I64, &shape) ||
        shape.n > LIMIT_RANK)
        return false;
    *rank = (int32_t)shape.n;
    const struct attr *zero = node_attr(n, "allowzero");
    if (zero && (zero->ref || zero->kind != ATTR_INT))
        return false;
    return reshaped(type_of(s, in, n_in, 0), shape.at, shape.n, zero && zero->i, dims);
}

static bool same_dims(const struct type *t, const int64_t *dims, int32_t rank) {
    if (!type_is_static(t) || t->rank != rank)
        return false;
    for (int32_t i = 0; i < rank; i++)
        if (t->dims[i].size != dims[i])
            return false;
    return true;
}

// Whether all operands of a Concat have static types that agree outside the axis. *axis is
// normalized to 0 .. rank-1.
static bool concat_fits(struct numbering *s, const struct node *n, const uint32_t *in,
                        uint32_t n_in, int64_t *axis) {
    const struct attr *a = node_attr(n, "axis");
    const struct type *x = type_of(s, in, n_in, 0);
    if (!a || a->kind != ATTR_INT || a->ref || !has_shape(x))
        return false;
    *axis = a->i < 0 ? a->i + x->rank : a->i;
    bool fits = *axis >= 0 && *axis < x->rank;
    for (uint32_t k = 0; k < n_in && fits; k++) {
        const struct type *t = type_of(s, in, n_in, k);
        fits = type_is_static(t) && t->elem == x->elem && t->rank == x->rank;
        for (int32_t i = 0; fits && i < x->rank; i++)
            fits = i == *axis || t->dims[i].size == x->dims[i].size;
    }
    return fits;
}

uint32_t equiv_simplify(struct numbering *s, const struct node *n, const uint32_t *in,
                        uint32_t n_in) {
    struct int_vector axes;
    int64_t axis, dims[LIMIT_RANK];
    int32_t rank;
    if (!is_there(in, n_in, 0))
        return 0;
    switch (n->op) {
    case OP_Identity:
        return in[0];
    case OP_Concat:
        return n_in == 1 && concat_fits(s, n, in, n_in, &axis) ? in[0] : 0;
    case OP_Unsqueeze:
        return is_there(in, n_in, 1) && vector_of(s, in, n_in, 1, ELEM_I64, &axes) && axes.n == 0
                   ? in[0]
                   : 0;
    case OP_Reshape:
        return reshape_dims(s, n, in, n_in, dims, &rank) &&
                       same_dims(type_of(s, in, n_in, 0), dims, rank)
                   ? in[0]
                   : 0;
    default:
        return 0;
    }
}

uint32_t equiv_operands(struct numbering *s, const struct node *n, uint32_t *in, uint32_t n_in) {
    int64_t axis;
    if (n->op != OP_Concat || !concat_fits(s, n, in, n_in, &axis))
        return n_in;
    uint32_t n_kept = 0;
    for (uint32_t k = 0; k < n_in; k++) {
        bool is_last = k + 1 == n_in && n_kept == 0; // keep at least one operand
        if (type_of(s, in, n_in, k)->dims[axis].size > 0 || is_last)
            in[n_kept++] = in[k];
    }
    return n_kept;
}

// The extent of start:end:step along a dimension, for positive steps; else DIM_UNKNOWN.
static int64_t slice_extent(int64_t dim, int64_t start, int64_t end, int64_t step) {
    if (step <= 0)
        return DIM_UNKNOWN;
    if (start == end)
        return 0; // both ends are normalized and clamped in the same way
    if (dim < 0)
        return DIM_UNKNOWN;
    start = start < 0 ? start + dim : start;
    end = end < 0 ? end + dim : end;
    start = start < 0 ? 0 : start > dim ? dim : start;
    end = end < 0 ? 0 : end > dim ? dim : end;
    return end > start ? (end - start - 1) / step + 1 : 0;
}

static const struct type *slice_type(struct numbering *s, const uint32_t *in, uint32_t n_in) {
    const struct type *x = type_of(s, in, n_in, 0);
    struct int_vector start, end, axes, steps;
    int64_t dims[LIMIT_RANK];
    bool sliced[LIMIT_RANK] = {false};
    if (!has_shape(x) || !is_there(in, n_in, 1) || !is_there(in, n_in, 2) ||
        !vector_of(s, in, n_in, 1, ELEM_I64, &start) ||
        !vector_of(s, in, n_in, 2, ELEM_I64, &end) || !vector_of(s, in, n_in, 3, ELEM_I64, &axes) ||
        !vector_of(s, in, n_in, 4, ELEM_I64, &steps) || end.n != start.n ||
        (axes.at && axes.n != start.n) || (steps.at && steps.n != start.n))
        return NULL;
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i].size;
    for (int64_t i = 0; i < start.n; i++) {
        int64_t axis = !axes.at ? i : axes.at[i] < 0 ? axes.at[i] + x->rank : axes.at[i];
        if (axis < 0 || axis >= x->rank || sliced[axis])
            return NULL;
        sliced[axis] = true;
        dims[axis] = slice_extent(dims[axis], start.at[i], end.at[i], steps.at ? steps.at[i] : 1);
    }
    return make_type(s, x->elem, dims, x->rank);
}

static const struct type *compress_type(struct numbering *s, const struct node *n,
                                        const uint32_t *in, uint32_t n_in) {
    const struct type *x = type_of(s, in, n_in, 0);
    const struct attr *axis = node_attr(n, "axis");
    struct int_vector keep;
    int64_t whole, n_true = 0, dims[LIMIT_RANK];
    if (!type_elements(x, &whole) || !has_shape(x) || x->rank == 0 || !is_there(in, n_in, 1) ||
        !vector_of(s, in, n_in, 1, ELEM_BOOL, &keep) || keep.n > whole ||
        (axis && (axis->kind != ATTR_INT || axis->ref)))
        return NULL;
    for (int64_t i = 0; i < keep.n; i++)
        n_true += keep.at[i] != 0;
    if (!axis) // Compress flattens its operand
        return make_type(s, x->elem, &n_true, 1);
    int64_t at = axis->i < 0 ? axis->i + x->rank : axis->i;
    if (at < 0 || at >= x->rank)
        return NULL;
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = i == at ? n_true : x->dims[i].size;
    return make_type(s, x->elem, dims, x->rank);
}

static const struct type *concat_type(struct numbering *s, const struct node *n, const uint32_t *in,
                                      uint32_t n_in) {
    int64_t axis, dims[LIMIT_RANK];
    if (!concat_fits(s, n, in, n_in, &axis))
        return NULL;
    const struct type *x = type_of(s, in, n_in, 0);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = x->dims[i].size;
    for (uint32_t k = 1; k < n_in; k++)
        if (!checked_add(dims[axis], type_of(s, in, n_in, k)->dims[axis].size, &dims[axis]))
            return NULL;
    return make_type(s, x->elem, dims, x->rank);
}

// Of no dimensions: an empty vector, whatever the operand.
static const struct type *shape_type(struct numbering *s, const struct node *n) {
    const struct attr *end = node_attr(n, "end");
    int64_t none = 0;
    return end && end->kind == ATTR_INT && !end->ref && end->i == 0
               ? make_type(s, ELEM_I64, &none, 1)
               : NULL;
}

// Of two matrices.
static const struct type *product_type(struct numbering *s, const uint32_t *in, uint32_t n_in) {
    const struct type *x = type_of(s, in, n_in, 0), *y = type_of(s, in, n_in, 1);
    if (!type_is_static(x) || !type_is_static(y) || x->rank != 2 || y->rank != 2)
        return NULL;
    int64_t dims[] = {x->dims[0].size, y->dims[1].size};
    return make_type(s, ELEM_I32, dims, 2);
}

// Of two operands, of which one has no dimensions or both have the same.
static const struct type *arithmetic_type(struct numbering *s, const uint32_t *in, uint32_t n_in) {
    const struct type *x = type_of(s, in, n_in, 0), *y = type_of(s, in, n_in, 1);
    if (!type_is_static(x) || !type_is_static(y) || x->elem != y->elem)
        return NULL;
    if (x->rank == 0 || y->rank == 0)
        return x->rank == 0 ? y : x;
    return type_equal(x, y) ? x : NULL;
}

const struct type *equiv_derive(struct numbering *s, const struct node *n, const uint32_t *in,
                                uint32_t n_in) {
    const struct type *x = type_of(s, in, n_in, 0);
    int64_t dims[LIMIT_RANK];
    int32_t rank;
    if (n->op == OP_Shape)
        return shape_type(s, n);
    if (!x)
        return NULL;
    switch (n->op) {
    case OP_Reshape:
        return reshape_dims(s, n, in, n_in, dims, &rank) ? make_type(s, x->elem, dims, rank) : NULL;
    case OP_Slice:
        return slice_type(s, in, n_in);
    case OP_Compress:
        return compress_type(s, n, in, n_in);
    case OP_Concat:
        return concat_type(s, n, in, n_in);
    case OP_MatMulInteger:
        return product_type(s, in, n_in);
    case OP_Add:
    case OP_Sub:
    case OP_Mul:
    case OP_Div:
        return arithmetic_type(s, in, n_in);
    case OP_Cast: {
        int64_t to = node_int(n, "to", 0);
        for (int32_t i = 0; i < x->rank && x->rank <= LIMIT_RANK; i++)
            dims[i] = x->dims[i].size;
        return has_shape(x) && to > 0 && to < ELEM_LIMIT_
                   ? make_type(s, (enum elem)to, dims, x->rank)
                   : NULL;
    }
    default:
        return NULL;
    }
}
