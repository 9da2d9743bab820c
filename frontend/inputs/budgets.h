// Budget ranges such as "30%..100%/12": N equidistant budgets from A to B, each end in bytes or as
// a share of a total that need not be known when the text is parsed.
#pragma once

#include "ir/base/options.h"

#define BUDGETS_MAX 1000

struct budgets_end {
    int64_t bytes; // when not a share
    double share;
    bool is_share;
};

struct budgets {
    struct budgets_end from, to;
    int32_t n;
};

// `option` is its name, for messages. With `rising`, A must be below B where both have the same
// unit.
status budgets_parse(const char *option, const char *text, bool rising, struct diags *d,
                     struct budgets *out);

// The budgets in bytes, from the largest to the smallest. NULL: out of memory.
int64_t *budgets_list(const struct budgets *b, int64_t whole_bytes, struct arena *a);
