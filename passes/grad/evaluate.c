// The pass `evaluate`: the model with its loss, to be run with the state of a training step. Its
// parameters and the running statistics that training changes become inputs, under the same names
// as in the step; then training mode is switched off.
#include "passes/adapt/lora.h"
#include "passes/grad/grad.h"

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"eval", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "no gradients: the loss and the model's outputs, in inference mode, from the same inputs as "
     "the "
     "step"},
    {0}};

static status make_inputs(struct model *m, struct pass_context *c, const bool *chosen) {
    struct graph *g = m->graph;
    for (size_t i = 0; i < g->inits.n; i++) {
        value_id v = g->inits.at[i];
        if (chosen[v.i] && !graph_value(g, v)->is_input && !graph_add_input(g, v))
            return diag_out_of_memory(c->diags);
    }
    return ST_OK;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    bool *chosen = ARENA_ARRAY(c->arena, bool, g->values.n);
    status st = chosen ? params_choose(m, c, chosen) : diag_out_of_memory(c->diags);
    if (!st)
        lora_restrict(g, c->options, chosen);
    for (size_t i = 0; i < g->order.n && !st; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool trains = n->op == OP_BatchNormalization && node_int(n, "training_mode", 0);
        for (uint32_t k = 3; trains && k < n->n_in; k++)
            chosen[n->in[k].i] = true;
    }
    if (!st)
        st = make_inputs(m, c, chosen);
    return st ? st : pass_run(&pass_inference, m, c);
}

const struct pass pass_evaluate = {
    .name = "evaluate",
    .summary =
        "make parameters inputs and switch training mode off, for the loss without gradients",
    .needs = FACT_TOPO | FACT_SHAPES | FACT_LOSS,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
