// Numbers as text and back, the same in every locale: the library may run in a process whose locale
// has a decimal comma.
#pragma once

#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>

// The locale of the C standard; the system has one, which is never freed.
static inline locale_t plain_locale(void) {
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static inline double plain_strtod(const char *text, char **end) {
    return strtod_l(text, end, plain_locale());
}

static inline float plain_strtof(const char *text, char **end) {
    return strtof_l(text, end, plain_locale());
}

// Between the two, printf writes numbers plainly, in this thread.
static inline locale_t plain_begin(void) {
    bool is_plain = *nl_langinfo(RADIXCHAR) == '.';
    return is_plain ? (locale_t)0 : uselocale(plain_locale());
}

static inline void plain_end(locale_t before) {
    if (before)
        uselocale(before);
}
