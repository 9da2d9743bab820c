// The pass `optimizer`: the update of the parameters, in standard operators. For every grad(NAME)
// it adds an output next(NAME), which the training loop feeds as NAME in the next step. State is
// passed in the same way: an input such as momentum(NAME) and an output next(momentum(NAME)).
// Hyper-parameters are scalar inputs, so that a learning rate schedule needs no new plan. The
// formulas are PyTorch's. Gradients are no longer outputs, unless --keep-grads is given: held to
// the end they need as much memory as the parameters.
#include <string.h>

#include "ir/build.h"
#include "ir/keys.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"optimizer", 0, OPTION_CHOICE, "none|sgd|momentum|adam|adamw", "none", 0, 0,
     "append the update of the parameters"},
    {"keep-grads", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "keep the gradients as outputs beside the updates"},
    {0}};

enum scalar { LR, MOMENTUM, BETA1, BETA2, EPSILON, WEIGHT_DECAY, STEP, N_SCALARS };

static const char *const scalar_names[N_SCALARS] = {"lr",      "momentum",     "beta1", "beta2",
                                                    "epsilon", "weight_decay", "step"};

struct update {
    struct graph *g;
    struct builder b;
    struct pass_context *c;
    value_id scalar[N_SCALARS];            // graph inputs, float32; made when first needed
    value_id cast[N_SCALARS][ELEM_LIMIT_]; // the same in other element types
    struct str start;                      // KEY_STATE: what the state starts with
    enum elem elem;                        // of the present parameter
    value_id p, dp;
};

static void out_of_memory(struct update *u) {
    if (!u->b.failed)
        u->b.failed = diag_out_of_memory(u->c->diags);
}

static value_id add_input(struct update *u, const char *name, const struct type *t) {
    if (name && graph_find(u->g, name).i) {
        u->b.failed = diag_error(
            u->c->diags, DIAG_MALFORMED, loc_path(u->g->model->path, name),
            "the model has a value of this name already, which the optimizer needs; rename it");
        return VALUE_NONE;
    }
    value_id v = name && t ? graph_add_value(u->g, name, t) : VALUE_NONE;
    if (!v.i || !graph_add_input(u->g, v))
        out_of_memory(u);
    return v;
}

static value_id scalar(struct update *u, enum scalar k) {
    if (u->b.failed)
        return VALUE_NONE;
    if (!u->scalar[k].i)
        u->scalar[k] =
            add_input(u, scalar_names[k], type_tensor(u->g->model->arena, ELEM_F32, NULL, 0));
    if (u->elem == ELEM_F32)
        return u->scalar[k];
    if (!u->cast[k][u->elem].i)
        u->cast[k][u->elem] =
            build_op(&u->b, "Cast", VALUES(u->scalar[k]), ATTRS(attr_int("to", u->elem)));
    return u->cast[k][u->elem];
}

// An input for state of the parameter, in its shape, that starts with zeros.
static value_id state(struct update *u, const char *kind) {
    const struct value *p = graph_value(u->g, u->p);
    const char *name = str_format(u->g->model->arena, "%s(%s)", kind, p->name);
    str_addf(&u->start, "0 %s\n", name);
    return add_input(u, name, p->type);
}

// Makes `v` the output next(NAME) of the value that it replaces.
static void publish(struct update *u, value_id old, value_id v) {
    const char *name =
        old.i ? str_format(u->g->model->arena, "next(%s)", graph_value(u->g, old)->name) : NULL;
    if (u->b.failed)
        return;
    if (!name || !graph_rename(u->g, v, name) || !graph_add_output(u->g, v))
        out_of_memory(u);
}

static value_id mul(struct update *u, value_id a, value_id b) {
    return BUILD(&u->b, "Mul", a, b);
}
static value_id add(struct update *u, value_id a, value_id b) {
    return BUILD(&u->b, "Add", a, b);
}
static value_id sub(struct update *u, value_id a, value_id b) {
    return BUILD(&u->b, "Sub", a, b);
}
static value_id one_minus(struct update *u, value_id a) {
    return sub(u, build_scalar(&u->b, u->elem, 1), a);
}

static void sgd(struct update *u) {
    publish(u, u->p, sub(u, u->p, mul(u, scalar(u, LR), u->dp)));
}

static void momentum(struct update *u) { // v' = mu v + g; p' = p - lr v'
    value_id v = state(u, "momentum");
    value_id next = add(u, mul(u, scalar(u, MOMENTUM), v), u->dp);
    publish(u, v, next);
    publish(u, u->p, sub(u, u->p, mul(u, scalar(u, LR), next)));
}

