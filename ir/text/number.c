// Conversion of numbers to and from text: see number.h. Printing tries increasing precision until
// the text converts back to the same bits: from FLT_DIG of the format to its FLT_DECIMAL_DIG, which
// always suffices. Relies on correct rounding in strtod, strtof and snprintf.
#include "ir/text/number.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/plain.h"
#include "ir/half.h"

static const struct {
    int bytes, min_digits, max_digits; // digits to try
    uint64_t nan;                      // the canonical quiet NaN
    uint64_t sign, exponent;           // masks
} kinds[] = {
    [NUMBER_F16] = {2, 3, 5, 0x7e00, 0x8000, 0x7c00},
    [NUMBER_BF16] = {2, 2, 4, 0x7fc0, 0x8000, 0x7f80},
    [NUMBER_F32] = {4, 6, 9, 0x7fc00000, 0x80000000, 0x7f800000},
    [NUMBER_F64] = {8, 15, 17, 0x7ff8000000000000, 0x8000000000000000, 0x7ff0000000000000},
};

int number_bytes(enum number k) {
    assert(k <= NUMBER_F64);
    return kinds[k].bytes;
}

static double to_double(enum number k, uint64_t bits) {
    double x;
    float f;
    uint32_t low = (uint32_t)bits;
    switch (k) {
    case NUMBER_F16:
        return half_to_double((uint16_t)bits);
    case NUMBER_BF16:
        return bfloat_to_double((uint16_t)bits);
    case NUMBER_F32:
        memcpy(&f, &low, sizeof f);
        return (double)f;
    case NUMBER_F64:
        break;
    }
    memcpy(&x, &bits, sizeof x);
    return x;
}

// f32 does not go through double: double rounding can change the result.
static uint64_t from_text(enum number k, const char *at, char **end) {
    if (k == NUMBER_F32) {
        float f = plain_strtof(at, end);
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        return bits;
    }
    double x = plain_strtod(at, end);
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return k == NUMBER_F64 ? bits : k == NUMBER_F16 ? half_from_double(x) : bfloat_from_double(x);
}

void number_print(struct str *out, enum number k, uint64_t bits) {
    assert(out && k <= NUMBER_F64);
    if (bits == kinds[k].nan) {
        str_add(out, "nan");
        return;
    }
    uint64_t magnitude = bits & ~kinds[k].sign;
    if (magnitude > kinds[k].exponent) {
        str_addf(out, "nan(0x%llx)", (unsigned long long)bits);
        return;
    }
    if (magnitude == kinds[k].exponent) {
        str_add(out, bits == magnitude ? "inf" : "-inf");
        return;
    }
    char text[40];
    double x = to_double(k, bits);
    for (int digits = kinds[k].min_digits; digits <= kinds[k].max_digits; digits++) {
        locale_t before = plain_begin();
        snprintf(text, sizeof text, "%.*g", digits, x);
        plain_end(before);
        if (from_text(k, text, NULL) == bits)
            break;
    }
    str_add(out, text);
    if (!strpbrk(text, ".e"))
        str_add(out, ".0");
}

bool number_parse(const char *at, size_t n, enum number k, uint64_t *bits) {
    assert((at || !n) && k <= NUMBER_F64 && bits);
    if (n == 3 && memcmp(at, "nan", 3) == 0) {
        *bits = kinds[k].nan;
        return true;
    }
    // strtod accepts more words (infinity, NAN, …); the text form has only these two.
    bool infinite = (n == 3 && memcmp(at, "inf", 3) == 0) || (n == 4 && memcmp(at, "-inf", 4) == 0);
    if (!infinite && !(n && (at[0] == '-' || at[0] == '.' || (at[0] >= '0' && at[0] <= '9'))))
        return false;
    if (!infinite && (memchr(at, 'n', n) || memchr(at, 'N', n)))
        return false;
    char *end;
    *bits = from_text(k, at, &end);
    return end == at + n;
}

bool number_parse_int(const char *at, size_t n, int64_t *x) {
    assert((at || !n) && x);
    char *end;
    if (!n || !((at[0] >= '0' && at[0] <= '9') || (n > 1 && at[0] == '-')))
        return false;
    errno = 0;
    *x = strtoll(at, &end, 10);
    return end == at + n && errno == 0;
}

bool number_parse_unsigned(const char *at, size_t n, uint64_t *x) {
    assert((at || !n) && x);
    char *end;
    if (!n || at[0] < '0' || at[0] > '9')
        return false;
    errno = 0;
    *x = strtoull(at, &end, n > 2 && at[1] == 'x' ? 16 : 10);
    return end == at + n && errno == 0;
}
