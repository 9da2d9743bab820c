// `mfc inspect MODEL`: what is in a model, or the tasks of its training step on a rig.
#include <string.h>

#include "frontend/cli.h"
#include "frontend/cli_inspect.h"
#include "frontend/cli_tasks.h"
#include "frontend/load.h"

// Text to standard output, unless the JSON goes there.
static status show(struct cli *c, const struct model *m) {
    const char *path = options_text(&c->options, "json");
    status st = path && strcmp(path, "-") == 0 ? ST_OK : inspect_show(c, m);
    return st || !path ? st : inspect_write(c, m, path);
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *m;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    st = options_given(&c->options, "rig") ? tasks_show(c, m) : show(c, m);
    model_close(m);
    return st;
}

static const struct option_spec inspect_options[] = {
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write it as JSON; - is standard output, without the text"},
    {"rig", 0, OPTION_TEXT, "RIG", NULL, 0, 0,
     "show the tasks of its training step on these devices instead (docs/devices.md)"},
    {0}};

const struct command cmd_inspect = {
    .name = "inspect",
    .summary = "show what is in a model: opsets, operators, bytes",
    .arguments = "MODEL",
    .description =
        "Prints the model's opsets, inputs and outputs, its nodes by operator, and the bytes of\n"
        "its parameters and of its activations as far as their shapes are declared.",
    .least = 1,
    .most = 1,
    .options = inspect_options,
    .passes = true,
    .run = run,
};
