// Shape arithmetic, shared by its files: shape_content.c computes elements, shape_content_move.c
// moves them, shape_content_select.c searches, selects and adds them up.
#pragma once

#include "passes/shape/shape.h"

// An array for the elements of output k; NULL: it is not a small tensor of numbers of known shape.
struct term *shape_content_capacity(struct shape *s, uint32_t k, int64_t *n);
// Whether shape_content_any can be true of input k, which is there.
bool shape_may_have_content(const struct shape *s, uint32_t k);
// The elements of input k, as shape_content, and of floats, too: shape_content_real reads those.
bool shape_content_any(const struct shape *s, uint32_t k, const struct term **at, int64_t *n);

// Floats in terms, rounded to the element type.
double shape_content_real(struct term t);
struct term shape_content_of_real(double x, enum elem e);
// One operator on floats (shape_content_real.c); unknown: it cannot be computed.
struct term shape_content_binary(enum op op, struct term a, struct term b, enum elem result);
struct term shape_content_unary(enum op op, struct term a, enum elem result);

// The position of element i of a tensor in each dimension, and back.
void shape_content_unflatten(const struct type *t, int64_t i, int64_t *at);
int64_t shape_content_flatten(const struct type *t, const int64_t *at);
// The first input, with all dimensions known, and its elements; NULL: not known.
const struct type *shape_content_source(const struct shape *s, const struct term **x);
// One operator on integers.
struct term shape_content_integer(enum op op, struct term a, struct term b);
// The number of elements of input 0 that are not 0; -1: unknown.
int64_t shape_content_count(const struct shape *s);

shape_rule content_arg, content_clip, content_cum_sum, content_gather_elements, content_gather_nd,
    content_nonzero, content_reduce, content_scatter_elements, content_trilu;
shape_rule content_concat, content_gather, content_one_hot, content_scatter_nd, content_tile,
    content_slice, content_split, content_transpose;
