// The name patterns of an option, with a mark for each that has matched: a pattern that matches
// nothing is probably misspelled, and an error.
#pragma once

#include "passes/pass.h"

struct patterns {
    const char *option;
    const struct option_value *list;
    bool *hit;
};

status patterns_open(struct pass_context *c, const char *option, struct patterns *out);
bool patterns_match(struct patterns *t, const char *name); // name may be NULL
// Reports an error for each pattern that has matched nothing; `what` is what patterns match.
status patterns_close(struct pass_context *c, const struct patterns *t, const char *what);
