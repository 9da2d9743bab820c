// The pass `truncate`: trains up to values inside the model, for models that end in what has no
// gradient (non-maximum suppression, labels, encoded images). The values that --output names become
// the outputs; nodes and inputs that only the old outputs need are removed.
#include <string.h>

#include "passes/pass.h"

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"output", 0, OPTION_LIST, "NAME", NULL, 0, 0,
     "train up to this value instead of the outputs of the model; may be repeated"},
    {0}};

static status choose(struct graph *g, struct pass_context *c, const struct option_value *names) {
    status st = ST_OK;
    for (size_t i = 0; i < g->outputs.n; i++)
        graph_value(g, g->outputs.at[i])->is_output = false;
    g->outputs.n = 0;
    for (size_t i = 0; i < names->list.n; i++) {
        value_id v = graph_find(g, names->list.at[i]);
        if (!v.i)
            st = diag_error(c->diags, DIAG_USAGE, loc_none(),
                            "--output %s: the model has no such value", names->list.at[i]);
        else if (!graph_value(g, v)->is_output && !graph_add_output(g, v))
            return diag_out_of_memory(c->diags);
    }
    return st;
}

// Removes inputs without users.
static status drop_inputs(struct graph *g, struct pass_context *c) {
    struct uses u;
    if (!graph_uses(g, c->arena, &u))
        return diag_out_of_memory(c->diags);
    size_t n = 0;
    for (size_t i = 0; i < g->inputs.n; i++) {
        value_id v = g->inputs.at[i];
        if (u.start[v.i] == u.start[v.i + 1] && !graph_value(g, v)->is_output)
            graph_value(g, v)->is_input = false;
        else
            g->inputs.at[n++] = v;
    }
    g->inputs.n = n;
    return ST_OK;
}

static status run(struct model *m, struct pass_context *c) {
    const struct option_value *names = options_get(c->options, "output");
    if (!names->list.n)
        return ST_OK;
    status st = choose(m->graph, c, names);
    if (!st)
        st = pass_run(&pass_dce, m, c);
    return st ? st : drop_inputs(m->graph, c);
}

const struct pass pass_truncate = {
    .name = "truncate",
    .summary = "make the values that --output names the outputs",
    .needs = FACT_TOPO,
    .breaks = FACT_LOSS | FACT_GRAD,
    .options = options,
    .run = run,
};
