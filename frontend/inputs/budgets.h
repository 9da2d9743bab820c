// Lists of budgets as people type them: "30%..100%/12", N budgets at even distances from A to B,
// each end in bytes or as a share of a whole that may not be known yet when the text is read.
#pragma once

#include "ir/base/options.h"

#define BUDGETS_MOST 1000

struct budgets_end {
    int64_t bytes; // when not a share
    double share;
    bool is_share;
};

struct budgets {
    struct budgets_end from, to;
    int32_t n;
};

// `option` is for the message. With `rising`, an end that is not above the beginning is an error
// too, as far as it shows in the text.
status budgets_parse(const char *option, const char *text, bool rising, struct diags *d,
                     struct budgets *out);

// The budgets themselves, from the largest to the smallest. NULL: no room.
int64_t *budgets_list(const struct budgets *b, int64_t whole_bytes, struct arena *a);
