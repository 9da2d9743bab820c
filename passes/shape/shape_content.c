// Shape arithmetic: exporters compute shapes by nodes (Shape, Gather, Mul, Concat, Reshape, …).
// These rules evaluate such nodes on the elements of small tensors, and on symbols that pass
// through unchanged; floats are in shape_content_real.c. A rule runs after the shape rule of its
// node, so the type of the output is set. An element that cannot be computed is unknown; so is one
// that overflows.
#include "passes/shape/shape_content.h"

#include <math.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"

struct term *shape_content_capacity(struct shape *s, uint32_t k, int64_t *n) {
    if (k >= s->n->n_out || !s->n->out[k].i)
        return NULL;
    const struct type *t = graph_value(s->g, s->n->out[k])->type;
    bool real = t && t->kind == TYPE_TENSOR && elem_is_float(t->elem);
    if (!t || (!elem_is_int(t->elem) && t->elem != ELEM_BOOL && !real) || !type_elements(t, n) ||
        *n > (real ? LIMIT_FOLD_REALS : LIMIT_FOLD_ELEMENTS))
        return NULL;
    return ARENA_ARRAY(s->a, struct term, *n);
}

// The index in input k of element i of the output, under broadcasting.
static int64_t broadcast_index(const struct shape *s, uint32_t k, int64_t i) {
    const struct type *out = graph_value(s->g, s->n->out[0])->type, *in = shape_in(s, k);
    int64_t at = 0, stride = 1;
    for (int32_t d = out->rank; d-- > 0;) {
        int64_t pos = i % out->dims[d].size;
        i /= out->dims[d].size;
        int32_t di = d - (out->rank - in->rank);
        if (di >= 0) {
            at += (in->dims[di].size == 1 ? 0 : pos) * stride;
            stride *= in->dims[di].size;
        }
    }
    return at;
}

static struct term pick(const struct shape *s, uint32_t k, const struct term *x, int64_t i) {
    return x[broadcast_index(s, k, i)];
}

static status content_copy(struct shape *s) {
    const struct term *x;
    int64_t n, n_out;
    if (!shape_content_capacity(s, 0, &n_out) || !shape_content_any(s, 0, &x, &n) || n != n_out)
        return ST_OK;
    return shape_set_content(s, 0, x, n);
}

// To or from floats.
static struct term cast_real(struct term x, bool from_real, enum elem to) {
    double real = from_real ? shape_content_real(x) : (double)x.x;
    if (!x.known)
        return (struct term){0};
    if (elem_is_float(to))
        return shape_content_of_real(real, to);
    if (to == ELEM_BOOL)
        return term_of(real < 0 || real > 0);
    bool fits = real > -0x1p31 && real < 0x1p31; // towards 0
    return fits ? term_of((int64_t)real) : (struct term){0};
}

static status content_cast(struct shape *s) {
    const struct term *x;
    int64_t n, n_out;
    struct term *out = shape_content_capacity(s, 0, &n_out);
    if (!out || !shape_content_any(s, 0, &x, &n) || n != n_out)
        return ST_OK;
    enum elem e = graph_value(s->g, s->n->out[0])->type->elem;
    bool from_real = elem_is_float(shape_elem(s, 0));
    for (int64_t i = 0; i < n; i++) {
        out[i] = x[i];
        if (from_real || elem_is_float(e)) {
            out[i] = cast_real(x[i], from_real, e);
            continue;
        }
        if (e == ELEM_BOOL)
            out[i] = x[i].known ? term_of(x[i].x != 0) : (struct term){0};
        else if (elem_bits(e) < 64 && x[i].known &&
                 (x[i].x > INT32_MAX || x[i].x < INT32_MIN || elem_bits(e) < 32))
            out[i] = (struct term){0}; // unsigned arithmetic may wrap
    }
    return shape_set_content(s, 0, out, n);
}

