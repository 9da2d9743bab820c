// The pass `optimizer`: the update of the parameters, in standard operators. For every grad(NAME)
// it adds an output next(NAME), which the training loop feeds as NAME in the next step. State is
// passed in the same way: an input such as momentum(NAME) and an output next(momentum(NAME)).
// Hyper-parameters are scalar inputs, so that a learning rate schedule needs no new plan. Gradients
// are no longer outputs, unless --keep-grads is given: held to the end they need as much memory as
// the parameters.
//
// With --accumulate N the step adds its gradients, divided by N, to the state sum(NAME), and the
// update is a step of its own, made of the same model with --gradients inputs: there the gradients,
// or their sums, come from outside, and of the model nothing is left but its parameters.
#include <string.h>

#include "ir/keys.h"
#include "passes/accumulate.h"
#include "passes/shape/shape.h"
#include "passes/update/update.h"

static const struct option_spec options[] = {
    {"Loss and training", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"optimizer", 0, OPTION_CHOICE, "none|sgd|momentum|adam|adamw|lion|adafactor", "none", 0, 0,
     "append the update of the parameters"},
    {"nesterov", 0, OPTION_FLAG, NULL, NULL, 0, 0, "Nesterov's form of momentum"},
    {"no-decay", 0, OPTION_LIST, "PATTERN", NULL, 0, 0,
     "no weight decay for parameters of these names; 1d: all that are not matrices or larger"},
    {"clip-norm", 0, OPTION_REAL, "X", NULL, 0, 0,
     "scale the gradients down so that the norm of all of them together is at most X"},
    {"loss-scale", 0, OPTION_CHOICE, "none|static|dynamic", "none", 0, 0,
     "multiply the loss by the input loss_scale and the gradients by its inverse, and skip a step "
     "whose gradients overflow; dynamic: it is state that finds its size"},
    {"keep-grads", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "keep the gradients as outputs beside the updates"},
    {"accumulate", 0, OPTION_TEXT, "N", "1", 0, 0,
     "add the gradients of N steps before an update, which is a step of its own (--update); auto: "
     "divide the batch so that a sample takes the least time within --budget"},
    {"gradients", 0, OPTION_CHOICE, "computed|inputs", "computed", 0, 0,
     "inputs: only the update, of gradients that come from outside as inputs grad(NAME)"},
    {0}};

static const char *const scalar_names[UPDATE_SCALARS_] = {
    "lr", "momentum", "beta1", "beta2", "epsilon", "weight_decay", "step", "loss_scale"};

static void out_of_memory(struct update *u) {
    if (!u->b.failed)
        u->b.failed = diag_out_of_memory(u->c->diags);
}

