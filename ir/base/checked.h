// Exact int64 arithmetic: each function says whether the result fits. Sizes, offsets and costs come
// from files, so no product or sum of them is taken without asking.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_add(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static inline bool checked_sub(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_sub_overflow(a, b, out);
}

static inline bool checked_mul(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

// Byte count of an array; SIZE_MAX + 1 never wraps to something small.
static inline bool checked_size(size_t n, size_t size, size_t *out) {
    return !__builtin_mul_overflow(n, size, out);
}

// a * b / c without overflow in between, rounded towards zero; c > 0. False when the result is too
// large.
static inline bool checked_muldiv(int64_t a, int64_t b, int64_t c, int64_t *out) {
    __int128 r = (__int128)a * b / c;
    *out = (int64_t)r;
    return r >= INT64_MIN && r <= INT64_MAX;
}

// The larger and the smaller of two numbers, and their order for qsort.
static inline int64_t int64_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t int64_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int int64_compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}