// m' = b1 m + (1 - b1) g
// v' = b2 v + (1 - b2) g²
// p' = p - lr / (1 - b1^t) m' / (sqrt(v' / (1 - b2^t)) + eps)
// AdamW first scales p by 1 - lr * decay.
static void adam(struct update *u, bool decay) {
    value_id m = state(u, "adam.m"), v = state(u, "adam.v"), b1 = scalar(u, BETA1),
             b2 = scalar(u, BETA2);
    value_id t = scalar(u, STEP), lr = scalar(u, LR);
    value_id m1 = add(u, mul(u, b1, m), mul(u, one_minus(u, b1), u->dp));
    value_id v1 = add(u, mul(u, b2, v), mul(u, one_minus(u, b2), mul(u, u->dp, u->dp)));
    value_id rate = BUILD(&u->b, "Div", lr, one_minus(u, BUILD(&u->b, "Pow", b1, t)));
    value_id bias = BUILD(&u->b, "Sqrt", one_minus(u, BUILD(&u->b, "Pow", b2, t)));
    value_id size = add(u, BUILD(&u->b, "Div", BUILD(&u->b, "Sqrt", v1), bias), scalar(u, EPSILON));
    value_id p = decay ? mul(u, u->p, one_minus(u, mul(u, lr, scalar(u, WEIGHT_DECAY)))) : u->p;
    value_id p1 = sub(u, p, mul(u, rate, BUILD(&u->b, "Div", m1, size)));
    publish(u, m, m1);
    publish(u, v, v1);
    publish(u, u->p, p1);
}

// The number of the step counts itself.
static void count_step(struct update *u) {
    value_id step = u->scalar[STEP];
    u->elem = ELEM_F32;
    u->b.scope = "update/step";
    str_addf(&u->start, "1 %s\n", scalar_names[STEP]);
    publish(u, step, add(u, step, build_scalar(&u->b, ELEM_F32, 1)));
}

static status record_start(struct update *u, struct model *m) {
    const char *text = u->start.failed ? NULL : pool_intern(m->pool, str_text(&u->start));
    if (!text || (*text && !pairs_set(&m->metadata, m->arena, KEY_STATE, text)))
        return diag_out_of_memory(u->c->diags);
    return ST_OK;
}

// The parameter of an output grad(NAME); none: it is another output.
static value_id parameter_of(const struct update *u, value_id out, char *name, size_t size) {
    const char *text = graph_value(u->g, out)->name;
    size_t n = strlen(text);
    if (strncmp(text, "grad(", 5) != 0 || text[n - 1] != ')' || n - 6 >= size)
        return VALUE_NONE;
    memcpy(name, text + 5, n - 6);
    name[n - 6] = 0;
    return graph_find(u->g, name);
}

static status run(struct model *m, struct pass_context *c) {
    const char *kind = options_text(c->options, "optimizer");
    if (strcmp(kind, "none") == 0)
        return ST_OK;
    struct update u = {
        .g = m->graph, .b = builder_make(m->graph, c->diags), .c = c, .start = str_make(c->arena)};
    u.b.infer = shape_infer;
    struct graph *g = m->graph;
    size_t n_outputs = g->outputs.n, kept = 0;
    value_id *outputs = arena_copy(c->arena, g->outputs.at, n_outputs * sizeof *outputs);
    if (!outputs)
        return diag_out_of_memory(c->diags);
    for (size_t i = 0; i < n_outputs && !u.b.failed; i++) {
        char name[4096];
        u.p = parameter_of(&u, outputs[i], name, sizeof name);
        u.dp = outputs[i];
        // An input named by --grad-input is data, not a parameter, unless it has an initializer.
        bool trained =
            u.p.i && (graph_value(g, u.p)->init || !options_get(c->options, "grad-input")->list.n);
        if (!trained)
            continue;
        u.elem = graph_value(g, u.p)->type->elem;
        u.b.scope = str_format(m->arena, "update/%s", name);
        if (strcmp(kind, "sgd") == 0)
            sgd(&u);
        else if (strcmp(kind, "momentum") == 0)
            momentum(&u);
        else
            adam(&u, strcmp(kind, "adamw") == 0);
        if (!options_flag(c->options, "keep-grads"))
            graph_value(g, u.dp)->is_output = false;
    }
    if (u.scalar[STEP].i && !u.b.failed)
        count_step(&u);
    for (size_t i = 0; i < g->outputs.n; i++)
        if (graph_value(g, g->outputs.at[i])->is_output)
            g->outputs.at[kept++] = g->outputs.at[i];
    g->outputs.n = kept;
    return u.b.failed ? u.b.failed : record_start(&u, m);
}

const struct pass pass_optimizer = {
    .name = "optimizer",
    .summary = "append the update of the parameters",
    .needs = FACT_TOPO | FACT_SHAPES | FACT_GRAD,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
