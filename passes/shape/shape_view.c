// Shapes of operators that rearrange elements: views, Transpose, Concat, Split, Slice, Pad, Expand,
// Tile.
#include "passes/shape/shape.h"

#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/limits.h"

// The dimension that a Reshape leaves open (-1), when the number of elements is known.
static status count_open(struct shape *s, int64_t total, struct dim rest, struct dim *open) {
    if (!dim_known(rest) || rest.size == 0)
        return ST_OK;
    if (total % rest.size)
        return shape_fail(s, "%lld elements do not divide by %lld", (long long)total,
                          (long long)rest.size);
    *open = dim_of(total / rest.size);
    return ST_OK;
}

// The same when it is not known: equal symbols of both sides cancel, and so do numbers.
static struct dim cancel_open(const struct type *x, const struct dim *dims, int64_t n,
                              int64_t open) {
    bool used[LIMIT_RANK] = {false};
    struct dim left = dim_of(1), fixed = dim_of(1);
    for (int64_t i = 0; i < n; i++) {
        if (i == open)
            continue;
        if (dim_known(dims[i])) {
            fixed = dim_mul(fixed, dims[i]);
            continue;
        }
        int32_t k = 0;
        while (k < x->rank && (used[k] || !dim_same(dims[i], x->dims[k])))
            k++;
        if (k == x->rank)
            return dim_unknown();
        used[k] = true;
    }
    for (int32_t k = 0; k < x->rank; k++)
        if (!used[k])
            left = dim_mul(left, x->dims[k]);
    if (dim_known(left) && dim_known(fixed) && fixed.size > 0 && left.size % fixed.size == 0)
        return dim_of(left.size / fixed.size);
    return fixed.size == 1 ? left : dim_unknown();
}

// The length of an unknown shape still gives the rank.
static status reshape_blindly(struct shape *s, enum elem e) {
    const struct type *t = shape_ranked(s, 1);
    struct dim dims[LIMIT_RANK];
    if (!t || t->rank != 1 || !dim_known(t->dims[0]) || t->dims[0].size > LIMIT_RANK)
        return shape_set_unranked(s, 0, e);
    for (int64_t i = 0; i < t->dims[0].size; i++)
        dims[i] = dim_unknown();
    return shape_set(s, 0, e, dims, (int32_t)t->dims[0].size);
}

// The dimensions as given: -1 is open, and 0 copies that of the input unless allowzero is set.
static status read_shape(struct shape *s, const struct type *x, const struct term *want, int64_t n,
                         struct dim *dims, int64_t *open) {
    bool zero_copies = !node_int(s->n, "allowzero", 0);
    *open = -1;
    for (int64_t i = 0; i < n; i++) {
        dims[i] = dim_from_term(want[i]);
        if (!want[i].known)
            continue;
        if (want[i].x < -1 || (want[i].x == -1 && *open >= 0))
            return shape_fail(
                s, want[i].x == -1 ? "the shape has more than one %lld" : "the shape has a %lld",
                (long long)want[i].x);
        if (want[i].x == -1)
            *open = i;
        if (want[i].x == 0 && zero_copies) {
            if (x && x->has_shape && i >= x->rank)
                return shape_fail(s, "the shape copies dimension %lld of a tensor of rank %d",
                                  (long long)i, x->rank);
            dims[i] = x && x->has_shape ? x->dims[i] : dim_unknown();
        }
    }
    return ST_OK;
}

status shape_reshape(struct shape *s) {
    const struct type *x = shape_in(s, 0);
    const struct term *want;
    int64_t n, total, open;
    if (!shape_content(s, 1, &want, &n))
        return reshape_blindly(s, shape_elem(s, 0));
    if (n > LIMIT_RANK)
        return shape_fail(s, "a shape of %lld dimensions; the limit is %d", (long long)n,
                          LIMIT_RANK);
    struct dim dims[LIMIT_RANK], rest = dim_of(1);
    status st = read_shape(s, x, want, n, dims, &open);
    for (int64_t i = 0; i < n && !st; i++)
        rest = i == open ? rest : dim_mul(rest, dims[i]);
    bool counted = type_elements(x, &total);
    if (!st && open >= 0 && counted)
        st = count_open(s, total, rest, &dims[open]);
    else if (!st && open >= 0 && x && x->has_shape)
        dims[open] = cancel_open(x, dims, n, open);
    else if (!st && counted && dim_known(rest) && total != rest.size)
        st = shape_fail(s, "%lld elements cannot become %lld", (long long)total,
                        (long long)rest.size);
    return st ? st : shape_set(s, 0, shape_elem(s, 0), dims, (int32_t)n);
}

