// `mfc layout MODEL`: addresses for what a training step computes, and how that compares with other
// ways of allocating.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/load.h"
#include "ir/base/file.h"
#include "ir/keys.h"
#include "passes/layout/layout.h"
#include "passes/layout/layout_compare.h"
#include "passes/plan/step.h"

// A plan is taken as it is; of any other model the training step is made first.
static status prepare(struct model *m, struct pass_context *c) {
    bool is_plan = pairs_get(&m->metadata, KEY_OPTIONS) != NULL;
    return is_plan ? pass_run_all(PASS_PIPELINE(&pass_shapes, &pass_names, &pass_costs), m, c)
                   : step_make_costed(m, c);
}

static bool takes_stdout(const struct cli *c) {
    const char *path = options_text(&c->options, "json");
    return path && strcmp(path, "-") == 0;
}

static status compare(struct cli *c, struct model *m, struct pass_context *context) {
    struct layout_rows rows;
    status st = prepare(m, context);
    if (!st)
        st = layout_compare(m, context, &rows);
    if (st)
        return st;
    const char *path = options_text(&c->options, "json");
    if (path) {
        struct str json = str_make(&c->arena);
        layout_table_print(&json, &rows, "json");
        st = output_text(&c->arena, &c->diags, path, &json);
    }
    if (!takes_stdout(c))
        layout_table_print(&c->out, &rows, options_text(&c->options, "form"));
    return st;
}

static status lay_out(struct cli *c, struct model *m, struct pass_context *context) {
    const char *path = options_text(&c->options, "json");
    status st = path ? options_set(&c->options, &c->diags, "layout", path) : ST_OK;
    struct layout l;
    if (!st)
        st = prepare(m, context);
    if (!st)
        st = layout_run(m, context, &l);
    if (st || takes_stdout(c))
        return st;
    str_addf(&c->out, "nodes      %zu\n", m->graph->order.n);
    str_addf(&c->out, "buffers    %zu, %zu results in place\n", l.buffers.n - 1, l.n_in_place);
    str_addf(&c->out, "arena      %lld bytes\n", (long long)l.arena_bytes);
    str_addf(&c->out, "max live   %lld bytes\n", (long long)l.live_bytes);
    str_addf(&c->out, "bound      %lld bytes, for these live ranges\n", (long long)l.bound_bytes);
    if (l.live_bytes > 0)
        str_addf(&c->out, "ratio      %.4f (arena / max live)\n",
                 (double)l.arena_bytes / (double)l.live_bytes);
    str_addf(&c->out, "persistent %lld bytes, not in the arena\n", (long long)l.persistent_bytes);
    if (options_int(&c->options, "streams") > 1)
        str_addf(&c->out, "waits      %zu between streams\n", l.waits.n);
    return ST_OK;
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *m;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &m);
    if (st)
        return st;
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    st = options_flag(&c->options, "compare") ? compare(c, m, &context) : lay_out(c, m, &context);
    arena_free(&scratch);
    model_close(m);
    return st;
}

static const struct option_spec layout_options[] = {
    {"compare", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "print a table instead: other ways to allocate and to recompute"},
    {"form", 0, OPTION_CHOICE, "text|markdown|csv|json", "text", 0, 0, "of that table"},
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0,
     "write the addresses, or the table, as JSON; - is stdout"},
    {0}};

const struct command cmd_layout = {
    .name = "layout",
    .summary = "give every tensor an address, and compare ways of allocation",
    .arguments = "MODEL",
    .description =
        "Makes the training step of the model (a plan is taken as it is) and gives every tensor an "
        "address in one arena. --layout FILE writes the addresses. With --compare: memory and time "
        "without reuse, in place, sharing, both, dynamic pools, sqrt(n) checkpointing, recursive "
        "checkpointing, and the best plan at the same time.",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = layout_options,
    .passes = true,
    .run = run,
};
