// Lists of name patterns, as options give them, with a mark for each that has matched: one that
// matches nothing is a misspelling.
#pragma once

#include "passes/pass.h"

struct patterns {
    const char *option;
    const struct option_value *list;
    bool *hit;
};

status patterns_open(struct pass_context *c, const char *option, struct patterns *out);
bool patterns_match(struct patterns *t, const char *name); // name may be NULL
// An error for each pattern that has matched no `what`.
status patterns_close(struct pass_context *c, const struct patterns *t, const char *what);