status shape_flatten(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    if (!x)
        return shape_set(s, 0, shape_elem(s, 0), (struct dim[]){dim_unknown(), dim_unknown()}, 2);
    int64_t axis = node_int(s->n, "axis", 1);
    if (axis < -x->rank || axis > x->rank)
        return shape_fail(s, "axis %lld is outside of a tensor of rank %d", (long long)axis,
                          x->rank);
    axis = axis < 0 ? axis + x->rank : axis;
    struct dim dims[] = {dim_of(1), dim_of(1)};
    for (int32_t i = 0; i < x->rank; i++)
        dims[i >= axis] = dim_mul(dims[i >= axis], x->dims[i]);
    return shape_set(s, 0, x->elem, dims, 2);
}

status shape_squeeze(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    int64_t *axes, n;
    bool known, gone[LIMIT_RANK] = {false};
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axes(s, 1, x->rank, &axes, &n, &known);
    if (st)
        return st;
    for (int32_t i = 0; n == 0 && i < x->rank; i++) {
        if (!dim_known(x->dims[i]))
            known = false; // whether it is squeezed depends on its size
        gone[i] = x->dims[i].size == 1;
    }
    if (!known)
        return shape_set_unranked(s, 0, x->elem);
    for (int64_t i = 0; i < n; i++) {
        if (dim_known(x->dims[axes[i]]) && x->dims[axes[i]].size != 1)
            return shape_fail(s, "cannot squeeze axis %lld: it has %lld elements",
                              (long long)axes[i], (long long)x->dims[axes[i]].size);
        gone[axes[i]] = true;
    }
    struct dim dims[LIMIT_RANK];
    int32_t rank = 0;
    for (int32_t i = 0; i < x->rank; i++)
        if (!gone[i])
            dims[rank++] = x->dims[i];
    return shape_set(s, 0, x->elem, dims, rank);
}

status shape_unsqueeze(struct shape *s) {
    const struct type *x = shape_ranked(s, 0), *t = shape_ranked(s, 1);
    const struct attr *a = node_attr(s->n, "axes");
    int64_t *axes, n;
    bool known, new[LIMIT_RANK] = {false};
    if (!x || (t && t->rank == 1 && !dim_known(t->dims[0])))
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    int64_t count = a && a->kind == ATTR_INTS ? (int64_t)a->n
                    : t && t->rank == 1       ? t->dims[0].size
                                              : 1;
    if (count > LIMIT_RANK - x->rank)
        return shape_fail(s, "the output would have %lld dimensions", (long long)(count + x->rank));
    int32_t rank = x->rank + (int32_t)count;
    status st = shape_axes(s, 1, rank, &axes, &n, &known);
    if (st)
        return st;
    if (known && n != count) // an attribute beside an input
        return shape_fail(s, "the axes are given twice");
    struct dim dims[LIMIT_RANK];
    for (int64_t i = 0; i < n; i++)
        new[axes[i]] = true;
    for (int32_t i = 0, k = 0; i < rank; i++)
        dims[i] = !known ? dim_unknown() : new[i] ? dim_of(1) : x->dims[k++];
    return shape_set(s, 0, x->elem, dims, rank);
}

status shape_transpose(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    const struct attr *a = node_attr(s->n, "perm");
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[LIMIT_RANK];
    bool used[LIMIT_RANK] = {false};
    if (a && a->n != (size_t)x->rank)
        return shape_fail(s, "perm has %zu numbers for rank %d", a->n, x->rank);
    for (int32_t i = 0; i < x->rank; i++) {
        int64_t from = a ? a->ints[i] : x->rank - 1 - i;
        if (from < 0 || from >= x->rank || used[from])
            return shape_fail(s, "perm is not a permutation of 0 to %d", x->rank - 1);
        used[from] = true;
        dims[i] = x->dims[from];
    }
    return shape_set(s, 0, x->elem, dims, x->rank);
}

