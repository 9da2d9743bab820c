// `mfc state PLAN [MODEL]`: the starting state of a training step.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/load.h"
#include "frontend/tools/training_state.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"
#include "ir/keys.h"

enum { MAX_FILES = 3 };

static status write_json(struct cli *c, const char *path, const struct tensors *start,
                         int64_t bytes) {
    struct str text = str_make(&c->arena);
    struct json_writer w = json_write_document(&text, JSON_WRITE_COMPACT, "mfc-state");
    json_write_int(&w, "tensors", (int64_t)start->list.n);
    json_write_int(&w, "bytes", bytes);
    json_write_finish(&w);
    return text.failed ? diag_out_of_memory(&c->diags)
                       : output_text(&c->arena, &c->diags, path, &text);
}

static status write(struct cli *c, const struct state_sources *from) {
    struct tensors start;
    const char *target = options_text(&c->options, "output");
    int64_t bytes = 0, n;
    status st = state_start(from, &c->arena, &c->diags, &start);
    if (!st)
        st = state_require(&start, from->step[0], &c->diags);
    if (!st)
        st = state_write(&start, from->step[0], target, NULL, &c->diags);
    for (size_t i = 0; i < start.list.n && !st; i++)
        bytes += tensor_bytes(start.list.at[i], &n) ? n : 0; // they are in one file: no overflow
    const char *json = options_text(&c->options, "json");
    if (!st && json)
        st = write_json(c, json, &start, bytes);
    if (st || strcmp(target, "-") == 0 || (json && strcmp(json, "-") == 0))
        return st;
    str_addf(&c->out, "state      %zu tensors, ", start.list.n);
    str_add_bytes(&c->out, bytes);
    str_add_char(&c->out, '\n');
    return ST_OK;
}

// A step says what it was made with, a model does not. The first file is a step in any case.
static void take(struct state_sources *from, const struct model *m) {
    if (!from->step[0])
        from->step[0] = m;
    else if (!from->step[1] && pairs_get(&m->metadata, KEY_OPTIONS))
        from->step[1] = m;
    else
        from->model = m;
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *m[MAX_FILES] = {0};
    struct state_sources from = {0};
    status st = ST_OK;
    if (!options_given(&c->options, "output"))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "no output is given: mfc state %s -o start.safetensors", c->arguments[0]);
    for (size_t i = 0; i < c->n_arguments && !st; i++) {
        st = load_model(&c->arena, &names, &c->diags, c->arguments[i], &m[i]);
        if (st)
            m[i] = NULL; // the reader has closed it
        else
            take(&from, m[i]);
    }
    if (!st)
        st = write(c, &from);
    for (int i = 0; i < MAX_FILES; i++)
        model_close(m[i]);
    return st;
}

static const struct option_spec state_options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "where the state goes: .safetensors, or .onnx for a model of constants; - is stdout"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write the number of tensors and bytes as JSON; - is stdout"},
    {0}};

const struct command cmd_state = {
    .name = "state",
    .summary = "write the starting state of a training step, as a checkpoint",
    .arguments = "PLAN [UPDATE] [MODEL]",
    .description =
        "Writes what a training loop feeds back: parameters, running statistics and the state of "
        "the optimizer, each under the name of the step's input. A loop that writes the same "
        "tensors has made a checkpoint. UPDATE is the file of --update, which has state, too. "
        "Values "
        "that the steps do not hold (--weights inputs) are those of MODEL, from which they were "
        "made.",
    .min_arguments = 1,
    .max_arguments = MAX_FILES,
    .options = state_options,
    .run = run,
};
