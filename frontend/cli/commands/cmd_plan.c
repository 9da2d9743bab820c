// `mfc MODEL -o PLAN`: read, plan, write.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontend/cli/cli.h"
#include "frontend/cli/cli_summary.h"
#include "frontend/cli/cli_watch.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/load.h"
#include "frontend/pipeline.h"
#include "frontend/tools/extras.h"
#include "frontend/version.h"
#include "ir/copy.h"
#include "solver/search_options.h"

// Files beside the plan are written first and renamed into place last, so that all of them appear
// or none.
static status write_extras(struct cli *c, struct pipeline *p, struct extras *extras) {
    bool any = false;
    for (int i = 0; i < EXTRA_COUNT_; i++)
        any |= extras->at[i] != NULL;
    status st = any ? pipeline_describe(p, file_name(c->arguments[0]), c->line) : ST_OK;
    const struct plan_facts *f = &p->facts;
    const struct model *step = f->step ? f->step : p->model;
    return st ? st : extras_write(extras, step, p->model, f, &c->diags);
}

static void on_placed(void *to, const struct place_event *e, const struct strategy *best,
                      const struct strategy_facts *facts) {
    (void)facts;
    struct watch *w = to;
    struct arena scratch = arena_make(&w->cli->mem);
    struct str line = str_make(&scratch);
    str_addf(&line, "objective %.6g, %d tasks, %lld proposals", e->value, best->n,
             (long long)e->n_proposals);
    watch_placed(w, e, str_text(&line));
    arena_free(&scratch);
}

// The pipeline, watched.
static status plan_watched(struct cli *c, struct pipeline *p) {
    struct watch w;
    watch_open(&w, c, NULL, 0);
    watch_limit(&w, search_seconds(&c->options, SEARCH_PLACEMENT_SECONDS));
    w.patient = true; // the plan is still to be written when the search has ended
    struct plan_watch watch = {
        .hooks = watch_hooks(&w), .begin = watch_begin_plan, .round = watch_round};
    p->watch = &watch;
    p->devices_how.hooks = (struct place_hooks){on_placed, &w, c->stop};
    p->devices_how.team = c->team;
    status st = pipeline_plan(p);
    watch_close(&w);
    return st;
}

static status plan(struct cli *c, const char *target, struct extras *extras,
                   struct outputs *together) {
    struct pool names = pool_make(&c->arena);
    struct str summary = str_make(&c->arena);
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    struct pipeline p = {.context = &context, .passes = options_text(&c->options, "passes")};
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &p.model);
    if (st)
        return st;
    cli_flush_diags(c);
    if (options_given(&c->options, "update") && !(p.unchanged = model_copy(p.model, &c->arena)))
        st = diag_out_of_memory(&c->diags);
    if (!st)
        st = plan_watched(c, &p);
    if (!st)
        summary_print(&summary, &p.facts, target, c->verbose);
    if (!st)
        st = write_extras(c, &p, extras);
    bool leads = cli_leads(c);
    if (!st && leads)
        st = pipeline_write(&p, target, together);
    if (!st && leads)
        st = outputs_commit(together);
    if (!st && leads && !c->quiet)
        cli_print_error(c, str_text(&summary));
    model_close(p.model);
    arena_free(&scratch);
    return st || !summary.failed ? st : diag_out_of_memory(&c->diags);
}

// A path that cannot be written is reported before the search.
static status check_paths(struct cli *c) {
    static const char *const options[] = {"file", "initial", "update"};
    status st = ST_OK;
    for (size_t i = 0; i < sizeof options / sizeof *options && !st; i++) {
        const char *path = options_text(&c->options, options[i]);
        if (path)
            st = output_probe(&c->arena, &c->diags, path);
    }
    const char *folder = options_text(&c->options, "split"); // is made if it is not there
    return st || !folder || access(folder, F_OK) == 0 ? st
                                                      : output_probe(&c->arena, &c->diags, folder);
}

static status run(struct cli *c) {
    const char *target = options_text(&c->options, "file");
    struct extras extras;
    if (!target)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "no output is given: mfc %s -o PLAN.onnx", c->arguments[0]);
    status st = pipeline_check_options(&c->options, &c->diags);
    if (st)
        return st;
    struct outputs together = outputs_make(&c->arena, &c->diags);
    st = extras_open(&extras, &c->options, c->arguments[0], target, &together);
    if (!st)
        st = check_paths(c);
    if (!st)
        st = plan(c, target, &extras, &together);
    outputs_abort(&together);
    return cli_search_status(c, st);
}

static const struct option_spec plan_options[] = {
    {"Output", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"file", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "the plan to write (.onnx, .mfc or .dot); - is stdout"},
    {"report", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write a report to look at: one HTML file that needs no network"},
    {"trace", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write the schedule as a trace for Perfetto or chrome://tracing"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write the plan and its numbers as JSON; - is stdout"},
    {"passes", 0, OPTION_TEXT, "LIST", NULL, 0, 0,
     "run these passes instead of the default pipeline"},
#include "frontend/inputs/output_options.def"
#include "frontend/inputs/rig_options.def"
    {0}};

const struct command cmd_plan = {
    .name = "plan",
    .summary = "turn a model into a plan; the command when none is named",
    .arguments = "MODEL",
    .description =
        "Reads an ONNX model, adds its backward pass, searches for what to keep, what to recompute "
        "and, with --rig, on which device to run each operator, so that every device stays within "
        "its memory at the least overhead. Checks the plan and writes a training step that ONNX "
        "Runtime runs. Ctrl-C ends the search early with the best plan so far.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = plan_options,
    .passes = true,
    .ranks = true,
    .run = run,
};
