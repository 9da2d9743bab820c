// `mfc sweep MODEL --budgets 30%..100%/12`: overhead against memory, by the search and by every
// published baseline. Output files are opened before the work begins, and written also when it is
// ended early.
#include <stdio.h>
#include <string.h>

#include "backend/report/curves.h"
#include "frontend/cli/cli.h"
#include "frontend/cli/cli_watch.h"
#include "frontend/inputs/budgets.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/load.h"
#include "frontend/tools/sweep.h"
#include "frontend/version.h"
#include "ir/base/file.h"
#include "solver/search_options.h"

enum target { TARGET_REPORT, TARGET_SVG, TARGET_CSV, TARGET_JSON, TARGET_COUNT_ };
static const char *const target_options[] = {"report", "svg", "csv", "json"};

struct sweeping {
    struct cli *cli;
    struct output out[TARGET_COUNT_];
    bool is_wanted[TARGET_COUNT_], to_stdout;
    struct sweep_methods methods;
    struct budgets budgets;
    struct solve_options options;
    struct sweep sweep;
    struct watch *watch; // or NULL
};

// ---- Files ----

static status open_targets(struct sweeping *k) {
    struct cli *c = k->cli;
    for (int i = 0; i < TARGET_COUNT_; i++) {
        const char *path = options_text(&c->options, target_options[i]);
        for (int j = 0; path && j < i; j++)
            if (k->is_wanted[j] && strcmp(path, options_text(&c->options, target_options[j])) == 0)
                return diag_error(&c->diags, DIAG_USAGE, loc_file(path),
                                  "--%s and --%s name the same file", target_options[j],
                                  target_options[i]);
        if (path && strcmp(path, c->arguments[0]) == 0 && strcmp(path, "-") != 0)
            return diag_error(&c->diags, DIAG_USAGE, loc_file(path),
                              "--%s would overwrite the model itself", target_options[i]);
        if (!path)
            continue;
        status st = output_open(&c->arena, &c->diags, path, &k->out[i]);
        if (st)
            return st;
        k->is_wanted[i] = true;
        k->to_stdout |= strcmp(path, "-") == 0;
    }
    return ST_OK;
}

static void close_targets(struct sweeping *k) {
    for (int i = 0; i < TARGET_COUNT_; i++)
        if (k->is_wanted[i])
            output_abort(&k->out[i]);
}

// The points of one method that have a schedule. Where several budgets are served by one schedule,
// it is one point, at the memory that it needs.
static bool fill_line(const struct sweep *s, size_t i, struct arena *a, struct curves_line *out) {
    double *bytes = ARENA_ARRAY(a, double, s->n), *overhead = ARENA_ARRAY(a, double, s->n);
    *out = (struct curves_line){.name = s->lines[i].method->name,
                                .summary = s->lines[i].method->summary,
                                .bytes = bytes,
                                .overhead = overhead,
                                .is_best = i == s->best};
    if (!bytes || !overhead)
        return false;
    for (int32_t k = 0; k < s->n; k++) {
        const struct schedule *p = &s->lines[i].at[k];
        double needed = sweep_has(p) ? (double)sweep_bytes(s, i, k) : 0;
        if (!sweep_has(p) || (out->n && bytes[out->n - 1] <= needed))
            continue;
        bytes[out->n] = needed;
        overhead[out->n++] = sweep_overhead(p);
    }
    return true;
}

