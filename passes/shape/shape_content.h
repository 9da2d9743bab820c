// Shape arithmetic, shared by its two files: shape_content.c computes elements,
// shape_content_move.c moves them.
#pragma once

#include "passes/shape/shape.h"

// An array for the elements of output k; NULL: it is not a small integer tensor of known shape.
struct term *shape_content_capacity(struct shape *s, uint32_t k, int64_t *n);

shape_rule content_concat, content_gather, content_slice, content_split, content_transpose;
