// Which values are trained. Parameters are the float initializers, except those that belong to a
// formula (single numbers that were Constant nodes) or to statistics (the running mean and variance
// of BatchNormalization). In a model without such initializers, the parameters are the float inputs
// and the results of ConstantOfShape that an operator uses as its weights. The latter become
// inputs, so that a training loop can feed new ones.
#include <string.h>

#include "passes/grad/grad.h"
#include "passes/pass.h"
#include "passes/patterns.h"

const struct option_spec params_options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"train", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "train only parameters of these names (* and ? match)"},
    {"freeze", 0, OPTION_LIST, "PATTERN", NULL, 0, 0, "do not train parameters of these names"},
    {"grad-input", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "also give the gradient of inputs of these names"},
    {"keep-outputs", 0, OPTION_FLAG, NULL, NULL, 0, 0, "keep the model's own outputs in the step"},
    {0}};

struct choice {
    struct graph *g;
    struct pass_context *c;
    bool *trained;
};

// Operands that are never trained: running statistics, bounds, ratios, scales, class weights.
static bool is_statistic_slot(const struct node *n, uint32_t k) {
    switch (n->op) {
    case OP_BatchNormalization:
        return k >= 3;
    case OP_Clip:
    case OP_DequantizeLinear:
    case OP_Dropout:
    case OP_Pad:
    case OP_QuantizeLinear:
    case OP_Resize:
        return k >= 1;
    case OP_NegativeLogLikelihoodLoss:
    case OP_SoftmaxCrossEntropyLoss:
        return k == 2;
    default:
        return false;
    }
}

static bool is_weight_slot(const struct node *n, uint32_t k) {
    switch (n->op) {
    case OP_Conv:
    case OP_ConvTranspose:
    case OP_Gemm:
    case OP_BatchNormalization:
    case OP_InstanceNormalization:
    case OP_LayerNormalization:
        return k == 1 || k == 2;
    case OP_MatMul:
        return k == 1;
    case OP_Gather:
        return k == 0;
    default:
        return false;
    }
}

// Marks the values with a use that satisfies the test.
static bool *mark_uses(struct choice *p, bool (*test)(const struct node *, uint32_t)) {
    bool *marked = ARENA_ARRAY(p->c->arena, bool, p->g->values.n);
    for (size_t i = 0; marked && i < p->g->order.n; i++) {
        const struct node *n = graph_node(p->g, p->g->order.at[i]);
        for (uint32_t k = 0; k < n->n_in; k++)
            marked[n->in[k].i] |= test(n, k);
    }
    return marked;
}

static status choose_initializers(struct choice *p, bool *any) {
    struct patterns train, freeze;
    bool *statistic = mark_uses(p, is_statistic_slot);
    status st = statistic ? patterns_open(p->c, "train", &train) : diag_out_of_memory(p->c->diags);
    if (!st)
        st = patterns_open(p->c, "freeze", &freeze);
    for (size_t i = 0; i < p->g->inits.n && !st; i++) {
        value_id v = p->g->inits.at[i];
        const struct value *x = graph_value(p->g, v);
        if (!grad_carries(p->g, v) || x->is_constant || statistic[v.i])
            continue;
        *any = true;
        bool wanted = patterns_match(&train, x->name) || train.list->list.n == 0;
        p->trained[v.i] = !patterns_match(&freeze, x->name) && wanted;
    }
    if (!st && *any)
        st = patterns_close(p->c, &train, "parameter");
    return st || !*any ? st : patterns_close(p->c, &freeze, "parameter");
}

// Removes the node and makes its result an input.
static status become_input(struct choice *p, value_id v) {
    graph_remove_node(p->g, graph_value(p->g, v)->def);
    return graph_add_input(p->g, v) ? ST_OK : diag_out_of_memory(p->c->diags);
}

static status choose_loose_weights(struct choice *p) {
    struct patterns train, freeze;
    bool *weight = mark_uses(p, is_weight_slot);
    int64_t n_inputs = 0;
    status st = weight ? patterns_open(p->c, "train", &train) : diag_out_of_memory(p->c->diags);
    if (!st)
        st = patterns_open(p->c, "freeze", &freeze);
    for (uint32_t i = 1; i < p->g->values.n && !st; i++) {
        value_id v = {i};
        const struct value *x = graph_value(p->g, v);
        bool made = x->def.i && graph_node(p->g, x->def)->op == OP_ConstantOfShape && !x->is_output;
        if (!weight[i] || !grad_carries(p->g, v) || !(made || x->is_input))
            continue;
        bool wanted = patterns_match(&train, x->name) || train.list->list.n == 0;
        p->trained[i] = !patterns_match(&freeze, x->name) && wanted;
        if (made && p->trained[i]) {
            st = become_input(p, v);
            n_inputs++;
        }
    }
    graph_sweep(p->g);
    if (n_inputs)
        diag_note(p->c->diags, DIAG_WEIGHTS, loc_file(p->g->model->path),
                  "%lld weights made by ConstantOfShape are now inputs", (long long)n_inputs);
    return st;
}

static status choose_inputs(struct choice *p) {
    struct patterns names;
    status st = patterns_open(p->c, "grad-input", &names);
    for (size_t i = 0; i < p->g->inputs.n && !st; i++) {
        value_id v = p->g->inputs.at[i];
        const char *name = graph_value(p->g, v)->name;
        if (!patterns_match(&names, name))
            continue;
        if (!grad_carries(p->g, v))
            st = diag_error(p->c->diags, DIAG_USAGE, loc_none(),
                            "--grad-input %s: only float tensors have a gradient", name);
        p->trained[v.i] = true;
    }
    return st ? st : patterns_close(p->c, &names, "input");
}

status params_choose(struct model *m, struct pass_context *c, bool *trained) {
    struct choice p = {m->graph, c, trained};
    bool any = false;
    status st = choose_initializers(&p, &any);
    if (!st && !any)
        st = choose_loose_weights(&p);
    return st ? st : choose_inputs(&p);
}
