// A 64-bit digest of a stream of bytes (XXH3), the same on every machine. It tells contents apart;
// it is no protection against somebody who wants two contents to look the same.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "ir/base/mem.h"

struct digest;

struct digest *digest_new(struct arena *a); // NULL: out of memory
void digest_add(struct digest *g, const void *bytes, size_t n);
uint64_t digest_value(const struct digest *g); // of all that was added so far

// Of one block; `seed` is the value of what came before, or 0.
uint64_t digest_block(const void *bytes, size_t n, uint64_t seed);
