// Quantities as users write them: sizes, durations and shares. Units are accepted in any case. A
// false result means that the text is not such a quantity, or does not fit; the output is then
// unspecified.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// "4096", "512M", "4GiB", "1.5GB": K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; kB, MB,
// GB, TB are powers of 1000. Exact; a fraction of a byte is dropped.
bool quantity_parse_bytes(const char *text, int64_t *n_bytes);

// "90", "20s", "500ms", "2m" or "2min", "1.5h", not negative; without a unit, seconds. At most
// QUANTITY_MAX_SECONDS, so that nanoseconds fit in int64.
#define QUANTITY_MAX_SECONDS 1e9
bool quantity_parse_seconds(const char *text, double *seconds);

// "10%" or "0.1", not negative.
bool quantity_parse_share(const char *text, double *share);
// "62.5%" as 625000 millionths, exactly to four decimals.
bool quantity_parse_percent(const char *text, int64_t *millionths);
