// `mfc split PLAN FOLDER`: one model per device and round, and the manifest.
#include "frontend/cli.h"
#include "frontend/load.h"
#include "frontend/plan_place.h"

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
    st = plan_split(m, c->arguments[1], &context);
    arena_free(&scratch);
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
