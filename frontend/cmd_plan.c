// `mfc MODEL -o PLAN`: read, plan, write.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/annotate.h"
#include "frontend/cli.h"
#include "frontend/cli_watch.h"
#include "frontend/costs.h"
#include "frontend/extras.h"
#include "frontend/load.h"
#include "frontend/plan.h"
#include "frontend/plan_place.h"
#include "frontend/version.h"
#include "frontend/weights.h"

static void begin(void *context, int64_t base_cost, int64_t budget_bytes) {
    struct watch *w = context;
    watch_base(w, base_cost);
    watch_begin(w, budget_bytes);
}

// What is written besides the plan is written first and shown last, so that all of it appears or
// nothing does.
static status write_extras(struct cli *c, const struct model *m, const struct plan_report *report,
                           const struct cost_sources *costs, struct extras *extras) {
    struct facts facts = facts_none();
    facts.title = file_name(c->arguments[0]);
    facts.command = c->line;
    facts.version = version_mfc();
    facts.cost_model = costs_describe(&c->arena, &c->options, costs);
    facts.cost_match = costs->profile ? *costs->measured_share : FACTS_UNKNOWN;
    plan_report_facts(report, &facts);
    facts_read(m, &facts);
    if (!options_given(&c->options, "budget"))
        facts.budget_bytes = FACTS_UNKNOWN; // the plan's own peak, which nobody asked for
    return extras_write(extras, report->step ? report->step : m, m, &facts, &c->diags);
}

static void on_placed(void *to, const struct place_event *e, const struct strategy *best,
                      const struct strategy_facts *facts) {
    (void)facts;
    struct watch *w = to;
    struct arena scratch = arena_make(&w->cli->mem);
    struct str line = str_make(&scratch);
    str_addf(&line, "%8.2f s %12lld proposals   %.6g   %d tasks", e->seconds,
             (long long)e->n_proposals, e->value, best->n);
    watch_placed(w, e, str_text(&line));
    arena_free(&scratch);
}

// The way with --rig.
static status place_plan(struct watch *w, struct model *m, struct pass_context *context,
                         struct plan_report *report, struct str *told) {
    struct plan_placed placed;
    struct plan_place_how how = {.hooks = {on_placed, w, context->stop}, .team = w->cli->team};
    status st = plan_place(m, context, &how, &placed);
    if (!st)
        plan_placed_print(told, &placed);
    if (st)
        return st;
    report->step = placed.step;
    report->makespan_cost = placed.result.facts.makespan_cost;
    report->is_interrupted = stop_raised(context->stop);
    for (int32_t k = 0; k < placed.placement.problem.n_devices; k++)
        if (placed.peak_bytes[k] > report->peak_bytes)
            report->peak_bytes = placed.peak_bytes[k];
    return ST_OK;
}

static status run_plan(struct cli *c, struct model *m, struct extras *extras, struct str *told) {
    struct plan_report report = {0};
    struct arena scratch = arena_make(&c->mem);
    struct watch w;
    struct pass_context context = cli_context(c, &scratch);
    const char *passes = options_text(&c->options, "passes");
    status st = costs_read(&c->arena, &c->diags, &c->options, &context.costs);
    watch_open(&w, c, NULL, 0);
    w.patient = true; // the plan is still to be written when the search has ended
    struct plan_watch watch = {.hooks = watch_hooks(&w), .begin = begin};
    if (!st && passes)
        st = plan_run(m, passes, &context);
    else if (!st && options_given(&c->options, "rig"))
        st = place_plan(&w, m, &context, &report, told);
    else if (!st)
        st = plan_make(m, &context, &watch, &report);
    watch_close(&w);
    if (!st && report.planned)
        plan_report_print(told, &report);
    if (!st)
        st = write_extras(c, m, &report, context.costs, extras);
    arena_free(&scratch);
    return st;
}

static status write_plan(struct cli *c, struct model *m, const char *target) {
    const char *start = options_text(&c->options, "initial");
    status st = start ? weights_write(m, start, &c->diags) : ST_OK;
    if (!st && strcmp(options_text(&c->options, "weights"), "inputs") == 0)
        weights_detach(m);
    if (!st && strcmp(options_text(&c->options, "annotate"), "onnx") == 0)
        st = annotate_devices(m, &c->diags);
    return st ? st : plan_write(m, target, &c->diags);
}

static status write_split(struct cli *c, struct model *m) {
    const char *folder = options_text(&c->options, "split");
    if (!folder)
        return ST_OK;
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    status st = plan_split(m, folder, &context);
    arena_free(&scratch);
    return st;
}

static status plan(struct cli *c, const char *target, struct extras *extras) {
    struct pool names = pool_make(&c->arena);
    struct str told = str_make(&c->arena);
    struct model *m;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    cli_flush_diags(c);
    st = run_plan(c, m, extras, &told);
    bool leads = cli_leads(c);
    if (!st && leads)
        st = write_plan(c, m, target);
    if (!st && leads)
        st = write_split(c, m);
    if (!st && leads)
        st = extras_commit(extras, &c->diags);
    if (!st && leads && !c->quiet)
        fputs(str_text(&told), stderr);
    model_close(m);
    return st || !told.failed ? st : diag_no_room(&c->diags);
}

static status run(struct cli *c) {
    const char *target = options_text(&c->options, "output");
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
    status st = extras_open(&extras, &c->options, c->arguments[0], target, &c->arena, &c->diags);
    if (!st)
        st = plan(c, target, &extras);
    extras_close(&extras);
    int signal_number = atomic_load(&c->stop->raised);
    return (!st || st == ST_NO_PLAN) && signal_number ? (status)(128 + signal_number) : st;
}

static const struct option_spec plan_options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "the plan to write (.onnx, .mfc or .dot); - is stdout"},
    EXTRAS_OPTIONS,
    PLAN_PLACE_OPTIONS,
    {"annotate", 0, OPTION_CHOICE, "metadata|onnx", "metadata", 0, 0,
     "with --rig, how nodes say where they are: by metadata entries, or also in ONNX's own "
     "multi-device annotations (IR version 11)"},
    {"split", 0, OPTION_TEXT, "FOLDER", NULL, 0, 0,
     "with --rig, also write one model per device and round (docs/devices.md)"},
    {"weights", 0, OPTION_CHOICE, "overridable|inputs", "overridable", 0, 0,
     "how parameters are kept: initializers that can be fed, or plain inputs"},
    {"initial", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write a model that gives the parameters' first values"},
    {"passes", 0, OPTION_TEXT, "LIST", NULL, 0, 0, "run these passes instead of the whole way"},
    {0}};

const struct command cmd_plan = {
    .name = "plan",
    .summary = "turn a model into a plan; the command when none is named",
    .arguments = "MODEL",
    .least = 1,
    .most = 1,
    .options = plan_options,
    .passes = true,
    .ranks = true,
    .run = run,
};
