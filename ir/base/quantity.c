// Sizes, durations and shares: see quantity.h. Sizes and percentages are parsed in integers, so
// that 0.1GB is exactly 100000000 bytes.
#include "ir/base/quantity.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ir/base/checked.h"
#include "ir/base/plain.h"

// "12.5" as 12500000000 billionths. `rest` is what follows the number.
static bool parse_decimal(const char *text, int64_t *billionths, const char **rest) {
    int64_t value = 0, unit = 1000000000;
    const char *p = text;
    bool any = false;
    for (; *p >= '0' && *p <= '9'; p++, any = true)
        if (!checked_mul(value, 10, &value) || !checked_add(value, *p - '0', &value))
            return false;
    if (!any || !checked_mul(value, unit, &value))
        return false;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++) {
            unit /= 10;
            if (!checked_add(value, (*p - '0') * unit, &value))
                return false;
        }
    *billionths = value;
    *rest = p;
    return true;
}

bool quantity_parse_bytes(const char *text, int64_t *n_bytes) {
    static const struct {
        const char *suffix;
        int64_t bytes;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"K", 1 << 10},
        {"M", 1 << 20},
        {"G", 1 << 30},
        {"T", (int64_t)1 << 40},
        {"KiB", 1 << 10},
        {"MiB", 1 << 20},
        {"GiB", 1 << 30},
        {"TiB", (int64_t)1 << 40},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", 1000000000000},
    };
    assert(text && n_bytes);
    // A plain integer may be larger than what fits with nine decimals.
    char *end;
    errno = 0;
    long long plain = strtoll(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == 0 && errno == 0) {
        *n_bytes = plain;
        return true;
    }
    int64_t value;
    const char *rest;
    if (!parse_decimal(text, &value, &rest))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp_l(rest, units[i].suffix, plain_locale()) == 0)
            return checked_muldiv(value, units[i].bytes, 1000000000, n_bytes);
    return false;
}

// A finite decimal number that is not negative: neither hexadecimal nor a word.
static bool parse_real(const char *text, double *x, const char **rest) {
    char *end;
    *x = plain_strtod(text, &end);
    *rest = end;
    bool is_decimal = (text[0] >= '0' && text[0] <= '9') || text[0] == '.';
    return is_decimal && end != text && !memchr(text, 'x', (size_t)(end - text)) &&
           !memchr(text, 'X', (size_t)(end - text)) && isfinite(*x);
}

bool quantity_parse_seconds(const char *text, double *seconds) {
    static const struct {
        const char *suffix;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    assert(text && seconds);
    double x;
    const char *rest;
    if (!parse_real(text, &x, &rest))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcasecmp_l(rest, units[i].suffix, plain_locale()) == 0) {
            *seconds = x * units[i].seconds;
            return *seconds <= QUANTITY_MAX_SECONDS;
        }
    return false;
}

bool quantity_parse_share(const char *text, double *share) {
    assert(text && share);
    double x;
    const char *rest;
    if (!parse_real(text, &x, &rest))
        return false;
    bool is_percent = *rest == '%';
    *share = is_percent ? x / 100 : x;
    return rest[is_percent] == 0;
}

bool quantity_parse_percent(const char *text, int64_t *millionths) {
    assert(text && millionths);
    int64_t value;
    const char *rest;
    if (!parse_decimal(text, &value, &rest) || strcmp(rest, "%") != 0)
        return false;
    *millionths = value / 100000; // billionths of a percent to millionths of the whole
    return true;
}