static bool fill_curves(const struct sweeping *k, struct arena *a, double *knee,
                        struct curves *out) {
    const struct sweep *s = &k->sweep;
    struct curves_line *lines = ARENA_ARRAY(a, struct curves_line, s->n_lines);
    *out = (struct curves){.title = file_name(k->cli->arguments[0]),
                           .command = k->cli->line,
                           .version = version_mfc(),
                           .lines = lines,
                           .n_lines = s->n_lines,
                           .whole_bytes =
                               (double)(s->runtime_bytes ? s->runtime_bytes : s->whole_bytes)};
    bool fits = lines;
    for (size_t i = 0; i < s->n_lines && fits; i++)
        fits = fill_line(s, i, a, &lines[i]);
    if (s->knee != SWEEP_NO_KNEE) {
        knee[0] = (double)sweep_bytes(s, s->best, s->knee);
        knee[1] = sweep_overhead(&s->lines[s->best].at[s->knee]);
        out->knee = knee;
    }
    struct str note = str_make(a);
    str_addf(&note, "Memory is %s; the baseline step needs ",
             s->runtime_bytes ? "the peak on the runtime" : "the liveness peak");
    str_add_bytes(&note, s->runtime_bytes ? s->runtime_bytes : s->whole_bytes);
    str_add(&note, ", and ");
    str_add_bytes(&note, s->persistent_bytes);
    str_addf(&note, " of it are persistent. %d nodes in %d clusters.%s", s->n_nodes, s->n_groups,
             s->is_interrupted ? " Interrupted: what is missing was not searched for." : "");
    out->note = str_text(&note);
    return fits && !note.failed;
}

static status write_target(struct sweeping *k, enum target what, struct arena *a) {
    struct cli *c = k->cli;
    struct str text = str_make(a);
    struct curves curves;
    double knee[2];
    if (what == TARGET_CSV)
        sweep_print_csv(&text, &k->sweep);
    else if (what == TARGET_JSON)
        sweep_print_json(&text, &k->sweep);
    else if (!fill_curves(k, a, knee, &curves))
        return diag_out_of_memory(&c->diags);
    else if (what == TARGET_SVG)
        curves_print_svg(&text, &curves);
    else
        curves_print_page(&text, &curves);
    if (text.failed)
        return diag_out_of_memory(&c->diags);
    status st = output_write(&k->out[what], &c->diags, str_text(&text), text.n);
    return st ? st : output_sync(&k->out[what], &c->diags);
}

static status write_targets(struct sweeping *k) {
    struct arena scratch = arena_make(&k->cli->mem);
    status st = ST_OK;
    for (int i = 0; i < TARGET_COUNT_ && !st; i++)
        if (k->is_wanted[i])
            st = write_target(k, (enum target)i, &scratch);
    for (int i = 0; i < TARGET_COUNT_ && !st; i++)
        if (k->is_wanted[i])
            st = output_commit(&k->out[i], &k->cli->diags);
    arena_free(&scratch);
    return st;
}

// ---- Work ----

// The time left is estimated from the limits of the searches to come; baselines take next to none.
static void report_begin(void *context, const struct sweep *s, const struct solve_method *method,
                         int64_t budget_bytes, int32_t k, int32_t n) {
    struct sweeping *w = context;
    struct arena scratch = arena_make(&w->cli->mem);
    struct str now = str_make(&scratch);
    int32_t n_slow = 0, n_left = n - k;
    for (size_t i = 0; i < w->methods.n; i++)
        n_slow += w->methods.at[i]->baseline ? 0 : s->n;
    if (n_left > n_slow)
        n_left = n_slow;
    str_addf(&now, "%s at %.1f %%", method->name,
             100 * (double)budget_bytes / (double)s->whole_bytes);
    struct cli_step step = {.what = "sweep",
                            .now = str_text(&now),
                            .done = k,
                            .of = n,
                            .left_seconds =
                                w->options.seconds > 0 ? n_left * w->options.seconds : -1};
    cli_progress_step(w->cli, &step);
    if (w->watch)
        watch_begin(w->watch, budget_bytes);
    arena_free(&scratch);
}

// --time is for the whole command. Without it each search gets a quarter of what a plan would.
static double seconds_each(const struct sweeping *k, int32_t n_nodes) {
    int32_t n_searches = 0;
    for (size_t i = 0; i < k->methods.n; i++)
        n_searches += k->methods.at[i]->baseline ? 0 : k->budgets.n;
    double seconds = search_seconds(&k->cli->options, 0);
    if (options_given(&k->cli->options, "time"))
        return n_searches ? seconds / n_searches : seconds;
    return k->options.work > 0 ? 0 : search_default_seconds(n_nodes) / 4;
}

