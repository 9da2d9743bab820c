// Floating-point numbers as text, exactly: the shortest decimal form that reads back as the same
// bits, always recognisable as a float (1.0, 1e-05, inf, nan), and the bits themselves for a NaN
// other than the usual one: nan(0x7fc00001).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/str.h"

enum number { NUMBER_F16, NUMBER_BF16, NUMBER_F32, NUMBER_F64 };

int number_bytes(enum number k);
void number_print(struct str *out, enum number k, uint64_t bits);
// The n bytes at `at`, which must be followed by something that is no part of a number. Not
// nan(0x…), whose brackets are the lexer's business.
bool number_parse(const char *at, size_t n, enum number k, uint64_t *bits);

bool number_parse_int(const char *at, size_t n, int64_t *x);
bool number_parse_unsigned(const char *at, size_t n, uint64_t *x); // also 0x…
