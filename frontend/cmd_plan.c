// `mfc MODEL -o PLAN`: read, plan, write.
#include <string.h>

#include "frontend/cli.h"
#include "frontend/costs.h"
#include "frontend/extras.h"
#include "frontend/load.h"
#include "frontend/plan.h"
#include "frontend/version.h"
#include "frontend/weights.h"

static void progress(void *to, const char *line) {
    cli_progress(to, "%s", line);
}

static status plan(struct cli *c, const char *target, struct extras *extras) {
    struct pool names = pool_make(&c->arena);
    struct model *m;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    cli_flush_diags(c);
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = {.arena = &scratch,
                                   .diags = &c->diags,
                                   .options = &c->options,
                                   .stop = c->stop,
                                   .progress = progress,
                                   .progress_to = c};
    st = costs_read(&c->arena, &c->diags, &c->options, &context.costs);
    if (!st)
        st = plan_run(m, options_text(&c->options, "passes"), &context);
    arena_free(&scratch);
    const char *start = options_text(&c->options, "initial");
    if (!st && start)
        st = weights_write(m, start, &c->diags);
    if (!st && strcmp(options_text(&c->options, "weights"), "inputs") == 0)
        weights_detach(m);
    struct facts facts = facts_none();
    facts.title = file_name(c->arguments[0]);
    facts.command = c->line;
    facts.version = version_mfc();
    facts_read(m, &facts);
    if (!st)
        st = extras_write(extras, m, m, &facts, &c->diags);
    if (!st)
        st = plan_write(m, target, &c->diags);
    if (!st)
        st = extras_commit(extras, &c->diags);
    model_close(m);
    return st;
}

static status run(struct cli *c) {
    const char *target = options_text(&c->options, "output");
    struct extras extras;
    if (!target)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "no output is given: mfc %s -o PLAN.onnx", c->arguments[0]);
    status st = extras_open(&extras, &c->options, c->arguments[0], target, &c->arena, &c->diags);
    if (!st)
        st = plan(c, target, &extras);
    extras_close(&extras);
    return st;
}

static const struct option_spec plan_options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "the plan to write (.onnx, .mfc or .dot); - is stdout"},
    {"weights", 0, OPTION_CHOICE, "overridable|inputs", "overridable", 0, 0,
     "how parameters are kept: initializers that can be fed, or plain inputs"},
    {"initial", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write a model that gives the parameters' first values"},
    EXTRAS_OPTIONS,
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
    .run = run,
};