// Results that hold for symbols too: neutral elements, equality of a symbol with itself.
static bool symbolic(enum op op, struct term a, struct term b, struct term *out) {
    bool a_neutral = a.known && ((op == OP_Mul && a.x == 1) || (op == OP_Add && a.x == 0));
    bool b_neutral = b.known && (((op == OP_Mul || op == OP_Div) && b.x == 1) ||
                                 ((op == OP_Add || op == OP_Sub) && b.x == 0));
    bool same = op == OP_Equal && !a.known && !b.known && a.symbol && a.symbol == b.symbol;
    *out = a_neutral ? b : b_neutral ? a : term_of(1);
    return a_neutral || b_neutral || same;
}

struct term shape_content_integer(enum op op, struct term a, struct term b) {
    struct term r;
    if (symbolic(op, a, b, &r))
        return r;
    if (!a.known || !b.known)
        return (struct term){0};
    r = (struct term){.known = true};
    bool fits = true, divides = b.x != 0 && !(a.x == INT64_MIN && b.x == -1);
    switch (op) {
    case OP_Add:
        fits = checked_add(a.x, b.x, &r.x);
        break;
    case OP_Sub:
        fits = checked_sub(a.x, b.x, &r.x);
        break;
    case OP_Mul:
        fits = checked_mul(a.x, b.x, &r.x);
        break;
    case OP_Div:
        fits = divides;
        r.x = divides ? a.x / b.x : 0;
        break;
    case OP_Mod: // the result has the sign of the divisor
        fits = divides;
        r.x = divides ? a.x % b.x : 0;
        if (r.x != 0 && (r.x < 0) != (b.x < 0))
            r.x += b.x;
        break;
    case OP_Max:
        r.x = a.x > b.x ? a.x : b.x;
        break;
    case OP_Min:
        r.x = a.x < b.x ? a.x : b.x;
        break;
    case OP_Equal:
        r.x = a.x == b.x;
        break;
    case OP_Less:
        r.x = a.x < b.x;
        break;
    case OP_LessOrEqual:
        r.x = a.x <= b.x;
        break;
    case OP_Greater:
        r.x = a.x > b.x;
        break;
    case OP_GreaterOrEqual:
        r.x = a.x >= b.x;
        break;
    case OP_And:
        r.x = a.x && b.x;
        break;
    case OP_Or:
        r.x = a.x || b.x;
        break;
    case OP_Xor:
        r.x = !a.x != !b.x;
        break;
    default:
        fits = false;
    }
    return fits ? r : (struct term){0};
}

static status content_binary(struct shape *s) {
    const struct term *x[2];
    int64_t nx, n;
    struct term *out = shape_content_capacity(s, 0, &n);
    if (!out || s->n->n_in != 2 || !shape_content_any(s, 0, &x[0], &nx) ||
        !shape_content_any(s, 1, &x[1], &nx))
        return ST_OK;
    enum elem result = graph_value(s->g, s->n->out[0])->type->elem;
    bool real = elem_is_float(shape_elem(s, 0));
    for (int64_t i = 0; i < n; i++) {
        struct term a = pick(s, 0, x[0], i), b = pick(s, 1, x[1], i);
        out[i] = real ? shape_content_binary(s->n->op, a, b, result)
                      : shape_content_integer(s->n->op, a, b);
    }
    return shape_set_content(s, 0, out, n);
}

static status content_unary(struct shape *s) {
    const struct term *x;
    int64_t nx, n;
    struct term *out = shape_content_capacity(s, 0, &n);
    if (!out || !shape_content_any(s, 0, &x, &nx) || nx != n)
        return ST_OK;
    enum elem result = graph_value(s->g, s->n->out[0])->type->elem;
    for (int64_t i = 0; i < n; i++)
        if (elem_is_float(result))
            out[i] = shape_content_unary(s->n->op, x[i], result);
        else if (x[i].known && x[i].x != INT64_MIN)
            out[i] = term_of(s->n->op == OP_Not                 ? !x[i].x
                             : s->n->op == OP_Sign              ? (x[i].x > 0) - (x[i].x < 0)
                             : s->n->op == OP_Abs && x[i].x > 0 ? x[i].x
                                                                : -x[i].x);
    return shape_set_content(s, 0, out, n);
}

