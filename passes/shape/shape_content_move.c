// Shape arithmetic that moves elements: Gather, Slice, Transpose, Concat, Split and others on small
// tensors of any rank. (Exporters of Pad reverse a list of pads as a matrix of two columns.) Each
// rule computes for every element of the output which element of which input it is.
#include "passes/shape/shape_content.h"

#include "ir/base/limits.h"

void shape_content_unflatten(const struct type *t, int64_t i, int64_t *at) {
    for (int32_t d = t->rank; d-- > 0;) {
        at[d] = i % t->dims[d].size;
        i /= t->dims[d].size;
    }
}

int64_t shape_content_flatten(const struct type *t, const int64_t *at) {
    int64_t i = 0;
    for (int32_t d = 0; d < t->rank; d++)
        i = i * t->dims[d].size + at[d];
    return i;
}

static const struct type *type_out(const struct shape *s, uint32_t k) {
    return graph_value(s->g, s->n->out[k])->type;
}

const struct type *shape_content_source(const struct shape *s, const struct term **x) {
    int64_t n;
    const struct type *t = shape_ranked(s, 0);
    return t && type_elements(t, &n) && shape_content_any(s, 0, x, &n) ? t : NULL;
}

status content_gather(struct shape *s) {
    const struct term *x;
    int64_t *ix, n_ix, n, to[LIMIT_RANK], from[LIMIT_RANK];
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL, *t_ix = shape_ranked(s, 1);
    int32_t axis;
    if (!t || !t_ix || !shape_numbers(s, 1, &ix, &n_ix))
        return ST_OK;
    status st = shape_axis(s, node_int(s->n, "axis", 0), t->rank, &axis);
    for (int64_t i = 0; i < n && !st; i++) {
        shape_content_unflatten(type_out(s, 0), i, to);
        int64_t size = t->dims[axis].size, at = ix[shape_content_flatten(t_ix, to + axis)];
        int64_t k = at < 0 ? at + size : at;
        if (k < 0 || k >= size)
            return shape_fail(s, "index %lld is outside of %lld elements", (long long)at,
                              (long long)size);
        for (int32_t d = 0; d < t->rank; d++)
            from[d] = d < axis ? to[d] : d == axis ? k : to[d + t_ix->rank - 1];
        out[i] = x[shape_content_flatten(t, from)];
    }
    return st ? st : shape_set_content(s, 0, out, n);
}

// The first position and the step along every axis.
static bool slice_walk(const struct shape *s, const struct type *t, int64_t *first, int64_t *step) {
    int64_t *start, *by = NULL, *axes = NULL, n, n_by, n_axes;
    if (!shape_numbers(s, 1, &start, &n) ||
        (shape_has(s, 3) && (!shape_numbers(s, 3, &axes, &n_axes) || n_axes != n)) ||
        (shape_has(s, 4) && (!shape_numbers(s, 4, &by, &n_by) || n_by != n)) ||
        (!axes && n > t->rank))
        return false;
    for (int32_t d = 0; d < t->rank; d++) {
        first[d] = 0;
        step[d] = 1;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t d = axes ? axes[i] < 0 ? axes[i] + t->rank : axes[i] : i;
        int64_t size = t->dims[d].size, from = start[i] < 0 ? start[i] + size : start[i];
        step[d] = by ? by[i] : 1;
        first[d] = from < 0 ? 0 : step[d] < 0 && from > size - 1 ? size - 1 : from;
    }
    return true;
}

status content_slice(struct shape *s) {
    const struct term *x;
    int64_t n, at[LIMIT_RANK], first[LIMIT_RANK], step[LIMIT_RANK];
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    if (!t || !slice_walk(s, t, first, step))
        return ST_OK;
    for (int64_t i = 0; i < n; i++) {
        shape_content_unflatten(type_out(s, 0), i, at);
        for (int32_t d = 0; d < t->rank; d++)
            at[d] = first[d] + at[d] * step[d];
        out[i] = x[shape_content_flatten(t, at)];
    }
    return shape_set_content(s, 0, out, n);
}

status content_transpose(struct shape *s) {
    const struct term *x;
    int64_t n, to[LIMIT_RANK], from[LIMIT_RANK];
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    const struct attr *perm = node_attr(s->n, "perm");
    if (!t)
        return ST_OK;
    for (int64_t i = 0; i < n; i++) {
        shape_content_unflatten(type_out(s, 0), i, to);
        for (int32_t d = 0; d < t->rank; d++)
            from[perm ? perm->ints[d] : t->rank - 1 - d] = to[d];
        out[i] = x[shape_content_flatten(t, from)];
    }
    return shape_set_content(s, 0, out, n);
}

