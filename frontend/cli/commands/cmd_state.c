// `mfc state PLAN [MODEL]`: the starting state of a training step.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/load.h"
#include "frontend/tools/training_state.h"
#include "ir/base/file.h"

static status write(struct cli *c, const struct model *plan, const struct model *model) {
    struct tensors start;
    int64_t bytes = 0, n;
    status st = state_start(plan, model, &c->arena, &c->diags, &start);
    if (!st && !start.list.n)
        st = diag_error(&c->diags, DIAG_STATE, loc_file(plan->path),
                        "has no state: it is not a training step of mfc");
    if (!st)
        st = state_write(&start, plan, options_text(&c->options, "output"), NULL, &c->diags);
    for (size_t i = 0; i < start.list.n && !st; i++)
        bytes += tensor_bytes(start.list.at[i], &n) ? n : 0; // they are in one file: no overflow
    if (st || strcmp(options_text(&c->options, "output"), "-") == 0)
        return st;
    str_addf(&c->out, "state      %zu tensors, ", start.list.n);
    str_add_bytes(&c->out, bytes);
    str_add_char(&c->out, '\n');
    return ST_OK;
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *plan = NULL, *model = NULL;
    const char *target = options_text(&c->options, "output");
    if (!target)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "no output is given: mfc state %s -o start.safetensors", c->arguments[0]);
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &plan);
    if (st)
        return st;
    if (c->n_arguments > 1)
        st = load_model(&c->arena, &names, &c->diags, c->arguments[1], &model);
    if (!st) {
        st = write(c, plan, model);
        model_close(model);
    }
    model_close(plan);
    return st;
}

static const struct option_spec state_options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "where the state goes: .safetensors, or .onnx for a model of constants; - is stdout"},
    {0}};

const struct command cmd_state = {
    .name = "state",
    .summary = "write the starting state of a training step, as a checkpoint",
    .arguments = "PLAN [MODEL]",
    .description =
        "Writes what a training loop feeds back: parameters, running statistics and the state of "
        "the optimizer, each under the name of the step's input. A loop that writes the same "
        "tensors has made a checkpoint. Values that the plan does not hold (--weights inputs) are "
        "those of MODEL, from which it was made.",
    .min_arguments = 1,
    .max_arguments = 2,
    .options = state_options,
    .run = run,
};
