// `mfc split PLAN FOLDER`: one model per device and round, and the manifest.
#include "frontend/cli/cli.h"
#include "frontend/load.h"
#include "frontend/tools/split_plan.h"
#include "ir/base/file.h"

// The manifest also goes where a program can read it without knowing the folder.
static status copy_manifest(struct cli *c, const char *folder, const char *to,
                            struct outputs *together) {
    struct source *s;
    const char *path = file_join(&c->arena, folder, "manifest.json");
    status st = path ? source_open(&c->arena, &c->diags, path, &s) : diag_out_of_memory(&c->diags);
    if (st)
        return st;
    struct output *out;
    st = outputs_open(together, to, &out);
    if (!st)
        st = output_copy(out, &c->diags, (struct span){s, 0, s->n_bytes});
    if (!st)
        st = output_sync(out, &c->diags);
    source_close(s);
    return st;
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct outputs together = outputs_make(&c->arena, &c->diags);
    struct model *m;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    cli_flush_diags(c);
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    st = split_plan(m, c->arguments[1], &together, &context);
    arena_free(&scratch);
    model_close(m);
    const char *json = options_text(&c->options, "json");
    if (!st && json)
        st = copy_manifest(c, together.folders.at[0].temporary, json, &together);
    if (!st)
        st = outputs_commit(&together);
    outputs_abort(&together);
    return st;
}

static const struct option_spec split_options[] = {
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write the manifest here too; - is stdout"}, {0}};

const struct command cmd_split = {
    .name = "split",
    .summary = "cut a placed plan into one model per device and round",
    .arguments = "PLAN FOLDER",
    .description = "PLAN has its nodes on devices. FOLDER, which must not exist yet, gets the "
                   "models and manifest.json: for each device what it runs, sends and receives, in "
                   "order (docs/devices.md).",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = split_options,
    .passes = true,
    .run = run,
};