static status search(struct sweeping *k, const struct remat *r, struct arena *a) {
    struct cli *c = k->cli;
    struct sweep *s = &k->sweep;
    struct watch w;
    s->whole_bytes = problem_given_peak(&r->problem, a);
    s->n = k->budgets.n;
    s->n_nodes = (int32_t)r->units.n;
    s->n_groups = r->problem.n;
    s->budgets = s->whole_bytes < 0 ? NULL : budgets_list(&k->budgets, s->whole_bytes, a);
    if (!s->budgets)
        return diag_out_of_memory(&c->diags);
    k->options.seconds = seconds_each(k, r->problem.n);
    bool json = strcmp(options_text(&c->options, "progress"), "json") == 0;
    struct sweep_settings settings = {
        .options = &k->options,
        .methods = k->methods,
        .hooks = {.solve.stop = c->stop, .begin = report_begin, .context = k}};
    if (json) {
        watch_open(&w, c, NULL, problem_base_cost(&r->problem));
        w.patient = true;
        settings.hooks.solve = watch_hooks(&w);
        k->watch = &w;
    }
    status st = sweep_run(&r->problem, &settings, a, &c->diags, s);
    if (json)
        watch_close(&w);
    return st;
}

static status sweep_model(struct sweeping *k, struct model *m) {
    struct cli *c = k->cli;
    struct arena scratch = arena_make(&c->mem);
    struct remat r;
    struct pass_context context = cli_context(c, &scratch);
    status st = cost_files_read(&c->arena, &c->diags, &c->options, &context.costs);
    if (!st)
        st = sweep_problem(m, &context, &r);
    cli_flush_diags(c);
    if (!st)
        st = search(k, &r, &scratch);
    if (!st)
        st = sweep_bound(&k->sweep, m, &r, &context);
    if (!st && sweep_counts_runtime(&c->options))
        st = sweep_measure(&k->sweep, m, &r, &context);
    if (!st)
        st = write_targets(k);
    if (!st && !k->to_stdout)
        sweep_print(&c->out, &k->sweep);
    arena_free(&scratch);
    return st;
}

static status read_settings(struct sweeping *k) {
    struct cli *c = k->cli;
    status st = budgets_parse("budgets", options_text(&c->options, "budgets"), true, &c->diags,
                              &k->budgets);
    status methods =
        sweep_find_methods(options_get(&c->options, "methods"), &c->arena, &c->diags, &k->methods);
    st = st ? st : methods;
    if (!st)
        st = search_options_read(&c->options, 0, &c->diags, &k->options);
    k->options.worker_path = cli_worker_path();
    return st ? st : open_targets(k);
}

static status run(struct cli *c) {
    struct sweeping k = {.cli = c};
    struct pool names = pool_make(&c->arena);
    struct model *m;
    status st = read_settings(&k);
    if (!st)
        st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (!st) {
        cli_flush_diags(c);
        st = sweep_model(&k, m);
        model_close(m);
    }
    close_targets(&k);
    return st;
}

static const struct option_spec sweep_options[] = {
    {"budgets", 'b', OPTION_TEXT, "A..B/N", "30%..100%/12", 0, 0,
     "N budgets from A to B: bytes, or shares of the baseline peak"},
    {"methods", 'm', OPTION_LIST, "NAMES", NULL, 0, 0,
     "methods to compare; default: portfolio, rounding and all baselines (docs/solver.md)"},
    SWEEP_COUNT_OPTION,
    {"report", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "write the curves as a page to look at: one HTML file that needs no network"},
    {"svg", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write the picture alone"},
    {"csv", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write all points as CSV; - is stdout"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write all points as JSON; - is stdout"},
    {0}};

const struct command cmd_sweep = {
    .name = "sweep",
    .summary = "overhead against memory, for the search and every baseline",
    .arguments = "MODEL",
    .description = "Makes the training step of the model and plans it at each budget by several "
                   "methods. Memory is the liveness peak, the same for all of them; --count "
                   "runtime also reports the peak of each plan on --runtime. --work is for each "
                   "search. Ctrl-C ends the work and writes what was found.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = sweep_options,
    .passes = true,
    .run = run,
};
