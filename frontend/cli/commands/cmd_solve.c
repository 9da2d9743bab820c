// `mfc solve PROBLEM`: rematerialization schedules for plain problems, without ONNX.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frontend/cli/cli_sweep.h"
#include "frontend/cli/cli_watch.h"
#include "ir/base/quantity.h"
#include "solver/check/schedule_check.h"
#include "solver/curve.h"
#include "solver/model/matrices.h"
#include "solver/model/schedule_report.h"
#include "solver/search_options.h"
#include "solver/solve.h"

static status read_problem(struct cli *c, struct problem *p) {
    struct source *source = NULL;
    status st = source_open(&c->arena, &c->diags, c->arguments[0], &source);
    if (st == ST_OK)
        st = problem_read(&c->arena, &c->diags, source, p);
    source_close(source);
    if (st == ST_OK && options_given(&c->options, "forward")) {
        int64_t k = options_int(&c->options, "forward");
        p->has_forward = true;
        for (int32_t i = 0; i < p->n; i++)
            p->backward[i] = i >= k;
    }
    return st;
}

static status read_settings(struct cli *c, const struct problem *p, struct solve_options *o) {
    const struct options *x = &c->options;
    status st = search_options_read(x, p->n, &c->diags, o);
    if (st)
        return st;
    int64_t given = problem_given_peak(p, &c->arena);
    if (given < 0)
        return diag_out_of_memory(&c->diags);
    o->budget_bytes = options_budget(x, "budget", given, given);
    if (o->budget_bytes <= 0)
        return diag_error(
            &c->diags, DIAG_USAGE, loc_none(),
            "--budget must be more than 0 bytes; every schedule of this problem needs "
            "at least %lld",
            (long long)problem_floor(p, NULL));
    o->free_order |= search_order_is_auto(x);
    o->worker_path = cli_worker_path();
    return ST_OK;
}

static status write_answer(struct cli *c, const struct problem *p, const struct schedule *s,
                           double seconds) {
    const char *path = options_text(&c->options, "output");
    status st = schedule_check(p, s, &c->arena, &c->diags);
    if (st == ST_OK && path) {
        // With --work the same bytes come out of every run, so the time is left out.
        double reported = options_int(&c->options, "work") > 0 ? -1 : seconds;
        st = schedule_write(s, reported, &c->arena, &c->diags, path);
    }
    return st;
}

// Results go to stdout, unless the schedule itself does.
static void show(struct cli *c, const struct str *text) {
    const char *path = options_text(&c->options, "output");
    if (!path || strcmp(path, "-") != 0)
        str_add(&c->out, str_text(text));
    else if (!c->quiet)
        cli_print_error(c, str_text(text));
}

static status print_answer(struct cli *c, const struct problem *p, const struct schedule *s) {
    struct str text = str_make(&c->arena);
    if (!schedule_report(&text, p, s, &c->arena))
        return diag_out_of_memory(&c->diags);
    show(c, &text);
    return ST_OK;
}

// Without a schedule, bounds are what was found.
static void print_bounds(struct cli *c, const struct schedule *s) {
    struct str text = str_make(&c->arena);
    schedule_report_bounds(&text, s);
    show(c, &text);
}

static status write_matrices(struct cli *c, const struct problem *p, const struct schedule *s) {
    const char *path = options_text(&c->options, "matrices");
    if (!path)
        return ST_OK;
    struct matrices m;
    status st = matrices_make(p, s->steps, &c->arena, &c->diags, &m);
    if (st != ST_OK)
        return st;
    struct str text = str_make(&c->arena);
    if (str_ends_with(path, ".json"))
        matrices_print_json(&text, &m);
    else
        matrices_print(&text, &m);
    if (text.failed)
        return diag_out_of_memory(&c->diags);
    if (strcmp(path, "-") == 0) {
        str_add(&c->out, str_text(&text));
        return ST_OK;
    }
    return output_text(&c->arena, &c->diags, path, &text);
}

