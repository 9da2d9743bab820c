// `mfc split PLAN FOLDER`: one model per device and round, and the manifest.
#include "backend/split.h"
#include "frontend/cli.h"
#include "frontend/load.h"
#include "ir/pass.h"

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *m;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    cli_flush_diags(c);
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = {
        .arena = &scratch, .diags = &c->diags, .options = &c->options, .stop = c->stop};
    struct pipeline p;
    st = pipeline_parse(&scratch, &c->diags, "shapes,transfer", &p);
    if (!st)
        st = pipeline_run(&p, m, &context, NULL);
    if (!st && !m->device_names.n)
        st = diag_error(&c->diags, DIAG_UNPLACED, loc_file(c->arguments[0]),
                        "no node of this model is on a device");
    arena_free(&scratch);
    if (!st)
        st = split_write(m, c->arguments[1], &c->diags);
    model_close(m);
    return st;
}

const struct command cmd_split = {
    .name = "split",
    .summary = "cut a placed plan into one model per device and round",
    .arguments = "PLAN FOLDER",
    .description =
        "PLAN has its nodes on devices. FOLDER, which must not be there yet, gets the\n"
        "models and manifest.json: for each device what it runs, sends and receives, in\n"
        "order (docs/devices.md).",
    .least = 2,
    .most = 2,
    .passes = true,
    .run = run,
};
