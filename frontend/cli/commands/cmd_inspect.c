// `mfc inspect MODEL`: what is in a model, or the tasks of its training step on a rig.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/inputs/rig.h"
#include "frontend/load.h"
#include "frontend/tools/inspect/inspect.h"
#include "frontend/tools/inspect/inspect_peaks.h"
#include "frontend/tools/tasks.h"
#include "ir/base/file.h"

// Text to standard output, unless the JSON goes there.
static status show(struct cli *c, const struct model *m) {
    const char *path = options_text(&c->options, "json");
    bool has_text = !path || strcmp(path, "-") != 0;
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    struct inspect_peaks peaks;
    status st = inspect_peaks(m, &context, &peaks);
    if (!st && has_text)
        st = inspect_print(&c->out, m, &c->options, &c->diags);
    if (!st && has_text)
        inspect_peaks_print(&c->out, &peaks);
    if (!st && path)
        st = inspect_write(m, &peaks, path, &c->arena, &c->diags);
    arena_free(&scratch);
    return st;
}

// With --json the placement problem (docs/placement.md), which `mfc place` takes.
static status show_tasks(struct cli *c, struct model *m) {
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    struct plan_placement k = {0};
    struct rig *rig;
    const char *path = options_text(&c->options, "json");
    status st = cost_files_read(&c->arena, &c->diags, &c->options, &context.costs);
    if (!st)
        st = rig_from_options(&scratch, &c->diags, &c->options, &rig);
    if (!st)
        st = tasks_make(m, rig, &context, &k);
    if (!st && (!path || strcmp(path, "-") != 0))
        tasks_print(&c->out, &k);
    if (!st && path) {
        struct str json = str_make(&scratch);
        placement_print(&json, &k.problem);
        st = output_text(&c->arena, &c->diags, path, &json);
    }
    arena_free(&scratch);
    return st;
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *m;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    st = options_given(&c->options, "rig") ? show_tasks(c, m) : show(c, m);
    model_close(m);
    return st;
}

static const struct option_spec inspect_options[] = {
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write it as JSON; - is standard output, without the text"},
    {"parameters", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "list every trained, frozen and constant tensor with the reason"},
    {"rig", 0, OPTION_TEXT, "RIG", NULL, 0, 0,
     "show the tasks of its training step on these devices instead (docs/devices.md)"},
    {0}};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show what is in a model: opsets, operators, bytes, memory",
    .arguments = "MODEL",
    .description =
        "Prints the opsets of the model, its inputs and outputs, its nodes by operator, the "
        "bytes of its parameters and of its activations as far as their shapes are declared, and "
        "which tensors are trained, frozen and constant, with the reason. Predicts the peak memory "
        "of "
        "the model on the runtime and that of its training step, without planning. Of a plan, "
        "prints the figures that it claims.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = inspect_options,
    .passes = true,
    .run = run,
};
