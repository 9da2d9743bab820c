// The option --accumulate: see accumulate.h.
#include "passes/accumulate.h"

#include <stdlib.h>
#include <string.h>

int64_t accumulate_steps(const struct options *o) {
    char *end;
    const char *text = options_text(o, "accumulate");
    if (strcmp(text, "auto") == 0)
        return ACCUMULATE_AUTO;
    long long n = strtoll(text, &end, 10);
    return end != text && !*end && n >= 1 && n <= MAX_ACCUMULATE ? n : -1;
}
