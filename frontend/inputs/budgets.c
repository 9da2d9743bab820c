// Budget ranges: see budgets.h.
#include "frontend/inputs/budgets.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/plain.h"
#include "ir/base/quantity.h"

static bool parse_end(const char *text, size_t n, struct budgets_end *out) {
    char word[64], *end;
    *out = (struct budgets_end){0};
    if (n == 0 || n >= sizeof word)
        return false;
    memcpy(word, text, n);
    word[n] = '\0';
    if (word[n - 1] != '%')
        return quantity_parse_bytes(word, &out->bytes) && out->bytes > 0;
    word[n - 1] = '\0';
    out->share = plain_strtod(word, &end) / 100;
    out->is_share = true;
    return end != word && !*end && out->share > 0 && out->share <= 1e4;
}

status budgets_parse(const char *option, const char *text, bool rising, struct diags *d,
                     struct budgets *out) {
    const char *dots = strstr(text, ".."), *slash = dots ? strchr(dots, '/') : NULL;
    char *end = NULL;
    long count = slash ? strtol(slash + 1, &end, 10) : 0;
    if (!slash || *end || count < 2 || count > BUDGETS_MAX ||
        !parse_end(text, (size_t)(dots - text), &out->from) ||
        !parse_end(dots + 2, (size_t)(slash - dots - 2), &out->to))
        return diag_error(d, DIAG_USAGE, loc_none(),
                          "--%s needs two budgets and a count from 2 to %d, such as "
                          "40%%..100%%/7, not \"%s\"",
                          option, BUDGETS_MAX, text);
    out->n = (int32_t)count;
    const struct budgets_end *a = &out->from, *b = &out->to;
    if (rising && a->is_share == b->is_share &&
        (a->is_share ? a->share >= b->share : a->bytes >= b->bytes))
        return diag_error(d, DIAG_USAGE, loc_none(), "--%s %s: the smaller budget must come first",
                          option, text);
    return ST_OK;
}

static int64_t end_bytes(const struct budgets_end *e, int64_t whole_bytes) {
    double n_bytes = (double)whole_bytes * e->share;
    if (!e->is_share)
        return e->bytes;
    return n_bytes < 1 ? 1 : n_bytes > 9e18 ? INT64_MAX : (int64_t)n_bytes;
}

int64_t *budgets_list(const struct budgets *b, int64_t whole_bytes, struct arena *a) {
    int64_t *list = ARENA_ARRAY(a, int64_t, b->n);
    int64_t from = end_bytes(&b->from, whole_bytes), to = end_bytes(&b->to, whole_bytes);
    int64_t min = from < to ? from : to, max = from < to ? to : from;
    for (int32_t k = 0; list && k < b->n; k++) {
        int64_t part = 0;
        checked_muldiv(max - min, k, b->n - 1, &part); // fits: part <= max - min
        list[k] = max - part;
    }
    return list;
}
