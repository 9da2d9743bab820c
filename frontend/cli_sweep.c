// The curve of memory against time: see cli_sweep.h. The table goes to stdout; with --output, a
// file {"format":"mfc-sweep","version":1,"schedules":[…]} holds one mfc-schedule for each budget.
#include "frontend/cli_sweep.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/cli_watch.h"
#include "ir/base/checked.h"
#include "solver/curve.h"
#include "solver/report.h"

#define MOST_POINTS 1000

static bool parse_budget(const char *text, size_t n, int64_t whole, int64_t *out) {
    char word[64];
    if (n == 0 || n >= sizeof word)
        return false;
    memcpy(word, text, n);
    word[n] = '\0';
    if (word[n - 1] != '%')
        return options_parse_bytes(word, out);
    word[n - 1] = '\0';
    char *end;
    double share = strtod(word, &end);
    if (end == word || *end || !(share >= 0 && share <= 1e6))
        return false;
    *out = (int64_t)((double)whole * share / 100);
    return true;
}

// "40%..100%/7": N budgets from the larger to the smaller.
static status parse_sweep(struct cli *c, int64_t whole, int64_t **budgets, int32_t *n) {
    const char *text = options_text(&c->options, "sweep");
    const char *dots = strstr(text, ".."), *slash = dots ? strchr(dots, '/') : NULL;
    int64_t a, b;
    char *end = NULL;
    long count = slash ? strtol(slash + 1, &end, 10) : 0;
    if (!slash || *end || count < 2 || count > MOST_POINTS ||
        !parse_budget(text, (size_t)(dots - text), whole, &a) ||
        !parse_budget(dots + 2, (size_t)(slash - dots - 2), whole, &b) || a <= 0 || b <= 0)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--sweep wants two budgets and a count from 2 to %d, such as "
                          "40%%..100%%/7, not \"%s\"",
                          MOST_POINTS, text);
    int64_t least = a < b ? a : b, most = a < b ? b : a;
    *n = (int32_t)count;
    *budgets = ARENA_ARRAY(&c->arena, int64_t, count);
    if (!*budgets)
        return diag_no_room(&c->diags);
    for (int32_t k = 0; k < *n; k++) {
        int64_t part = 0;
        checked_muldiv(most - least, k, count - 1, &part); // fits: part <= most - least
        (*budgets)[k] = most - part;
    }
    return ST_OK;
}

static void print_curve(struct cli *c, int64_t whole, const struct schedule *s, int32_t n) {
    str_add(&c->out, "     budget bytes    share       peak bytes             cost   overhead"
                     "       gap  status\n");
    for (int32_t k = 0; k < n; k++) {
        str_addf(&c->out, "%17lld %6.2f %%", (long long)s[k].budget_bytes,
                 100.0 * (double)s[k].budget_bytes / (double)whole);
        if (s[k].steps.n > 0)
            str_addf(&c->out, " %16lld %16lld %8.3f %% %7.3f %%  %s\n", (long long)s[k].peak_bytes,
                     (long long)s[k].cost, report_overhead(&s[k]), report_gap(&s[k]),
                     outcome_name(s[k].outcome));
        else
            str_addf(&c->out, " %16s %16s %10s %9s  %s\n", "-", "-", "-", "-",
                     outcome_name(s[k].outcome));
    }
}

static status write_curve(struct cli *c, const char *path, const struct schedule *s, int32_t n) {
    struct str text = str_make(&c->arena);
    str_add(&text, "{\"format\":\"mfc-sweep\",\"version\":1,\"schedules\":[\n");
    for (int32_t k = 0; k < n; k++) {
        schedule_print(&text, &s[k], -1);
        str_add(&text, k + 1 < n ? ",\n" : "]}\n");
    }
    return output_text(&c->arena, &c->diags, path, &text);
}

static void begin_search(void *context, int64_t budget_bytes) {
    watch_begin(context, budget_bytes);
}

status cli_sweep(struct cli *c, const struct problem *p, const struct solve_options *o) {
    int64_t *budgets = NULL, whole = problem_given_peak(p, &c->arena);
    int32_t n = 0;
    status st = whole < 0 ? diag_no_room(&c->diags) : parse_sweep(c, whole, &budgets, &n);
    if (st != ST_OK)
        return st;
    struct schedule *s = ARENA_ARRAY(&c->arena, struct schedule, n);
    if (!s)
        return diag_no_room(&c->diags);
    const char *path = options_text(&c->options, "output");
    struct watch w;
    watch_open(&w, c, NULL, problem_base_cost(p));
    struct solve_hooks hooks = watch_hooks(&w);
    st = curve_sweep(p, o, &hooks, begin_search, budgets, n, &c->arena, &c->diags, s);
    watch_close(&w);
    if (st == ST_OK && path)
        st = write_curve(c, path, s, n);
    if (st == ST_OK && !(path && strcmp(path, "-") == 0))
        print_curve(c, whole, s, n);
    return st;
}
