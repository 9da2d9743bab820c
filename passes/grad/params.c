// Which values are trained: what a framework would call a parameter (passes/param/param_roles.h),
// chosen from by name. --train with a name, not a pattern, also trains what is part of a formula.
// In a model without parameters they are the float inputs and the results of ConstantOfShape that
// an operator uses as its weights, or else the numbers that it multiplies or adds. Results of
// ConstantOfShape become inputs, so that a training loop can feed new ones.
#include <string.h>

#include "passes/grad/grad.h"
#include "passes/param/param_roles.h"
#include "passes/param/param_select.h"
#include "passes/pass.h"
#include "passes/patterns.h"

const struct option_spec params_options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"train", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "train only parameters of these names (* and ? match), the biases (bias), or those of the "
     "last "
     "K layers (last:K); a full name also trains a constant"},
    {"freeze", 0, OPTION_LIST, "PATTERN", NULL, 0, 0, "do not train parameters of these names"},
    {"grad-input", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "also give the gradient of inputs of these names"},
    {"accumulate-type", 0, OPTION_CHOICE, "model|float32", "model", 0, 0,
     "sums over elements of 16-bit floats in their own type, or in float32"},
    {"keep-outputs", 0, OPTION_FLAG, NULL, NULL, 0, 0, "keep the model's own outputs in the step"},
    {0}};

struct choice {
    struct graph *g;
    struct pass_context *c;
    bool *trained;
    struct param_role *roles;
    struct patterns train, freeze;
    bool *selected; // per value: by a word of --train that is no name
    size_t n_values;
    bool any; // there are parameters, trained or frozen
};

static bool is_wanted(struct choice *p, value_id v) {
    const char *name = graph_value(p->g, v)->name;
    bool frozen = patterns_match(&p->freeze, name), named = patterns_match(&p->train, name);
    return (named || p->selected[v.i] || p->train.list->list.n == 0) && !frozen;
}

static bool is_full_name(const struct choice *p, const char *name) {
    for (size_t i = 0; i < p->train.list->list.n; i++)
        if (strcmp(p->train.list->list.at[i], name) == 0)
            return true;
    return false;
}

// Initializers of a kind, and those that --train names in full.
static void choose_initializers(struct choice *p, enum param_kind kind) {
    for (size_t i = 0; i < p->g->inits.n; i++) {
        value_id v = p->g->inits.at[i];
        const char *name = graph_value(p->g, v)->name;
        const struct param_role *role = &p->roles[v.i];
        bool named = is_full_name(p, name);
        if (!grad_carries(p->g, v) || !(named || (role->what && role->kind == kind)))
            continue;
        p->any = true;
        p->trained[v.i] = is_wanted(p, v);
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

// Marks the values that an operator uses as its weights.
static bool *mark_weights(struct choice *p) {
    bool *marked = ARENA_ARRAY(p->c->arena, bool, p->g->values.n);
    for (size_t i = 0; marked && i < p->g->order.n; i++) {
        const struct node *n = graph_node(p->g, p->g->order.at[i]);
        for (uint32_t k = 0; k < n->n_in; k++)
            marked[n->in[k].i] |= is_weight_slot(n, k);
    }
    return marked;
}

// Removes the node and makes its result an input.
static status become_input(struct choice *p, value_id v) {
    graph_remove_node(p->g, graph_value(p->g, v)->def);
    return graph_add_input(p->g, v) ? ST_OK : diag_out_of_memory(p->c->diags);
}

static status choose_loose_weights(struct choice *p) {
    bool *weight = mark_weights(p);
    int64_t n_inputs = 0;
    status st = weight ? ST_OK : diag_out_of_memory(p->c->diags);
    for (uint32_t i = 1; i < p->g->values.n && !st; i++) {
        value_id v = {i};
        const struct value *x = graph_value(p->g, v);
        bool made = x->def.i && graph_node(p->g, x->def)->op == OP_ConstantOfShape && !x->is_output;
        if (!weight[i] || !grad_carries(p->g, v) || !(made || (x->is_input && !x->init)))
            continue;
        p->any = true;
        p->trained[i] = is_wanted(p, v);
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

// Words of --train that are no names count as matched if they select something.
static status open_choice(struct choice *p) {
    struct pass_context *c = p->c;
    bool any = false;
    p->roles = param_roles(p->g, c->arena);
    p->selected = ARENA_ARRAY(c->arena, bool, p->n_values);
    status st = p->roles && p->selected ? ST_OK : diag_out_of_memory(c->diags);
    if (!st)
        st = patterns_open(c, "train", &p->train);
    if (!st)
        st = patterns_open(c, "freeze", &p->freeze);
    if (!st)
        st = param_select(p->g, p->roles, p->train.list, c->diags, p->selected);
    for (size_t v = 1; v < p->n_values && !st; v++)
        any |= p->selected[v];
    for (size_t i = 0; i < p->train.list->list.n && !st; i++)
        p->train.hit[i] |= any && param_select_is(p->g, p->train.list->list.at[i]);
    return st;
}

status params_choose(struct model *m, struct pass_context *c, bool *trained) {
    struct choice p = {.g = m->graph, .c = c, .trained = trained, .n_values = m->graph->values.n};
    status st = open_choice(&p);
    if (st)
        return st;
    choose_initializers(&p, PARAM_PARAMETER);
    if (!p.any)
        st = choose_loose_weights(&p);
    if (!p.any)
        choose_initializers(&p, PARAM_LOOSE);
    if (!st && p.any)
        st = patterns_close(c, &p.train, "parameter");
    if (!st && p.any)
        st = patterns_close(c, &p.freeze, "parameter");
    st = st ? st : choose_inputs(&p);
    bool trains = false;
    for (size_t v = 1; v < p.g->values.n && v < p.n_values; v++)
        trains |= trained[v];
    if (st || trains)
        return st;
    return diag_error(c->diags, DIAG_NO_GRADIENT, loc_file(m->path),
                      p.any
                          ? "all parameters are frozen; --train, --freeze and --grad-input choose "
                            "what has a gradient"
                          : "the model has no parameters: mfc inspect lists its tensors, and "
                            "--train NAME or --grad-input NAME gives one a gradient");
}
