// `mfc why PLAN NAME`: what a plan does with a node or value, and the cost of the alternative.
// Sizes and times follow from the plan itself by the passes `shapes` and `costs`.
#include <string.h>

#include "frontend/cli/cli.h"
#include "frontend/inputs/cost_files.h"
#include "frontend/load.h"
#include "frontend/tools/why.h"
#include "ir/base/file.h"
#include "ir/devices.h"
#include "ir/keys.h"
#include "ir/plan_facts.h"

static status answer(struct cli *c, const struct model *plan, struct arena *a) {
    const char *path = options_text(&c->options, "json");
    struct timeline t;
    struct why w;
    struct plan_facts facts = plan_facts_none();
    status st = plan_facts_read(plan, &facts, &c->diags);
    if (!st)
        st = timeline_make(plan, a, &c->diags, &t);
    if (!st)
        st = why_find(&t, c->arguments[1], a, &c->diags, &w);
    if (st)
        return st;
    if (path) {
        struct str text = str_make(a);
        why_print_json(&text, &w, facts.budget_bytes);
        st = text.failed ? diag_out_of_memory(&c->diags) : output_text(a, &c->diags, path, &text);
    }
    if (!st && !(path && strcmp(path, "-") == 0))
        why_print(&c->out, &t, &w, facts.budget_bytes);
    return st;
}

static status explain(struct cli *c, struct model *plan) {
    struct arena scratch = arena_make(&c->mem);
    struct pass_context context = cli_context(c, &scratch);
    status st = cost_files_read(&c->arena, &c->diags, &c->options, &context.costs);
    if (!st && !pairs_get(&plan->metadata, KEY_OPTIONS))
        st = diag_error(&c->diags, DIAG_MALFORMED, loc_file(plan->path),
                        "is not a plan of mfc; mfc %s -o PLAN.onnx makes one", c->arguments[0]);
    if (!st)
        st = pass_run_all(PASS_PIPELINE(&pass_shapes, &pass_costs), plan, &context);
    if (!st)
        st = devices_from_metadata(plan, &c->diags);
    if (!st)
        st = why_link(plan, &c->diags);
    if (!st)
        st = answer(c, plan, &scratch);
    arena_free(&scratch);
    return st;
}

static status run(struct cli *c) {
    struct pool names = pool_make(&c->arena);
    struct model *plan;
    status st = load_model(&c->arena, &names, &c->diags, c->arguments[0], &plan);
    if (st)
        return st;
    st = explain(c, plan);
    model_close(plan);
    return st;
}

static const struct option_spec why_options[] = {
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write the answer as JSON; - is stdout"}, {0}};

const struct command cmd_why = {
    .name = "why",
    .summary = "show what a plan does with a tensor, and evaluate the alternative",
    .arguments = "PLAN NAME",
    .description =
        "NAME is a node or a value of the plan or of its baseline step. Reports whether it is "
        "kept, recomputed or moved, when it runs and how long it is kept, and what the alternative "
        "would do to the peak and to the overhead. Times come from the cost model of the plan: if "
        "that was made with a profile or costs, give them here too.",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = why_options,
    .passes = true,
    .run = run,
};
