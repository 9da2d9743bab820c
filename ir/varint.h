// Variable-length integers of the protobuf wire format: seven bits per byte, low bits first, the
// top bit set in all bytes but the last.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define VARINT_BYTES 10 // maximum length

// Writes a varint of at most VARINT_BYTES; returns its length.
static inline size_t varint_put(uint8_t *to, uint64_t x) {
    size_t n = 0;
    for (; x >= 0x80; x >>= 7)
        to[n++] = (uint8_t)(x | 0x80);
    to[n++] = (uint8_t)x;
    return n;
}
