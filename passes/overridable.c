// The pass `overridable`: with --inference, the model's weights become inputs with a default, as
// the parameters of a training step are. A runtime may rearrange weights that are constants: ONNX
// Runtime packs them, changes their layout, and that of the activations with it, and folds
// normalizations into them, which takes memory that no plan controls. Callers need not feed them.
// Small constants stay, for shapes and axes are among them.
#include "passes/param/param_roles.h"
#include "passes/pass.h"

#define MIN_BYTES 1024 // from this size on a tensor that is no parameter is a weight, too

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"inference", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "no loss and no gradients: plan the model itself, with training mode off"},
    {0}};

static bool is_weight(const struct graph *g, value_id v, const struct param_role *role) {
    int64_t n_bytes;
    const struct tensor *t = graph_value(g, v)->init;
    bool is_large = !tensor_bytes(t, &n_bytes) || n_bytes >= MIN_BYTES;
    return is_large || (role->what && role->kind == PARAM_PARAMETER);
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    if (!options_flag(c->options, "inference"))
        return ST_OK;
    const struct param_role *roles = param_roles(g, c->arena);
    bool ok = roles;
    for (size_t i = 0; i < g->inits.n && ok; i++) {
        value_id v = g->inits.at[i];
        if (!graph_value(g, v)->is_input && is_weight(g, v, &roles[v.i]))
            ok = graph_add_input(g, v);
    }
    return ok ? ST_OK : diag_out_of_memory(c->diags);
}

const struct pass pass_overridable = {
    .name = "overridable",
    .summary = "for --inference: make weights inputs with a default, which no runtime rearranges",
    .needs = FACT_TOPO | FACT_SHAPES,
    .options = options,
    .run = run,
};
