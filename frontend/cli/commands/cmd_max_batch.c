// `mfc max-batch MODEL --budget 16GiB`: the largest batch that fits, by the search and by every
// published baseline.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/load.h"
#include "frontend/tools/max_batch.h"
#include "ir/base/file.h"
#include "ir/base/quantity.h"
#include "solver/search_options.h"

#define SECONDS  10.0 // for each search, when --time is not given
#define SEARCHES 8    // when it is, each search gets this part of it

// The number of sizes to try is not known in advance.
struct reporting {
    struct cli *cli;
    double seconds; // for each search
    int64_t n_tried;
};

static void report_begin(void *context, const struct solve_method *method, int64_t batch) {
    struct reporting *t = context;
    struct arena scratch = arena_make(&t->cli->mem);
    struct str now = str_make(&scratch);
    str_addf(&now, "%s with a batch of %lld", method->name, (long long)batch);
    if (!method->baseline && t->seconds > 0)
        str_addf(&now, ", at most %.3g s", t->seconds);
    struct cli_step step = {
        .what = "max-batch", .now = str_text(&now), .done = t->n_tried++, .left_seconds = -1};
    cli_progress_step(t->cli, &step);
    arena_free(&scratch);
}

static status read_budget(struct cli *c, struct batch_settings *s) {
    const struct option_value *budget = options_get(&c->options, "budget");
    if (!budget->given || budget->share || budget->number <= 0 || budget->number == INT64_MAX)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "max-batch wants a budget in bytes, such as --budget 16GiB");
    s->solve.budget_bytes = budget->number;
    const char *overhead = options_text(&c->options, "overhead");
    s->one_forward =
        !options_given(&c->options, "overhead") || strcmp(overhead, "one-forward") == 0;
    if (!s->one_forward && !quantity_parse_share(overhead, &s->overhead))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--overhead wants one-forward, or a share such as 20%%");
    return ST_OK;
}

static status read_settings(struct cli *c, struct batch_settings *s) {
    status st = search_options_read(&c->options, 0, &c->diags, &s->solve);
    if (!st)
        st = read_budget(c, s);
    if (!st && (options_given(&c->options, "batch") || options_given(&c->options, "shape")))
        st = diag_error(&c->diags, DIAG_USAGE, loc_none(),
                        "the batch is what is searched for: --batch and --shape would set it; "
                        "--dim binds other dimensions");
    s->solve.seconds = search_seconds(&c->options, SECONDS);
    if (options_given(&c->options, "time")) { // for the whole command
        c->stop->deadline_ns = c->start_ns + (int64_t)(s->solve.seconds * 1e9);
        s->solve.seconds /= SEARCHES;
    }
    s->solve.worker_path = cli_worker_path();
    s->on_runtime = sweep_counts_runtime(&c->options);
    return st;
}

static status write_table(struct cli *c, const struct batch_table *t) {
    static const char *const options[] = {"csv", "json"};
    bool to_stdout = false;
    status st = ST_OK;
    for (int i = 0; i < 2 && !st; i++) {
        const char *path = options_text(&c->options, options[i]);
        struct str text = str_make(&c->arena);
        if (!path)
            continue;
        if (i == 0)
            max_batch_print_csv(&text, t);
        else
            max_batch_print_json(&text, t);
        to_stdout |= strcmp(path, "-") == 0;
        st = text.failed ? diag_out_of_memory(&c->diags)
                         : output_text(&c->arena, &c->diags, path, &text);
    }
    if (!st && !to_stdout)
        max_batch_print(&c->out, t);
    return st;
}

// A path that cannot be written is reported before the work.
static status check_paths(struct cli *c) {
    static const char *const options[] = {"csv", "json"};
    status st = ST_OK;
    for (int i = 0; i < 2 && !st; i++) {
        const char *path = options_text(&c->options, options[i]);
        if (path)
            st = output_probe(&c->arena, &c->diags, path);
    }
    return st;
}

static status search(struct cli *c, const struct batch_settings *s) {
    struct pool names = pool_make(&c->arena);
    struct arena scratch = arena_make(&c->mem);
    struct model *m;
    struct batch_table table;
    struct reporting reporting = {.cli = c, .seconds = s->solve.seconds};
    struct batch_hooks hooks = {.stop = c->stop, .begin = report_begin, .context = &reporting};
    struct pass_context context = cli_context(c, &scratch);
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    cli_flush_diags(c);
    st = cost_files_read(&c->arena, &c->diags, &c->options, &context.costs);
    if (!st)
        st = max_batch_search(m, &context, s, &hooks, &table);
    if (!st)
        st = write_table(c, &table);
    arena_free(&scratch);
    model_close(m);
    return st;
}

static status run(struct cli *c) {
    struct batch_settings s = {0};
    status st = read_settings(c, &s);
    status named =
        sweep_find_methods(options_get(&c->options, "methods"), &c->arena, &c->diags, &s.methods);
    st = st ? st : named;
    if (!st)
        st = check_paths(c);
    return st ? st : search(c, &s);
}

static const struct option_spec max_batch_options[] = {
    {"methods", 'm', OPTION_LIST, "NAMES", NULL, 0, 0,
     "methods to compare; default: portfolio, rounding and all baselines (docs/solver.md)"},
    SWEEP_COUNT_OPTION,
    {"csv", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write the table as CSV; - is stdout"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write the table as JSON; - is stdout"},
    {0}};

const struct command cmd_max_batch = {
    .name = "max-batch",
    .summary = "find the largest batch that fits a budget, by the search and every baseline",
    .arguments = "MODEL",
    .description =
        "--budget is in bytes. --overhead one-forward, the default, allows an overhead "
        "of one forward pass; --overhead 20% a share of the step. The batch is the "
        "first dimension of the inputs, open or not. Memory is the peak on "
        "--runtime, as in a plan; with --count liveness the liveness peak. --work is for each "
        "search. Ctrl-C ends the work with what is known.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = max_batch_options,
    .passes = true,
    .run = run,
};
