// The curve of memory against time: see cli_sweep.h. The table goes to stdout; with --output, a
// file {"format":"mfc-sweep","version":1,"schedules":[…]} holds one mfc-schedule for each budget.
#include "frontend/cli/cli_sweep.h"

#include <string.h>

#include "frontend/cli/cli_watch.h"
#include "frontend/inputs/budgets.h"
#include "ir/json/json_write.h"
#include "solver/curve.h"
#include "solver/model/schedule_report.h"

static void print_curve(struct cli *c, int64_t whole, const struct schedule *s, int32_t n) {
    str_add(&c->out, "     budget bytes    share       peak bytes             cost   overhead"
                     "       gap  status\n");
    for (int32_t k = 0; k < n; k++) {
        str_addf(&c->out, "%17lld %6.2f %%", (long long)s[k].budget_bytes,
                 100.0 * (double)s[k].budget_bytes / (double)whole);
        if (s[k].steps.n > 0)
            str_addf(&c->out, " %16lld %16lld %8.3f %% %7.3f %%  %s\n", (long long)s[k].peak_bytes,
                     (long long)s[k].cost, schedule_overhead(&s[k]), schedule_gap(&s[k]),
                     outcome_name(s[k].outcome));
        else
            str_addf(&c->out, " %16s %16s %10s %9s  %s\n", "-", "-", "-", "-",
                     outcome_name(s[k].outcome));
    }
}

static status write_curve(struct cli *c, const char *path, const struct schedule *s, int32_t n) {
    struct str text = str_make(&c->arena);
    struct json_writer w = json_write_document(&text, JSON_WRITE_COMPACT, "mfc-sweep");
    json_write_array(&w, "schedules");
    for (int32_t k = 0; k < n; k++) {
        json_write_line(&w);
        json_write_object(&w, NULL);
        schedule_print(&w, &s[k], -1);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
    return output_text(&c->arena, &c->diags, path, &text);
}

status cli_sweep(struct cli *c, const struct problem *p, const struct solve_options *o) {
    int64_t whole = problem_given_peak(p, &c->arena);
    struct budgets range;
    status st =
        budgets_parse("sweep", options_text(&c->options, "sweep"), false, &c->diags, &range);
    if (st != ST_OK)
        return st;
    int32_t n = range.n;
    int64_t *budgets = whole < 0 ? NULL : budgets_list(&range, whole, &c->arena);
    struct schedule *s = ARENA_ARRAY(&c->arena, struct schedule, n);
    if (!budgets || !s)
        return diag_out_of_memory(&c->diags);
    const char *path = options_text(&c->options, "output");
    struct watch w;
    watch_open(&w, c, NULL, problem_base_cost(p));
    watch_limit(&w, o->seconds);
    struct solve_hooks hooks = watch_hooks(&w);
    st = curve_sweep(&(struct curve_search){p, o, &hooks, watch_begin_search, &c->arena, &c->diags},
                     budgets, n, s);
    watch_close(&w);
    if (st == ST_OK && path)
        st = write_curve(c, path, s, n);
    if (st == ST_OK && !(path && strcmp(path, "-") == 0))
        print_curve(c, whole, s, n);
    return st;
}
