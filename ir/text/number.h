// Lossless text form of floating-point numbers: the shortest decimal form that converts back to the
// same bits. It always differs from an integer (1.0, 1e-05, inf, nan). A NaN other than the
// canonical one is printed with its bits: nan(0x7fc00001).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/str.h"

enum number { NUMBER_F16, NUMBER_BF16, NUMBER_F32, NUMBER_F64 };

int number_bytes(enum number k);
void number_print(struct str *out, enum number k, uint64_t bits);
// Converts the n bytes at `at`. The byte after them must be readable and not part of a number. Does
// not accept nan(0x…), which is several tokens: see parse_tensor.c.
bool number_parse(const char *at, size_t n, enum number k, uint64_t *bits);

bool number_parse_int(const char *at, size_t n, int64_t *x);
bool number_parse_unsigned(const char *at, size_t n, uint64_t *x); // also 0x…