// The elements of an unknown input are unknown.
status content_concat(struct shape *s) {
    int64_t n, total, at[LIMIT_RANK], before = 0;
    int32_t axis;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *whole = out ? type_out(s, 0) : NULL;
    status st = out ? shape_axis(s, node_int(s->n, "axis", 1), whole->rank, &axis) : ST_OK;
    for (uint32_t k = 0; out && !st && k < s->n->n_in; k++) {
        const struct term *x = NULL;
        const struct type *t = shape_ranked(s, k);
        if (!t || !type_elements(t, &total))
            return ST_OK;
        bool known = shape_content_any(s, k, &x, &total);
        for (int64_t i = 0; i < total && known; i++) {
            shape_content_unflatten(t, i, at);
            at[axis] += before;
            out[shape_content_flatten(whole, at)] = x[i];
        }
        before += t->dims[axis].size;
    }
    return out && !st ? shape_set_content(s, 0, out, n) : st;
}

status content_split(struct shape *s) {
    const struct term *x;
    int64_t n, at[LIMIT_RANK], before = 0;
    int32_t axis;
    const struct type *t = shape_content_source(s, &x);
    status st = t ? shape_axis(s, node_int(s->n, "axis", 0), t->rank, &axis) : ST_OK;
    for (uint32_t k = 0; t && !st && k < s->n->n_out; k++) {
        struct term *out = shape_content_capacity(s, k, &n);
        if (!out)
            return ST_OK;
        for (int64_t i = 0; i < n; i++) {
            shape_content_unflatten(type_out(s, k), i, at);
            at[axis] += before;
            out[i] = x[shape_content_flatten(t, at)];
        }
        st = shape_set_content(s, k, out, n);
        before += type_out(s, k)->dims[axis].size;
    }
    return st;
}

status content_tile(struct shape *s) {
    const struct term *x;
    int64_t n, at[LIMIT_RANK];
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL;
    for (int64_t i = 0; t && i < n; i++) {
        shape_content_unflatten(type_out(s, 0), i, at);
        for (int32_t d = 0; d < t->rank; d++)
            at[d] %= t->dims[d].size;
        out[i] = x[shape_content_flatten(t, at)];
    }
    return t ? shape_set_content(s, 0, out, n) : ST_OK;
}

// Depth and the two values are known, and so is each index.
status content_one_hot(struct shape *s) {
    const struct term *values;
    int64_t *ix, n_ix, n, n_values, at[LIMIT_RANK];
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t_ix = shape_ranked(s, 0);
    int32_t axis;
    if (!out || !t_ix || !shape_numbers(s, 0, &ix, &n_ix) ||
        !shape_content_any(s, 2, &values, &n_values) || n_values != 2)
        return ST_OK;
    const struct type *whole = type_out(s, 0);
    status st = shape_axis(s, node_int(s->n, "axis", -1), whole->rank, &axis);
    for (int64_t i = 0; i < n && !st; i++) {
        shape_content_unflatten(whole, i, at);
        int64_t depth = whole->dims[axis].size, here = at[axis];
        for (int32_t d = axis; d + 1 < whole->rank; d++)
            at[d] = at[d + 1];
        int64_t k = ix[shape_content_flatten(t_ix, at)];
        out[i] = values[(k < 0 ? k + depth : k) == here];
    }
    return st ? st : shape_set_content(s, 0, out, n);
}

// Without a reduction.
status content_scatter_nd(struct shape *s) {
    const struct term *x, *updates;
    int64_t *ix, n_ix, n_updates, n, total;
    struct term *out = shape_content_capacity(s, 0, &n);
    const struct type *t = out ? shape_content_source(s, &x) : NULL, *t_ix = shape_ranked(s, 1);
    if (!t || !t_ix || t_ix->rank < 1 || node_attr(s->n, "reduction") ||
        !shape_numbers(s, 1, &ix, &n_ix) || !shape_content_any(s, 2, &updates, &n_updates))
        return ST_OK;
    int64_t depth = t_ix->dims[t_ix->rank - 1].size, slice = 1;
    if (depth > t->rank || n == 0)
        return ST_OK;
    for (int32_t d = (int32_t)depth; d < t->rank; d++)
        slice *= t->dims[d].size;
    total = depth > 0 ? n_ix / depth : 0;
    if (total * slice != n_updates)
        return ST_OK;
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i];
    for (int64_t i = 0; i < total; i++) {
        int64_t at = 0;
        for (int32_t d = 0; d < depth; d++) {
            int64_t k = ix[i * depth + d], size = t->dims[d].size;
            k = k < 0 ? k + size : k;
            if (k < 0 || k >= size)
                return ST_OK;
            at = at * size + k;
        }
        for (int64_t j = 0; j < slice; j++)
            out[at * slice + j] = updates[i * slice + j];
    }
    return shape_set_content(s, 0, out, n);
}
