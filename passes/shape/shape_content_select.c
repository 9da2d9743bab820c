// Shape arithmetic that searches, selects and adds up elements of small tensors: NonZero, ArgMax,
// CumSum, reductions, Clip, Gather and Scatter by element. Exporters of repeat_interleave, of masks
// and of relative positions use them. A rule leaves the output unknown where an element that
// decides is.
#include "ir/base/limits.h"
#include "passes/shape/shape_content.h"

static const struct type *type_out(const struct shape *s) {
    return graph_value(s->g, s->n->out[0])->type;
}

static struct term combine(const struct shape *s, enum op op, struct term a, struct term b) {
    enum elem e = type_out(s)->elem;
    return elem_is_float(e) ? shape_content_binary(op, a, b, e) : shape_content_integer(op, a, b);
}

int64_t shape_content_count(const struct shape *s) {
    const struct term *x;
    int64_t n, count = 0;
    bool real = elem_is_float(shape_elem(s, 0));
    if (!shape_content_any(s, 0, &x, &n))
        return -1;
    for (int64_t i = 0; i < n; i++) {
        if (!x[i].known)
            return -1;
        double value = real ? shape_content_real(x[i]) : (double)x[i].x;
        count += value < 0 || value > 0;
    }
    return count;
}

// One column for each element that is not 0, with its position in each dimension.
status content_nonzero(struct shape *s) {
    const struct term *x;
    int64_t n, at[LIMIT_RANK], column = 0, count = shape_content_count(s), n_x;
    struct term *out = count >= 0 ? shape_content_capacity(s, 0, &n) : NULL;
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    bool real = elem_is_float(shape_elem(s, 0));
    if (!t || t->rank == 0 || !type_elements(t, &n_x) || n != count * t->rank)
        return ST_OK;
    for (int64_t i = 0; i < n_x; i++) {
        double value = real ? shape_content_real(x[i]) : (double)x[i].x;
        if (!(value < 0 || value > 0))
            continue;
        shape_content_unflatten(t, i, at);
        for (int32_t d = 0; d < t->rank; d++)
            out[d * count + column] = (struct term){.x = at[d], .known = true};
        column++;
    }
    return shape_set_content(s, 0, out, n);
}

// The element of the result, without reduced dimensions, that element i of the operand goes to.
static int64_t reduced_index(const struct type *t, const bool *over, int64_t i) {
    int64_t at[LIMIT_RANK], to = 0;
    shape_content_unflatten(t, i, at);
    for (int32_t d = 0; d < t->rank; d++)
        if (!over[d])
            to = to * t->dims[d].size + at[d];
    return to;
}

// ReduceProd, ReduceSum, ReduceMax, ReduceMin.
status content_reduce(struct shape *s) {
    static const enum op step[OP_COUNT_] = {[OP_ReduceProd] = OP_Mul,
                                            [OP_ReduceSum] = OP_Add,
                                            [OP_ReduceMax] = OP_Max,
                                            [OP_ReduceMin] = OP_Min};
    const struct term *x;
    int64_t n, n_x, n_axes, *axes;
    bool over[LIMIT_RANK] = {false}, known;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    if (!t || !type_elements(t, &n_x) || shape_axes(s, 1, t->rank, &axes, &n_axes, &known) ||
        !known)
        return ST_OK;
    bool all = n_axes == 0 && node_int(s->n, "noop_with_empty_axes", 0) == 0;
    for (int32_t d = 0; d < t->rank; d++)
        over[d] = all;
    for (int64_t k = 0; k < n_axes; k++)
        over[axes[k]] = true;
    bool *seen = ARENA_ARRAY(s->a, bool, n);
    for (int64_t i = 0; seen && i < n_x; i++) {
        int64_t to = reduced_index(t, over, i);
        if (to >= n)
            return ST_OK;
        out[to] = seen[to] ? combine(s, step[s->n->op], out[to], x[i]) : x[i];
        seen[to] = true;
    }
    return seen && n_x > 0 ? shape_set_content(s, 0, out, n) : ST_OK;
}

// ArgMax, ArgMin.
status content_arg(struct shape *s) {
    int64_t n, n_x, *x, best[LIMIT_FOLD_REALS];
    bool over[LIMIT_RANK] = {false}, last = node_int(s->n, "select_last_index", 0) != 0;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = shape_ranked(s, 0);
    int32_t axis;
    if (!out || !t || n > LIMIT_FOLD_REALS || !shape_numbers(s, 0, &x, &n_x) ||
        shape_axis(s, node_int(s->n, "axis", 0), t->rank, &axis))
        return ST_OK;
    over[axis] = true;
    for (int64_t i = 0; i < n_x; i++) {
        int64_t at[LIMIT_RANK], to = reduced_index(t, over, i);
        if (to >= n)
            return ST_OK;
        shape_content_unflatten(t, i, at);
        bool more = s->n->op == OP_ArgMax ? x[i] > best[to] : x[i] < best[to];
        if (at[axis] > 0 && !more && !(last && x[i] == best[to]))
            continue;
        best[to] = x[i];
        out[to] = (struct term){.x = at[axis], .known = true};
    }
    return shape_set_content(s, 0, out, n);
}

