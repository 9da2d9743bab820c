// Einsum's equation against the shapes of the operands: one dimension per letter, and a list for
// what "..." stands for, which is broadcast. Shape rules and cost rules look at it this way.
#pragma once

#include "ir/base/limits.h"
#include "passes/shape/shape.h"

enum { EINSUM_LETTERS = 128 };

struct einsum {
    struct dim letter[EINSUM_LETTERS];
    bool seen[EINSUM_LETTERS];
    struct dim dots[LIMIT_RANK];
    int32_t n_dots;
    const char *at; // how far it is read
};

bool einsum_is_letter(char c);
// *known = false: the rank of an operand is not known.
status einsum_read(const struct shape *s, struct einsum *e, bool *known);
