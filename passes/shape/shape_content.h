// Shape arithmetic, shared by its two files: shape_content.c computes elements,
// shape_content_move.c moves them.
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

shape_rule content_concat, content_gather, content_one_hot, content_scatter_nd, content_tile,
    content_slice, content_split, content_transpose;
