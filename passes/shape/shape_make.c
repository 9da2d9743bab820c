// Shapes of operators that make tensors from attributes or shapes, and of random operators.
#include "passes/shape/shape.h"

#include <math.h>
#include <string.h>

#include "ir/base/limits.h"

// Constant: one of seven attributes holds the value.
status shape_constant(struct shape *s) {
    for (uint32_t i = 0; i < s->n->n_attrs; i++) {
        const struct attr *a = &s->n->attrs[i];
        struct dim n = dim_of((int64_t)a->n);
        if (strcmp(a->name, "value") == 0 && a->kind == ATTR_TENSOR)
            return shape_set_like(s, 0, tensor_type(s->a, a->t));
        if (strcmp(a->name, "value_float") == 0)
            return shape_set(s, 0, ELEM_F32, NULL, 0);
        if (strcmp(a->name, "value_floats") == 0)
            return shape_set(s, 0, ELEM_F32, &n, 1);
        if (strcmp(a->name, "value_int") == 0)
            return shape_set(s, 0, ELEM_I64, NULL, 0);
        if (strcmp(a->name, "value_ints") == 0)
            return shape_set(s, 0, ELEM_I64, &n, 1);
        if (strcmp(a->name, "value_string") == 0)
            return shape_set(s, 0, ELEM_STRING, NULL, 0);
        if (strcmp(a->name, "value_strings") == 0)
            return shape_set(s, 0, ELEM_STRING, &n, 1);
        if (strcmp(a->name, "sparse_value") == 0 && a->kind == ATTR_SPARSE)
            return shape_set_like(
                s, 0, type_static(s->a, a->sparse->values->elem, a->sparse->dims, a->sparse->rank));
    }
    return shape_fail(s, "a Constant needs an attribute that holds its value");
}

// A shape given as the content of input k.
static status from_content(struct shape *s, uint32_t k, enum elem e) {
    const struct term *want;
    int64_t n;
    if (!shape_content(s, k, &want, &n))
        return shape_set_unranked(s, 0, e);
    if (n > LIMIT_RANK)
        return shape_fail(s, "a shape of %lld dimensions; the limit is %d", (long long)n,
                          LIMIT_RANK);
    struct dim dims[LIMIT_RANK];
    for (int64_t i = 0; i < n; i++) {
        if (want[i].known && want[i].x < 0)
            return shape_fail(s, "a dimension is %lld; dimensions must not be negative",
                              (long long)want[i].x);
        dims[i] = dim_from_term(want[i]);
    }
    return shape_set(s, 0, e, dims, (int32_t)n);
}

status shape_constant_of_shape(struct shape *s) {
    const struct attr *a = node_attr(s->n, "value");
    return from_content(s, 0, a && a->kind == ATTR_TENSOR ? a->t->elem : ELEM_F32);
}

status shape_shape(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    struct dim n = dim_unknown();
    if (node_int(s->n, "end", 1) == 0) { // of no dimensions, whatever the operand
        n = dim_of(0);
        status st = shape_set(s, 0, ELEM_I64, &n, 1);
        return st ? st : shape_set_content(s, 0, &(struct term){0}, 0);
    }
    if (!x)
        return shape_set(s, 0, ELEM_I64, &n, 1);
    int64_t start = node_int(s->n, "start", 0), end = node_int(s->n, "end", x->rank);
    start = start < 0 ? start + x->rank : start;
    end = end < 0 ? end + x->rank : end;
    start = start < 0 ? 0 : start > x->rank ? x->rank : start;
    end = end < start ? start : end > x->rank ? x->rank : end;
    struct term terms[LIMIT_RANK];
    for (int64_t i = start; i < end; i++)
        terms[i - start] = term_from_dim(x->dims[i]);
    n = dim_of(end - start);
    status st = shape_set(s, 0, ELEM_I64, &n, 1);
    return st ? st : shape_set_content(s, 0, terms, end - start);
}

status shape_size(struct shape *s) {
    int64_t n;
    status st = shape_set(s, 0, ELEM_I64, NULL, 0);
    if (!st && type_elements(shape_in(s, 0), &n))
        st = shape_set_content(s, 0, &(struct term){.x = n, .known = true}, 1);
    return st;
}

status shape_range(struct shape *s) {
    double start, limit, delta;
    struct dim n = dim_unknown();
    if (shape_real(s, 0, &start) && shape_real(s, 1, &limit) && shape_real(s, 2, &delta)) {
        if (delta == 0)
            return shape_fail(s, "the delta of a Range must not be 0");
        double count = ceil((limit - start) / delta);
        if (count > 9e15)
            return shape_fail(s, "%g elements are too many", count);
        n = dim_of(count > 0 ? (int64_t)count : 0);
    }
    return shape_set(s, 0, shape_elem(s, 0), &n, 1);
}

status shape_eye_like(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    int64_t to = node_int(s->n, "dtype", 0);
    enum elem e = to ? (enum elem)to : shape_elem(s, 0);
    if (x && x->rank != 2)
        return shape_fail(s, "the input must be a matrix");
    return x ? shape_set(s, 0, e, x->dims, 2) : shape_set_unranked(s, 0, e);
}

status shape_random(struct shape *s) {
    const struct attr *a = node_attr(s->n, "shape");
    enum elem e = (enum elem)node_int(s->n, "dtype", ELEM_F32);
    struct dim dims[LIMIT_RANK];
    if (!a || a->kind != ATTR_INTS || a->n > LIMIT_RANK)
        return shape_fail(s, "attribute \"shape\" is missing or too long");
    for (size_t i = 0; i < a->n; i++) {
        if (a->ints[i] < 0)
            return shape_fail(s, "a dimension is %lld; dimensions must not be negative",
                              (long long)a->ints[i]);
        dims[i] = dim_of(a->ints[i]);
    }
    return shape_set(s, 0, e, dims, (int32_t)a->n);
}

status shape_multinomial(struct shape *s) {
    const struct type *x = shape_ranked(s, 0);
    struct dim dims[] = {x && x->rank == 2 ? x->dims[0] : dim_unknown(),
                         dim_of(node_int(s->n, "sample_size", 1))};
    return shape_set(s, 0, (enum elem)node_int(s->n, "dtype", ELEM_I32), dims, 2);
}

// HannWindow, HammingWindow, BlackmanWindow.
status shape_window_function(struct shape *s) {
    int64_t *size, n;
    struct dim d = dim_unknown();
    if (shape_numbers(s, 0, &size, &n) && n == 1)
        d = dim_of(size[0]);
    return shape_set(s, 0, (enum elem)node_int(s->n, "output_datatype", ELEM_F32), &d, 1);
}
