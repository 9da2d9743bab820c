// Shape arithmetic, between its two files: shape_content.c computes, shape_content_move.c moves
// elements.
#pragma once

#include "passes/shape/shape.h"

// Room for the elements of output k; NULL when it is not a small integer tensor of known shape.
struct term *shape_content_capacity(struct shape *s, uint32_t k, int64_t *n);

shape_rule content_concat, content_gather, content_slice, content_split, content_transpose;
