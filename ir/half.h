// 16-bit floats: IEEE half and bfloat16, to and from double. Rounding is to nearest, ties to even.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline double half_to_double(uint16_t h) {
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    double x = exponent == 31  ? (mantissa ? NAN : INFINITY)
               : exponent == 0 ? ldexp(mantissa, -24)
                               : ldexp(1024 + mantissa, exponent - 25);
    return h >> 15 ? -x : x;
}

static inline uint16_t half_from_double(double x) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (isnan(x))
        return sign | 0x7e00;
    if (x >= 65520)
        return sign | 0x7c00;
    // Below 2^-14 the spacing is 2^-24, above it 2^-10 of the leading power of two. rint rounds
    // ties to even; a mantissa that rounds up to 2048 carries into the exponent by itself.
    if (x < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)rint(ldexp(x, 24)));
    int e;
    frexp(x, &e);
    return (uint16_t)(sign | (uint16_t)(((e + 13) << 10) + (int)rint(ldexp(x, 11 - e))));
}

static inline double bfloat_to_double(uint16_t b) {
    uint32_t u = (uint32_t)b << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return (double)f;
}

static inline uint16_t bfloat_from_double(double x) {
    float f = (float)x;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if (isnan(x))
        return (uint16_t)(u >> 16 | 0x40);
    return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
