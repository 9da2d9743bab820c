// `mfc export MODEL --state STATE -o TRAINED`: back from training to inference.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/load.h"
#include "frontend/tools/export.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"

static void print(struct cli *c, const struct exported *x) {
    str_addf(&c->out, "replaced   %lld tensors", (long long)x->n_replaced);
    if (x->n_changed)
        str_addf(&c->out, ", of which %lld converted to 16 bits", (long long)x->n_changed);
    if (x->n_merged)
        str_addf(&c->out, "\nmerged     %lld adapters", (long long)x->n_merged);
    str_addf(&c->out, "\nunchanged  %lld float initializers that the state does not have\n",
             (long long)x->n_untouched);
    if (x->n_left)
        str_addf(&c->out, "left out   %lld tensors of the optimizer\n", (long long)x->n_left);
}

static status write_json(struct cli *c, const char *path, const struct exported *x) {
    struct str text = str_make(&c->arena);
    struct json_writer w = json_write_document(&text, JSON_WRITE_COMPACT, "mfc-export");
    json_write_int(&w, "replaced", x->n_replaced);
    json_write_int(&w, "converted", x->n_changed);
    json_write_int(&w, "merged", x->n_merged);
    json_write_int(&w, "unchanged", x->n_untouched);
    json_write_int(&w, "left_out", x->n_left);
    json_write_finish(&w);
    return text.failed ? diag_out_of_memory(&c->diags)
                       : output_text(&c->arena, &c->diags, path, &text);
}

static status export(struct cli *c, struct model *m, struct pool *names) {
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    struct state_file state;
    struct exported facts;
    const char *target = options_text(&c->options, "output");
    status st = state_read(options_text(&c->options, "state"), &c->arena, names, &c->diags, &state);
    if (!st)
        st = export_model(m, &state.tensors, &context, &facts);
    if (!st)
        st = str_ends_with(target, ".safetensors")
                 ? state_write(&facts.trained, m, target, NULL, &c->diags)
                 : load_save_plan(m, target, NULL, &c->diags);
    const char *json = options_text(&c->options, "json");
    if (!st && json)
        st = write_json(c, json, &facts);
    if (!st && strcmp(target, "-") != 0 && !(json && strcmp(json, "-") == 0))
        print(c, &facts);
    state_close(&state);
    arena_free(&scratch);
    return st;
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *m;
    const char *target = options_text(&c->options, "output");
    if (!target || !options_given(&c->options, "state"))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "mfc export needs the state and an output: mfc export %s --state "
                          "STATE.safetensors -o TRAINED.onnx",
                          c->arguments[0]);
    status st = output_probe(&c->arena, &c->diags, target);
    if (!st)
        st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    cli_flush_diags(c);
    st = export(c, m, &names);
    model_close(m);
    return st;
}

static const struct option_spec export_options[] = {
    {"state", 's', OPTION_TEXT, "FILE", NULL, 0, 0,
     "the trained state: safetensors, or an ONNX model of constants"},
    {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0,
     "the model to write (.onnx, .mfc or .dot), or what training has changed of it, without the "
     "optimizer's state (.safetensors); - is stdout"},
    {"head", 0, OPTION_TEXT, "CLASSES[:NAME]", NULL, 0, 0,
     "the option that the step was made with"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "also write the counts of tensors as JSON; - is stdout"},
    {0}};

const struct command cmd_export = {
    .name = "export",
    .summary = "write the model with trained parameters, for inference",
    .arguments = "MODEL",
    .description =
        "Takes the model that the training step was made from and the state that training ended "
        "with, and writes the model with trained parameters and running statistics, training mode "
        "off and Dropout inactive. Nothing else changes: parameters that the state does not have "
        "stay as they are, and the state of the optimizer is left out. Adapters are merged into "
        "their "
        "weights; an output that ends with .safetensors holds them as they are, without the model: "
        "the file to keep for each task.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = export_options,
    .run = run,
};