value_id update_input(struct update *u, const char *name, enum elem e, const struct dim *dims,
                      int32_t rank) {
    const struct type *t = type_tensor(u->g->model->arena, e, dims, rank);
    if (u->b.failed)
        return VALUE_NONE;
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

value_id update_scalar(struct update *u, enum update_scalar k) {
    if (u->b.failed)
        return VALUE_NONE;
    if (!u->scalar[k].i && k == UPDATE_LOSS_SCALE) // the pass grad may have made it
        u->scalar[k] = graph_find(u->g, scalar_names[k]);
    if (!u->scalar[k].i)
        u->scalar[k] = update_input(u, scalar_names[k], ELEM_F32, NULL, 0);
    if (u->elem == ELEM_F32)
        return u->scalar[k];
    if (!u->cast[k][u->elem].i)
        u->cast[k][u->elem] = update_cast(u, u->scalar[k], u->elem);
    return u->cast[k][u->elem];
}

// A line of what the state starts with.
static void add_start(struct update *u, const char *value, const char *name) {
    str_addf(&u->start, "%s %s\n", value, name ? name : "");
}

value_id update_state(struct update *u, const char *kind, const struct dim *dims, int32_t rank) {
    const char *name = str_format(u->g->model->arena, "%s(%s)", kind, u->name);
    add_start(u, "0", name);
    return update_input(u, name, u->elem, dims, rank);
}

value_id update_state_like(struct update *u, const char *kind) {
    const struct type *t = u->b.failed ? NULL : graph_value(u->g, u->p)->type;
    return t ? update_state(u, kind, t->dims, t->rank) : VALUE_NONE;
}

void update_publish(struct update *u, value_id old, value_id v) {
    if (u->b.failed)
        return;
    const char *name = str_format(u->g->model->arena, "next(%s)", graph_value(u->g, old)->name);
    if (u->fits.i)
        v = BUILD(&u->b, "Where", u->fits, v, old);
    if (u->b.failed)
        return;
    if (!name || !graph_rename(u->g, v, name) || !graph_add_output(u->g, v))
        out_of_memory(u);
}

value_id update_cast(struct update *u, value_id v, enum elem e) {
    if (u->b.failed || graph_value(u->g, v)->type->elem == e)
        return v;
    return build_op(&u->b, "Cast", VALUES(v), ATTRS(attr_int("to", e)));
}
value_id update_add(struct update *u, value_id a, value_id b) {
    return BUILD(&u->b, "Add", a, b);
}
value_id update_sub(struct update *u, value_id a, value_id b) {
    return BUILD(&u->b, "Sub", a, b);
}
value_id update_mul(struct update *u, value_id a, value_id b) {
    return BUILD(&u->b, "Mul", a, b);
}
value_id update_div(struct update *u, value_id a, value_id b) {
    return BUILD(&u->b, "Div", a, b);
}
value_id update_real(struct update *u, double x) {
    return build_scalar(&u->b, u->elem, x);
}

// Axes are an attribute up to operator set 17, from 18 on an input; ReduceSum's always are one.
value_id update_reduce(struct update *u, const char *type, value_id v, int32_t axis) {
    int64_t at = axis;
    bool all = axis == INT32_MAX;
    struct attr keep = attr_int("keepdims", !all);
    if (all)
        return build_op(&u->b, type, VALUES(v), ATTRS(keep));
    if (model_opset(u->g->model, "") < 18)
        return build_op(&u->b, type, VALUES(v), ATTRS(attr_ints("axes", &at, 1), keep));
    return build_op(&u->b, type, VALUES(v, build_ints(&u->b, &at, 1)), ATTRS(keep));
}

// ---- Parameters ----

// The parameter of an output grad(NAME); none: it is another output. An input named by --grad-input
// is data, not a parameter, unless it has an initializer.
static value_id parameter_of(const struct update *u, value_id out) {
    const char *text = graph_value(u->g, out)->name;
    size_t n = strlen(text);
    if (strncmp(text, "grad(", 5) != 0 || text[n - 1] != ')')
        return VALUE_NONE;
    char *name = arena_copy(u->c->arena, text + 5, n - 5);
    if (!name)
        return VALUE_NONE;
    name[n - 6] = 0;
    value_id p = graph_find(u->g, name);
    bool is_data =
        p.i && !graph_value(u->g, p)->init && options_get(u->c->options, "grad-input")->list.n;
    return is_data ? VALUE_NONE : p;
}

static void collect_pairs(struct update *u) {
    for (size_t i = 0; i < u->g->outputs.n && !u->b.failed; i++) {
        value_id dp = u->g->outputs.at[i], p = parameter_of(u, dp);
        struct update_pair pair = {p, dp, p.i ? graph_value(u->g, p)->name : NULL};
        if (p.i && !VEC_PUSH(u->c->arena, &u->pairs, pair))
            out_of_memory(u);
    }
}

// The gradient comes from outside: an input takes its name, the computed one is dead.
static void take_from_outside(struct update *u, struct update_pair *pair, const char *kind) {
    const struct type *t = graph_value(u->g, pair->dp)->type;
    const char *unused = graph_fresh_name(u->g, "computed");
    const char *name = str_format(u->g->model->arena, "%s(%s)", kind, pair->name);
    bool sums = strcmp(kind, "sum") == 0;
    graph_value(u->g, pair->dp)->is_output = false;
    if (!unused || !name || !graph_rename(u->g, pair->dp, unused)) {
        out_of_memory(u);
        return;
    }
    enum elem e = sums && t->elem != ELEM_F64 ? ELEM_F32 : t->elem;
    pair->dp = update_input(u, name, e, t->dims, t->rank);
    if (!sums || u->b.failed)
        return;
    // The next sum begins with zeros.
    int64_t *dims = ARENA_ARRAY(u->c->arena, int64_t, t->rank);
    for (int32_t i = 0; dims && i < t->rank; i++)
        dims[i] = t->dims[i].size;
    add_start(u, "0", name);
    u->b.scope = str_format(u->g->model->arena, "update/%s", name);
    value_id shape = dims ? build_ints(&u->b, dims, t->rank) : VALUE_NONE;
    value_id zeros = BUILD(&u->b, "Expand", build_scalar(&u->b, e, 0), shape);
    update_publish(u, pair->dp, zeros);
}

// Removes everything that was needed for the gradients alone.
static status drop_model(struct update *u, struct model *m) {
    struct graph *g = u->g;
    size_t n = 0;
    for (size_t i = 0; i < g->outputs.n; i++) {
        const char *name = graph_value(g, g->outputs.at[i])->name;
        bool keeps = strncmp(name, "next(", 5) == 0 || strncmp(name, "grad_norm", 9) == 0;
        keeps &= graph_value(g, g->outputs.at[i])->is_output;
        graph_value(g, g->outputs.at[i])->is_output = keeps;
        if (keeps)
            g->outputs.at[n++] = g->outputs.at[i];
    }
    g->outputs.n = n;
    status st = pass_run(&pass_dce, m, u->c);
    struct uses uses;
    if (!st && !graph_uses(g, u->c->arena, &uses))
        st = diag_out_of_memory(u->c->diags);
    n = 0;
    for (size_t i = 0; i < g->inputs.n && !st; i++) {
        value_id v = g->inputs.at[i];
        bool used = uses.start[v.i] < uses.start[v.i + 1];
        graph_value(g, v)->is_input = used;
        if (used)
            g->inputs.at[n++] = v;
    }
    if (st)
        return st;
    g->inputs.n = n;
    return pass_run(&pass_dce, m, u->c); // the initializers of inputs that are gone
}

// ---- The update ----

static bool decays(struct update *u, const struct update_pair *pair) {
    bool is_vector = graph_value(u->g, pair->p)->type->rank < 2;
    bool exempt = patterns_match(&u->no_decay, pair->name);
    for (size_t i = 0; i < u->no_decay.list->list.n; i++)
        if (strcmp(u->no_decay.list->list.at[i], "1d") == 0) {
            u->no_decay.hit[i] = true;
            exempt |= is_vector;
        }
    return !exempt;
}

// A parameter of 16 bits is updated as a copy of 32, whose rounded value is the next parameter.
static void update_one(struct update *u, const struct update_pair *pair, const char *kind) {
    enum elem own = graph_value(u->g, pair->p)->type->elem;
    bool is_short = own == ELEM_F16 || own == ELEM_BF16;
    u->elem = is_short ? ELEM_F32 : own;
    u->name = pair->name;
    u->p = pair->p;
    u->decays = decays(u, pair);
    u->b.scope = str_format(u->g->model->arena, "update/%s", pair->name);
    u->dp = update_cast(u, pair->dp, u->elem);
    if (u->factor.i)
        u->dp = update_mul(u, u->dp, update_cast(u, u->factor, u->elem));
    if (!is_short) {
        update_rule(u, kind);
        return;
    }
    const struct type *t = graph_value(u->g, u->p)->type;
    const char *master = str_format(u->g->model->arena, "master(%s)", pair->name);
    add_start(u, "copy", master);
    u->p = update_input(u, master, ELEM_F32, t->dims, t->rank);
    update_rule(u, kind);
    const char *next = str_format(u->g->model->arena, "next(%s)", master ? master : "");
    value_id now = next && !u->b.failed ? graph_find(u->g, next) : VALUE_NONE, fits = u->fits;
    if (!now.i)
        return;
    u->fits = VALUE_NONE; // it follows the copy
    update_publish(u, pair->p, update_cast(u, now, own));
    u->fits = fits;
}

// Adds the gradient, divided by the number of steps, to the sum.
static void accumulate(struct update *u, const struct update_pair *pair, int64_t n_steps) {
    enum elem own = graph_value(u->g, pair->p)->type->elem;
    u->elem = own == ELEM_F64 ? ELEM_F64 : ELEM_F32;
    u->name = pair->name;
    u->p = pair->p;
    u->b.scope = str_format(u->g->model->arena, "update/%s", pair->name);
    value_id sum = update_state_like(u, "sum");
    value_id part =
        update_mul(u, update_cast(u, pair->dp, u->elem), update_real(u, 1.0 / (double)n_steps));
    update_publish(u, sum, update_add(u, sum, part));
}

// The number of the step counts itself.
static void count_step(struct update *u) {
    u->elem = ELEM_F32;
    u->b.scope = "update/step";
    add_start(u, "1", scalar_names[UPDATE_STEP]);
    value_id step = u->scalar[UPDATE_STEP];
    update_publish(u, step, update_add(u, step, update_real(u, 1)));
}

static status record_start(struct update *u, struct model *m) {
    const char *text = u->start.failed ? NULL : pool_intern(m->pool, str_text(&u->start));
    if (!text || (*text && !pairs_set(&m->metadata, m->arena, KEY_STATE, text)))
        return diag_out_of_memory(u->c->diags);
    return ST_OK;
}

static void update_all(struct update *u, const char *kind) {
    const struct options *o = u->c->options;
    int64_t n_steps = accumulate_steps(o);
    bool is_outside = strcmp(options_text(o, "gradients"), "inputs") == 0;
    for (size_t i = 0; i < u->pairs.n && is_outside && !u->b.failed; i++)
        take_from_outside(u, &u->pairs.at[i], n_steps > 1 ? "sum" : "grad");
    bool adds = n_steps > 1 && !is_outside;
    if (!adds)
        update_measure(u);
    for (size_t i = 0; i < u->pairs.n && !u->b.failed; i++) {
        if (adds)
            accumulate(u, &u->pairs.at[i], n_steps);
        else
            update_one(u, &u->pairs.at[i], kind);
        if (!options_flag(o, "keep-grads") && !is_outside)
            graph_value(u->g, u->pairs.at[i].dp)->is_output = false;
    }
    if (u->scalar[UPDATE_STEP].i && !u->b.failed)
        count_step(u);
    if (!adds)
        update_next_scale(u);
}

static status check_options(struct pass_context *c) {
    static const char *const need_optimizer[] = {"nesterov", "no-decay", "clip-norm", "accumulate",
                                                 "gradients"};
    const char *kind = options_text(c->options, "optimizer");
    for (size_t i = 0; i < sizeof need_optimizer / sizeof *need_optimizer; i++)
        if (strcmp(kind, "none") == 0 && options_given(c->options, need_optimizer[i]))
            return diag_error(c->diags, DIAG_USAGE, loc_none(), "--%s needs an --optimizer",
                              need_optimizer[i]);
    if (options_flag(c->options, "nesterov") && strcmp(kind, "momentum") != 0)
        return diag_error(c->diags, DIAG_USAGE, loc_none(),
                          "--nesterov is a form of --optimizer momentum");
    if (accumulate_steps(c->options) < 1)
        return diag_error(c->diags, DIAG_USAGE, loc_none(),
                          "--accumulate %s: must be a number from 1 to %d, or auto with mfc MODEL",
                          options_text(c->options, "accumulate"), MAX_ACCUMULATE);
    if (options_given(c->options, "clip-norm") && options_real(c->options, "clip-norm") <= 0)
        return diag_error(c->diags, DIAG_USAGE, loc_none(), "--clip-norm must be more than 0");
    return ST_OK;
}

static status run(struct model *m, struct pass_context *c) {
    const char *kind = options_text(c->options, "optimizer");
    struct graph *g = m->graph;
    struct update u = {.g = g, .b = builder_make(g, c->diags), .c = c, .start = str_make(c->arena)};
    status st = check_options(c);
    if (st || strcmp(kind, "none") == 0)
        return st;
    if ((st = patterns_open(c, "no-decay", &u.no_decay)))
        return st;
    u.b.infer = shape_infer;
    u.nesterov = options_flag(c->options, "nesterov");
    collect_pairs(&u);
    update_all(&u, kind);
    if (u.b.failed)
        return u.b.failed;
    size_t kept = 0;
    for (size_t i = 0; i < g->outputs.n; i++)
        if (graph_value(g, g->outputs.at[i])->is_output)
            g->outputs.at[kept++] = g->outputs.at[i];
    g->outputs.n = kept;
    if (strcmp(options_text(c->options, "gradients"), "inputs") == 0)
        st = drop_model(&u, m);
    else if (accumulate_steps(c->options) == 1)
        st = patterns_close(c, &u.no_decay, "parameter");
    return st ? st : record_start(&u, m);
}

const struct pass pass_optimizer = {
    .name = "optimizer",
    .summary = "append the update of the parameters",
    .needs = FACT_TOPO | FACT_SHAPES | FACT_GRAD,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