static status content_where(struct shape *s) {
    const struct term *c, *a, *b;
    int64_t nx, n;
    struct term *out = shape_content_capacity(s, 0, &n);
    if (!out || !shape_content_any(s, 0, &c, &nx) || !shape_content_any(s, 1, &a, &nx) ||
        !shape_content_any(s, 2, &b, &nx))
        return ST_OK;
    for (int64_t i = 0; i < n; i++) {
        struct term which = pick(s, 0, c, i);
        if (which.known)
            out[i] = which.x ? pick(s, 1, a, i) : pick(s, 2, b, i);
    }
    return shape_set_content(s, 0, out, n);
}

static status content_range(struct shape *s) {
    int64_t *start, *delta, one, n;
    struct term *out = shape_content_capacity(s, 0, &n);
    if (!out || elem_is_float(shape_elem(s, 0)) || !shape_numbers(s, 0, &start, &one) ||
        !shape_numbers(s, 2, &delta, &one))
        return ST_OK;
    for (int64_t i = 0; i < n; i++) {
        int64_t x;
        if (!checked_mul(i, delta[0], &x) || !checked_add(start[0], x, &x))
            return ST_OK;
        out[i] = term_of(x);
    }
    return shape_set_content(s, 0, out, n);
}

static status content_fill(struct shape *s) {
    int64_t n, *x;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct attr *a = node_attr(s->n, "value");
    double zero = 0, *real = &zero;
    struct term all;
    if (!out)
        return ST_OK;
    if (a && a->kind == ATTR_TENSOR && tensor_has_ints(a->t)) {
        if (tensor_ints(a->t, s->a, s->d, &x))
            return ST_OK;
        all = term_of(x[0]);
    } else {
        if (a && (a->kind != ATTR_TENSOR || tensor_reals(a->t, s->a, s->d, &real)))
            return ST_OK;
        all = shape_content_of_real(*real, graph_value(s->g, s->n->out[0])->type->elem);
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = all;
    return shape_set_content(s, 0, out, n);
}

static status content_expand(struct shape *s) {
    const struct term *x;
    int64_t n, n_x;
    struct term *out = shape_content_capacity(s, 0, &n);
    if (!out || !shape_ranked(s, 0) || !shape_content_any(s, 0, &x, &n_x))
        return ST_OK;
    for (int64_t i = 0; i < n; i++)
        out[i] = pick(s, 0, x, i);
    return shape_set_content(s, 0, out, n);
}

static status constant_reals(struct shape *s, struct term *out, int64_t n) {
    const struct attr *a = &s->n->attrs[0];
    enum elem e = graph_value(s->g, s->n->out[0])->type->elem;
    double *x = NULL;
    if (a->kind == ATTR_TENSOR && (!a->t->data.source || tensor_reals(a->t, s->a, s->d, &x)))
        return ST_OK;
    for (int64_t i = 0; i < n; i++) {
        double one = a->kind == ATTR_FLOATS  ? (double)a->floats[i]
                     : a->kind == ATTR_FLOAT ? (double)a->f
                     : x                     ? x[i]
                                             : (double)NAN;
        out[i] = shape_content_of_real(one, e);
    }
    return shape_set_content(s, 0, out, n);
}

static status content_constant(struct shape *s) {
    int64_t n, *x = NULL;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct attr *a = s->n->n_attrs ? &s->n->attrs[0] : NULL;
    if (!out || !a)
        return ST_OK;
    if (graph_value(s->g, s->n->out[0])->type->elem == ELEM_F32 ||
        graph_value(s->g, s->n->out[0])->type->elem == ELEM_F64)
        return constant_reals(s, out, n);
    if (a->kind == ATTR_TENSOR && tensor_has_ints(a->t) && a->t->data.source &&
        !tensor_ints(a->t, s->a, s->d, &x)) {
    } else if (a->kind == ATTR_INTS) {
        x = a->ints;
    } else if (a->kind == ATTR_INT) {
        x = (int64_t *)&a->i;
    }
    if (!x)
        return ST_OK;
    for (int64_t i = 0; i < n; i++)
        out[i] = term_of(x[i]);
    return shape_set_content(s, 0, out, n);
}

static shape_rule *const rules[OP_COUNT_] = {
    [OP_Abs] = content_unary,
    [OP_Ceil] = content_unary,
    [OP_Exp] = content_unary,
    [OP_Floor] = content_unary,
    [OP_Log] = content_unary,
    [OP_OneHot] = content_one_hot,
    [OP_Pow] = content_binary,
    [OP_Reciprocal] = content_unary,
    [OP_Round] = content_unary,
    [OP_ScatterND] = content_scatter_nd,
    [OP_Sign] = content_unary,
    [OP_Sqrt] = content_unary,
    [OP_Tile] = content_tile,
    [OP_Add] = content_binary,
    [OP_ArgMax] = content_arg,
    [OP_ArgMin] = content_arg,
    [OP_Clip] = content_clip,
    [OP_CumSum] = content_cum_sum,
    [OP_GatherElements] = content_gather_elements,
    [OP_GatherND] = content_gather_nd,
    [OP_NonZero] = content_nonzero,
    [OP_ScatterElements] = content_scatter_elements,
    [OP_Trilu] = content_trilu,
    [OP_And] = content_binary,
    [OP_Cast] = content_cast,
    [OP_Concat] = content_concat,
    [OP_Constant] = content_constant,
    [OP_Div] = content_binary,
    [OP_Equal] = content_binary,
    [OP_Expand] = content_expand,
    [OP_Flatten] = content_copy,
    [OP_Gather] = content_gather,
    [OP_ConstantOfShape] = content_fill,
    [OP_Greater] = content_binary,
    [OP_Identity] = content_copy,
    [OP_GreaterOrEqual] = content_binary,
    [OP_Less] = content_binary,
    [OP_LessOrEqual] = content_binary,
    [OP_Max] = content_binary,
    [OP_Min] = content_binary,
    [OP_Mod] = content_binary,
    [OP_Mul] = content_binary,
    [OP_Neg] = content_unary,
    [OP_Not] = content_unary,
    [OP_Or] = content_binary,
    [OP_Range] = content_range,
    [OP_ReduceMax] = content_reduce,
    [OP_ReduceMin] = content_reduce,
    [OP_ReduceProd] = content_reduce,
    [OP_ReduceSum] = content_reduce,
    [OP_Reshape] = content_copy,
    [OP_Slice] = content_slice,
    [OP_Split] = content_split,
    [OP_Squeeze] = content_copy,
    [OP_Sub] = content_binary,
    [OP_Transpose] = content_transpose,
    [OP_Unsqueeze] = content_copy,
    [OP_Where] = content_where,
    [OP_Xor] = content_binary,
};

// Most nodes compute on data: without a known input nothing is known of the output, and rules need
// not make room for its elements.
static bool may_be_known(const struct shape *s) {
    bool known = s->n->n_in == 0 || s->n->op == OP_ConstantOfShape;
    for (uint32_t k = 0; k < s->n->n_in && !known; k++)
        known = shape_has(s, k) && shape_may_have_content(s, k);
    return known;
}

status shape_content_infer(struct shape *s) {
    if (!rules[s->n->op] || !may_be_known(s))
        return ST_OK;
    struct arena scratch = arena_make(s->a->mem); // only the result is kept
    struct shape own = *s;
    own.a = &scratch;
    status st = rules[s->n->op](&own);
    arena_free(&scratch);
    return st;
}