status shape_concat(struct shape *s) {
    struct dim dims[LIMIT_RANK], sum = dim_of(0);
    const struct type *first = shape_ranked(s, 0);
    int32_t axis = 0;
    if (!first)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axis(s, node_int(s->n, "axis", 1), first->rank, &axis);
    if (st)
        return st;
    shape_copy_dims(dims, first);
    for (uint32_t k = 0; k < s->n->n_in; k++) {
        const struct type *t = shape_ranked(s, k);
        if (!t)
            return shape_set_unranked(s, 0, first->elem);
        if (t->rank != first->rank || t->elem != first->elem)
            return shape_fail(s, "input %u differs from input 0 in rank or element type", k);
        sum = dim_add(sum, t->dims[axis]);
        for (int32_t i = 0; i < t->rank; i++) {
            if (i != axis && dim_known(dims[i]) && dim_known(t->dims[i]) &&
                dims[i].size != t->dims[i].size)
                return shape_fail(s, "dimension %d is %lld in input %u, but %lld before", i,
                                  (long long)t->dims[i].size, k, (long long)dims[i].size);
            if (!dim_known(dims[i]))
                dims[i] = t->dims[i];
        }
    }
    dims[axis] = sum;
    return shape_set(s, 0, first->elem, dims, first->rank);
}

status shape_split(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    if (!x)
        return ST_OK;
    int32_t axis;
    int64_t *sizes = NULL, n = 0, n_out = s->n->n_out;
    status st = shape_axis(s, node_int(s->n, "axis", 0), x->rank, &axis);
    if (st)
        return st;
    struct dim dims[LIMIT_RANK], whole = x->dims[axis];
    shape_copy_dims(dims, x);
    if (shape_has(s, 1) && shape_numbers(s, 1, &sizes, &n)) {
        struct dim sum = dim_of(0);
        for (int64_t k = 0; k < n; k++)
            sum = dim_add(sum, dim_of(sizes[k]));
        if (n != n_out || (dim_known(whole) && dim_known(sum) && sum.size != whole.size))
            return shape_fail(s, "%lld parts for %lld outputs do not make up dimension %d of %lld",
                              (long long)n, (long long)n_out, axis, (long long)whole.size);
    }
    int64_t part = dim_known(whole) ? (whole.size + n_out - 1) / n_out : DIM_UNKNOWN;
    for (uint32_t k = 0; k < s->n->n_out && !st; k++) {
        bool last = k + 1 == s->n->n_out;
        dims[axis] = sizes               ? dim_of(sizes[k])
                     : shape_has(s, 1)   ? dim_unknown()
                     : !dim_known(whole) ? dim_unknown()
                                         : dim_of(last ? whole.size - part * (n_out - 1) : part);
        if (!sizes && !shape_has(s, 1) && dims[axis].size < 0 && dim_known(whole))
            return shape_fail(s, "%lld elements do not split into %lld parts",
                              (long long)whole.size, (long long)n_out);
        st = shape_set(s, k, x->elem, dims, x->rank);
    }
    return st;
}

// Start, end and step of one axis, clamped as ONNX defines; returns the number of elements.
static int64_t slice_count(int64_t size, int64_t start, int64_t end, int64_t step) {
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    start = start < 0 ? start + size : start;
    end = end < 0 ? (end < -size ? (step < 0 ? -1 : 0) : end + size) : end;
    start = start < 0 ? 0 : start > high ? high : start;
    end = end < low ? low : end > size ? size : end;
    int64_t span = step > 0 ? end - start : start - end, width = step > 0 ? step : -step;
    return span <= 0 ? 0 : (span - 1) / width + 1;
}

