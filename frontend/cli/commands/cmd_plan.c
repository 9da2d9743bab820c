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
    struct plan_facts *f = &p->facts;
    const struct cost_sources *costs = p->context->costs;
    const struct model *step = f->step ? f->step : p->model;
    f->title = file_name(c->arguments[0]);
    f->command = c->line;
    f->version = version_mfc();
    f->cost_match = costs->profile ? *costs->measured_share : -1;
    bool any = false;
    for (int i = 0; i < EXTRA_COUNT_; i++)
        any |= extras->at[i] != NULL;
    status st = any && !f->planned ? plan_figures(step, p->model, p->context, f) : ST_OK;
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

// Without gradients there is little to plan: it is done when a budget is given.
static status check_evaluation(struct cli *c) {
    static const char *const training[] = {"optimizer", "grad-input", "accumulate"};
    if (!options_flag(&c->options, "eval"))
        return ST_OK;
    for (size_t i = 0; i < sizeof training / sizeof *training; i++)
        if (options_given(&c->options, training[i]))
            return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                              "--%s needs gradients, which --eval leaves out", training[i]);
    bool plans = options_given(&c->options, "budget") || options_given(&c->options, "overhead");
    return plans ? ST_OK : options_set(&c->options, &c->diags, "budget", "none");
}

static status run(struct cli *c) {
    const char *target = options_text(&c->options, "file");
    struct extras extras;
    if (!target)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "no output is given: mfc %s -o PLAN.onnx", c->arguments[0]);
    if (options_given(&c->options, "rig") && options_given(&c->options, "budget"))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--budget and --rig: the memory of devices is in the rig");
    if (options_given(&c->options, "split") && !options_given(&c->options, "rig"))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--split needs --rig: without it there is one device");
    if (strcmp(options_text(&c->options, "annotate"), "onnx") == 0 &&
        !options_given(&c->options, "rig"))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "--annotate onnx needs --rig: without it there is one device");
    status st = check_evaluation(c);
    if (st)
        return st;
    if ((options_int(&c->options, "accumulate") > 1) != options_given(&c->options, "update"))
        return diag_error(
            &c->diags, DIAG_USAGE, loc_none(),
            "--accumulate and --update belong together: the second is the file of the "
            "step that applies the accumulated gradients");
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
    {"weights", 0, OPTION_CHOICE, "overridable|inputs", "overridable", 0, 0,
     "form of the parameters: initializers that can be fed, or plain inputs"},
    {"initial", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write the starting state: safetensors, or .onnx for a model of constants"},
    {"update", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "with --accumulate: the step that applies the sum of the gradients"},
    {"passes", 0, OPTION_TEXT, "LIST", NULL, 0, 0,
     "run these passes instead of the default pipeline"},
#include "frontend/inputs/rig_options.def"
    {"annotate", 0, OPTION_CHOICE, "metadata|onnx", "metadata", 0, 0,
     "form of the device of a node: metadata entries, or also ONNX's own multi-device annotations "
     "(IR version 11)"},
    {"split", 0, OPTION_TEXT, "FOLDER", NULL, 0, 0,
     "also write one model per device and round (docs/devices.md)"},
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