// One budget, or with --overhead the least one.
static status solve_one(struct cli *c, const struct problem *p, const struct solve_options *o) {
    struct watch w;
    struct schedule s;
    const char *overhead = options_text(&c->options, "overhead");
    double share = 0;
    if (overhead && !quantity_parse_share(overhead, &share))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--overhead wants a share such as 10%%");
    int64_t base = problem_base_cost(p);
    double max_cost = floor((double)base * (1 + share));
    watch_open(&w, c, options_text(&c->options, "output"), base);
    watch_limit(&w, o->seconds);
    watch_begin(&w, o->budget_bytes);
    int64_t start_ns = stop_clock_ns();
    struct solve_hooks hooks = watch_hooks(&w);
    status st = overhead ? curve_min_memory(&(struct curve_search){p, o, &hooks, watch_begin_search,
                                                                   &c->arena, &c->diags},
                                            max_cost < 9e18 ? (int64_t)max_cost : INT64_MAX, &s)
                         : solve(p, o, &hooks, &c->arena, &c->diags, &s);
    watch_close(&w);
    double seconds = (double)(stop_clock_ns() - start_ns) * 1e-9;
    if (st == ST_INFEASIBLE || st == ST_NO_PLAN) {
        if (st == ST_NO_PLAN)
            print_bounds(c, &s);
        schedule_report_failure(p, &s, &c->arena, &c->diags);
        status written = write_answer(c, p, &s, seconds);
        return written == ST_OK ? st : written;
    }
    if (st == ST_OK) // before the files: where there is no memory for it they stay as they are
        st = print_answer(c, p, &s);
    if (st == ST_OK && overhead)
        str_addf(&c->out, "least      no schedule with this overhead%s fits in less than %lld B\n",
                 s.free_order ? "" : ", in the given order,", (long long)s.min_bytes);
    if (st == ST_OK && c->out.failed)
        st = diag_out_of_memory(&c->diags);
    if (st == ST_OK)
        st = write_answer(c, p, &s, seconds);
    return st == ST_OK ? write_matrices(c, p, &s) : st;
}

static status run(struct cli *c) {
    struct problem p;
    struct solve_options o;
    status st = read_problem(c, &p);
    if (st == ST_OK)
        st = read_settings(c, &p, &o);
    if (st != ST_OK)
        return st;
    cli_flush_diags(c);
    st = options_given(&c->options, "sweep") ? cli_sweep(c, &p, &o) : solve_one(c, &p, &o);
    return cli_search_status(c, st);
}

static const struct option_spec solve_options[] = {
    {"budget", 'b', OPTION_BUDGET, "SIZE", "100%", 0, 0,
     "memory to stay within: bytes, or a share of what the given order needs"},
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0, "where the schedule goes; - is stdout"},
    {"json", 0, OPTION_SAME, "FILE", "output", 0, 0, "the same as --output: a schedule is JSON"},
    {"overhead", 0, OPTION_TEXT, "SHARE", NULL, 0, 0,
     "find the least memory at an overhead of at most this, e.g. 10%"},
    {"sweep", 0, OPTION_TEXT, "A..B/N", NULL, 0, 0,
     "solve N budgets from A to B, e.g. 40%..100%/7, and print the curve"},
    {"matrices", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "write Checkmate's S and R: JSON if FILE ends in .json, else characters; - is stdout"},
    {"forward", 0, OPTION_INT, "K", NULL, 0, INT32_MAX,
     "the first K nodes are the forward pass (for the baselines)"},
#include "solver/search_options.def"
    {"m", 'm', OPTION_SAME, "NAME", "method", 0, 0, NULL},
    {"t", 't', OPTION_SAME, "TIME", "time", 0, 0, NULL},
    {"j", 'j', OPTION_SAME, "N", "threads", 0, 0, NULL},
    {0}};

const struct command cmd_solve = {
    .name = "solve",
    .summary = "find a rematerialization schedule for a plain problem",
    .arguments = "PROBLEM",
    .description = "Reads an mfc-problem (JSON, or CSV when the name ends in .csv), searches for "
                   "the cheapest schedule within the budget, checks it, and writes it as an "
                   "mfc-schedule. Ctrl-C ends the search early with the best schedule so far.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = solve_options,
    .run = run,
};