status shape_slice(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    int64_t *start, n_start, *end, n_end, *axes, n_axes, *step = NULL, n_step = 0;
    bool known;
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axes(s, 3, x->rank, &axes, &n_axes, &known);
    if (st)
        return st;
    struct dim dims[LIMIT_RANK];
    shape_copy_dims(dims, x);
    bool bounds = shape_numbers(s, 1, &start, &n_start) && shape_numbers(s, 2, &end, &n_end) &&
                  known && (!shape_has(s, 4) || shape_numbers(s, 4, &step, &n_step));
    if (bounds && (n_start != n_end || (step && n_step != n_start) ||
                   (n_axes && n_axes != n_start) || (!n_axes && n_start > x->rank)))
        return shape_fail(s, "starts, ends, axes and steps differ in length");
    for (int32_t i = 0; !bounds && i < x->rank; i++)
        if (!known || n_axes == 0)
            dims[i] = dim_unknown();
    for (int64_t i = 0; !bounds && i < n_axes; i++)
        dims[axes[i]] = dim_unknown();
    for (int64_t i = 0; bounds && i < n_start; i++) {
        int64_t axis = n_axes ? axes[i] : i, by = step ? step[i] : 1;
        if (by == 0 || by == INT64_MIN)
            return shape_fail(s, "a step is %lld, which is out of range", (long long)by);
        bool all = by == 1 && start[i] == 0 && end[i] >= INT32_MAX;
        if (dim_known(dims[axis]))
            dims[axis] = dim_of(slice_count(dims[axis].size, start[i], end[i], by));
        else if (!all)
            dims[axis] = dim_unknown();
    }
    return shape_set(s, 0, x->elem, dims, x->rank);
}

status shape_pad(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    int64_t *pads, n, *axes, n_axes;
    bool known;
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    status st = shape_axes(s, 3, x->rank, &axes, &n_axes, &known);
    if (st)
        return st;
    struct dim dims[LIMIT_RANK];
    bool all = shape_numbers(s, 1, &pads, &n) && known;
    int64_t count = n_axes ? n_axes : x->rank;
    if (all && n != 2 * count)
        return shape_fail(s, "pads has %lld numbers for %lld axes", (long long)n, (long long)count);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = all ? x->dims[i] : dim_unknown();
    for (int64_t i = 0; all && i < count; i++) {
        int64_t axis = n_axes ? axes[i] : i;
        int64_t more, padded = 0;
        if (!checked_add(pads[i], pads[count + i], &more) ||
            (dim_known(dims[axis]) && !checked_add(dims[axis].size, more, &padded)))
            return shape_fail(s, "the pads of dimension %lld are out of range", (long long)axis);
        if (padded < 0)
            return shape_fail(s, "negative pads remove more than dimension %lld has",
                              (long long)axis);
        if (dim_known(dims[axis]))
            dims[axis] = dim_of(padded);
        else if (more != 0)
            dims[axis] = dim_unknown();
    }
    return shape_set(s, 0, x->elem, dims, x->rank);
}

status shape_expand(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    const struct term *want;
    int64_t n;
    if (!x || !shape_content(s, 1, &want, &n) || n > LIMIT_RANK)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[LIMIT_RANK];
    int32_t rank = n > x->rank ? (int32_t)n : x->rank;
    for (int32_t i = 0; i < rank; i++) {
        int64_t kx = i - (rank - x->rank), kw = i - (rank - n);
        struct dim a = kx >= 0 ? x->dims[kx] : dim_of(1),
                   b = kw >= 0 ? dim_from_term(want[kw]) : dim_of(1);
        if (!dim_broadcast(a, b, &dims[i]))
            return shape_fail(s, "dimension %d of %lld does not expand to %lld", i,
                              (long long)a.size, (long long)b.size);
    }
    return shape_set(s, 0, x->elem, dims, rank);
}

status shape_tile(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    const struct term *times;
    int64_t n;
    if (!x)
        return shape_set_unranked(s, 0, shape_elem(s, 0));
    struct dim dims[LIMIT_RANK];
    bool known = shape_content(s, 1, &times, &n);
    if (known && n != x->rank)
        return shape_fail(s, "repeats has %lld numbers for rank %d", (long long)n, x->rank);
    for (int32_t i = 0; i < x->rank; i++)
        dims[i] = known ? dim_mul(x->dims[i], dim_from_term(times[i])) : dim_unknown();
    return shape_set(s, 0, x->elem, dims, x->rank);
}