status content_cum_sum(struct shape *s) {
    const struct term *x;
    int64_t n, *axis, one, at[LIMIT_RANK];
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    if (!t || !shape_numbers(s, 1, &axis, &one) || node_int(s->n, "reverse", 0) ||
        node_int(s->n, "exclusive", 0) || axis[0] < -t->rank || axis[0] >= t->rank)
        return ST_OK;
    int32_t d = (int32_t)(axis[0] < 0 ? axis[0] + t->rank : axis[0]);
    for (int64_t i = 0; i < n; i++) {
        shape_content_unflatten(t, i, at);
        out[i] = x[i];
        if (at[d]-- > 0)
            out[i] = combine(s, OP_Add, out[shape_content_flatten(t, at)], x[i]);
    }
    return shape_set_content(s, 0, out, n);
}

status content_clip(struct shape *s) {
    const struct term *x, *bound;
    int64_t n, n_x, one;
    struct term *out = shape_content_capacity(s, 0, &n);
    if (!out || !shape_content_any(s, 0, &x, &n_x) || n_x != n || s->n->n_attrs)
        return ST_OK;
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i];
    for (uint32_t k = 1; k < 3; k++) {
        if (!shape_has(s, k))
            continue;
        if (!shape_content_any(s, k, &bound, &one) || one != 1)
            return ST_OK;
        for (int64_t i = 0; i < n; i++)
            out[i] = combine(s, k == 1 ? OP_Max : OP_Min, out[i], bound[0]);
    }
    return shape_set_content(s, 0, out, n);
}

// An index along an axis of `size` elements; -1: outside.
static int64_t wrap(int64_t i, int64_t size) {
    i = i < 0 ? i + size : i;
    return i < size ? i : -1;
}

// Indices have the rank of the tensor, and reach no further than it on other axes than the one.
static bool is_within(const struct type *t_ix, const struct type *t, int32_t axis) {
    bool ok = t_ix && t_ix->rank == t->rank;
    for (int32_t d = 0; ok && d < t->rank; d++)
        ok = d == axis || t_ix->dims[d].size <= t->dims[d].size;
    return ok;
}

status content_gather_elements(struct shape *s) {
    const struct term *x;
    int64_t n, n_ix, *ix, at[LIMIT_RANK];
    int32_t axis;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    if (!t || !shape_numbers(s, 1, &ix, &n_ix) || n_ix != n ||
        shape_axis(s, node_int(s->n, "axis", 0), t->rank, &axis) ||
        !is_within(shape_ranked(s, 1), t, axis))
        return ST_OK;
    for (int64_t i = 0; i < n; i++) {
        shape_content_unflatten(type_out(s), i, at);
        at[axis] = wrap(ix[i], t->dims[axis].size);
        if (at[axis] < 0)
            return ST_OK;
        out[i] = x[shape_content_flatten(t, at)];
    }
    return shape_set_content(s, 0, out, n);
}

// Without batch dimensions.
status content_gather_nd(struct shape *s) {
    const struct term *x;
    int64_t n, n_ix, *ix, slice = 1;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL, *t_ix = shape_ranked(s, 1);
    if (!t || !t_ix || t_ix->rank < 1 || node_int(s->n, "batch_dims", 0) ||
        !shape_numbers(s, 1, &ix, &n_ix))
        return ST_OK;
    int64_t depth = t_ix->dims[t_ix->rank - 1].size, n_x;
    if (depth < 1 || depth > t->rank || !type_elements(t, &n_x) || n_x == 0)
        return ST_OK;
    for (int32_t d = (int32_t)depth; d < t->rank; d++)
        slice *= t->dims[d].size;
    if (n_ix / depth * slice != n)
        return ST_OK;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = 0;
        for (int64_t d = 0; d < depth; d++) {
            int64_t k = wrap(ix[i / slice * depth + d], t->dims[d].size);
            if (k < 0)
                return ST_OK;
            at = at * t->dims[d].size + k;
        }
        out[i] = x[at * slice + i % slice];
    }
    return shape_set_content(s, 0, out, n);
}

// Without a reduction.
status content_scatter_elements(struct shape *s) {
    const struct term *x, *updates;
    int64_t n, n_ix, n_updates, *ix, at[LIMIT_RANK];
    int32_t axis;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL, *t_ix = shape_ranked(s, 1);
    if (!t || !t_ix || node_attr(s->n, "reduction") || !shape_numbers(s, 1, &ix, &n_ix) ||
        !shape_content_any(s, 2, &updates, &n_updates) || n_updates != n_ix ||
        shape_axis(s, node_int(s->n, "axis", 0), t->rank, &axis) || !is_within(t_ix, t, axis))
        return ST_OK;
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i];
    for (int64_t i = 0; i < n_ix; i++) {
        shape_content_unflatten(t_ix, i, at);
        at[axis] = wrap(ix[i], t->dims[axis].size);
        if (at[axis] < 0)
            return ST_OK;
        out[shape_content_flatten(t, at)] = updates[i];
    }
    return shape_set_content(s, 0, out, n);
}

status content_trilu(struct shape *s) {
    const struct term *x;
    int64_t n, *k = NULL, one, at[LIMIT_RANK];
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    if (!t || t->rank < 2 || (shape_has(s, 1) && !shape_numbers(s, 1, &k, &one)))
        return ST_OK;
    enum elem e = type_out(s)->elem;
    struct term zero =
        elem_is_float(e) ? shape_content_of_real(0, e) : (struct term){.known = true};
    bool upper = node_int(s->n, "upper", 1) != 0;
    for (int64_t i = 0; i < n; i++) {
        shape_content_unflatten(t, i, at);
        int64_t column = at[t->rank - 1] - at[t->rank - 2], from = k ? k[0] : 0;
        out[i] = (upper ? column >= from : column <= from) ? x[i] : zero;
    }
    return shape_set_content(s, 0, out, n);
}
