// The pass `unroll`: replaces RNN, GRU and LSTM by plain operators, one cell per time step.
// Gradients need the gates and the states of all steps, which are not outputs of these operators.
// The products of all inputs with their weights are computed at once; a step consists of one
// product with the state and elementwise operators. Follows the definitions of the operators for
// both directions, initial states, peepholes, both forms of the reset of GRU, clipping, coupled
// gates, and sequences of different lengths: behind the end of a sequence its state stays, and its
// output is zero.
#include <string.h>

#include "ir/build.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

struct cell {
    struct builder *b;
    enum elem elem;
    int64_t hidden;
    const char *gate, *cell, *out; // activations f, g, h of this direction
    bool reset_after;              // GRU: linear_before_reset
    value_id recurrent;            // R^T [hidden, gates * hidden]
    value_id r_bias;               // GRU with reset_after: the recurrent bias of the candidate
    value_id peephole[3];          // LSTM: of input, output and forget gate; or none
    double clip;                   // of the inputs of activations; 0: none
    bool coupled;                  // LSTM: the forget gate is 1 - the input gate
};

struct state {
    value_id h, c;
};

static value_id slice(struct builder *b, value_id v, int64_t axis, int64_t from, int64_t to) {
    return BUILD(b, "Slice", v, build_ints(b, &from, 1), build_ints(b, &to, 1),
                 build_ints(b, &axis, 1));
}

static value_id reshape(struct builder *b, value_id v, const int64_t *dims, int64_t rank) {
    return BUILD(b, "Reshape", v, build_ints(b, dims, rank));
}

static value_id transpose(struct builder *b, value_id v) {
    return build_op(b, "Transpose", VALUES(v), ATTRS(attr_ints("perm", (int64_t[]){1, 0}, 2)));
}

// Row `d` of the first dimension, reshaped to `dims`.
static value_id direction(struct builder *b, value_id v, int64_t d, const int64_t *dims,
                          int64_t rank) {
    return v.i ? reshape(b, slice(b, v, 0, d, d + 1), dims, rank) : VALUE_NONE;
}

static void split_gates(struct cell *c, value_id v, value_id *gates, uint32_t n) {
    build_outputs(c->b, "Split", VALUES(v), ATTRS(attr_int("axis", 1)), gates, n);
}

static value_id add(struct cell *c, value_id a, value_id b) {
    return BUILD(c->b, "Add", a, b);
}

static value_id mul(struct cell *c, value_id a, value_id b) {
    return BUILD(c->b, "Mul", a, b);
}

// An activation of its clipped input.
static value_id activate(struct cell *c, const char *type, value_id x) {
    if (c->clip > 0)
        x = BUILD(c->b, "Clip", x, build_scalar(c->b, c->elem, -c->clip),
                  build_scalar(c->b, c->elem, c->clip));
    return BUILD(c->b, type, x);
}

static struct state rnn_step(struct cell *c, value_id x, struct state s) {
    return (struct state){
        .h = activate(c, c->gate, add(c, x, BUILD(c->b, "MatMul", s.h, c->recurrent)))};
}

// The gates are z (update), r (reset), h (candidate), in this order.
static struct state gru_step(struct cell *c, value_id x, struct state s) {
    value_id gx[3], gh[3];
    split_gates(c, x, gx, 3);
    int64_t h = c->hidden;
    value_id candidate;
    value_id z, r;
    if (c->reset_after) {
        split_gates(c, BUILD(c->b, "MatMul", s.h, c->recurrent), gh, 3);
        z = activate(c, c->gate, add(c, gx[0], gh[0]));
        r = activate(c, c->gate, add(c, gx[1], gh[1]));
        candidate = mul(c, r, c->r_bias.i ? add(c, gh[2], c->r_bias) : gh[2]);
    } else {
        value_id zr = slice(c->b, c->recurrent, 1, 0, 2 * h),
                 rh = slice(c->b, c->recurrent, 1, 2 * h, 3 * h);
        split_gates(c, BUILD(c->b, "MatMul", s.h, zr), gh, 2);
        z = activate(c, c->gate, add(c, gx[0], gh[0]));
        r = activate(c, c->gate, add(c, gx[1], gh[1]));
        candidate = BUILD(c->b, "MatMul", mul(c, r, s.h), rh);
    }
    candidate = activate(c, c->cell, add(c, gx[2], candidate));
    // (1 - z) candidate + z h = candidate + z (h - candidate)
    return (struct state){.h = add(c, candidate, mul(c, z, BUILD(c->b, "Sub", s.h, candidate)))};
}

// The gates are i (input), o (output), f (forget), c (candidate), in this order.
static struct state lstm_step(struct cell *c, value_id x, struct state s) {
    value_id g[4];
    split_gates(c, add(c, x, BUILD(c->b, "MatMul", s.h, c->recurrent)), g, 4);
    if (c->peephole[0].i) {
        g[0] = add(c, g[0], mul(c, c->peephole[0], s.c));
        g[2] = add(c, g[2], mul(c, c->peephole[2], s.c));
    }
    value_id i = activate(c, c->gate, g[0]);
    value_id f = c->coupled ? BUILD(c->b, "Sub", build_scalar(c->b, c->elem, 1), i)
                            : activate(c, c->gate, g[2]);
    value_id next = add(c, mul(c, f, s.c), mul(c, i, activate(c, c->cell, g[3])));
    if (c->peephole[1].i)
        g[1] = add(c, g[1], mul(c, c->peephole[1], next));
    value_id o = activate(c, c->gate, g[1]);
    return (struct state){mul(c, o, BUILD(c->b, c->out, next)), next};
}

struct unroll {
    struct graph *g;
    struct pass_context *c;
    struct builder b;
    node_id id;
    struct node n; // a copy: the array of nodes grows
    bool batch_first;
    bool full; // all sequences have the full length
    int64_t n_steps, batch, inputs, hidden, directions, gates;
};

static status refuse(struct unroll *u, const char *why) {
    return diag_error(u->c->diags, DIAG_NO_GRADIENT,
                      loc_path(u->g->model->path, node_path(u->g, u->id, u->c->arena)),
                      "cannot be unrolled, so it has no gradient: %s", why);
}

static bool has(const struct unroll *u, uint32_t k) {
    return k < u->n.n_in && u->n.in[k].i;
}

static value_id input(const struct unroll *u, uint32_t k) {
    return has(u, k) ? u->n.in[k] : VALUE_NONE;
}

// All sequences are known to have the full length.
static bool has_full_lengths(struct unroll *u) {
    struct shape s = {
        u->g, u->id, &u->n, u->g->model->arena, u->c->diags, model_opset(u->g->model, "")};
    int64_t *x, n;
    if (!has(u, 4))
        return true;
    if (!shape_numbers(&s, 4, &x, &n))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (x[i] != u->n_steps)
            return false;
    return true;
}

static const char *activation(struct unroll *u, int64_t k, const char *otherwise) {
    const struct attr *a = node_attr(&u->n, "activations");
    if (!a || a->kind != ATTR_STRINGS || (size_t)k >= a->n)
        return otherwise;
    const char *name =
        pool_intern_n(u->g->model->pool, (const char *)a->strings[k].at, a->strings[k].n);
    static const char *const known[] = {"Sigmoid", "Tanh", "Relu", "Softsign", "Softplus"};
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (strcasecmp(known[i], name) == 0)
            return known[i];
    return NULL;
}

static status read_node(struct unroll *u) {
    const struct type *x = graph_value(u->g, u->n.in[0])->type,
                      *r = graph_value(u->g, u->n.in[2])->type;
    if (!type_is_static(x) || !type_is_static(r) || x->rank != 3 || r->rank != 3)
        return refuse(u, "its shapes are unknown");
    u->batch_first = node_int(&u->n, "layout", 0) != 0;
    u->n_steps = x->dims[u->batch_first].size;
    u->batch = x->dims[!u->batch_first].size;
    u->inputs = x->dims[2].size;
    u->directions = r->dims[0].size;
    u->hidden = r->dims[2].size;
    u->gates = u->n.op == OP_LSTM ? 4 : u->n.op == OP_GRU ? 3 : 1;
    if (u->n_steps < 1)
        return refuse(u, "it has no time steps");
    u->full = has_full_lengths(u);
    for (int64_t k = 0; k < 3 * u->directions; k++)
        if (!activation(u, k, "Tanh"))
            return refuse(
                u, "only the activations Sigmoid, Tanh, Relu, Softsign and Softplus are supported");
    return ST_OK;
}

static struct cell make_cell(struct unroll *u, int64_t d) {
    struct builder *b = &u->b;
    int64_t h = u->hidden, wide = u->gates * h,
            per = u->n.op == OP_LSTM  ? 3
                  : u->n.op == OP_GRU ? 2
                                      : 1;
    struct cell c = {.b = b,
                     .elem = graph_value(u->g, u->n.in[0])->type->elem,
                     .hidden = h,
                     .gate = activation(u, d * per, per == 1 ? "Tanh" : "Sigmoid"),
                     .cell = activation(u, d * per + 1, "Tanh"),
                     .out = activation(u, d * per + 2, "Tanh"),
                     .reset_after = node_int(&u->n, "linear_before_reset", 0) != 0,
                     .clip = node_real(&u->n, "clip", 0),
                     .coupled = node_int(&u->n, "input_forget", 0) != 0};
    c.recurrent = transpose(b, direction(b, input(u, 2), d, (int64_t[]){wide, h}, 2));
    for (int64_t k = 0; k < 3 && u->n.op == OP_LSTM && has(u, 7); k++)
        c.peephole[k] =
            slice(b, direction(b, input(u, 7), d, (int64_t[]){1, 3 * h}, 2), 1, k * h, (k + 1) * h);
    return c;
}

// x W^T + bias for all steps at once, split into one value [batch, gates * hidden] per step.
static void input_products(struct unroll *u, struct cell *c, int64_t d, value_id x,
                           value_id *steps) {
    struct builder *b = &u->b;
    int64_t h = u->hidden, wide = u->gates * h;
    value_id w = transpose(b, direction(b, input(u, 1), d, (int64_t[]){wide, u->inputs}, 2));
    value_id all =
        BUILD(b, "MatMul", reshape(b, x, (int64_t[]){u->n_steps * u->batch, u->inputs}, 2), w);
    if (has(u, 3)) {
        value_id both = direction(b, input(u, 3), d, (int64_t[]){2 * wide}, 1);
        value_id wb = slice(b, both, 0, 0, wide), rb = slice(b, both, 0, wide, 2 * wide);
        // With reset_after, the gate also scales the recurrent bias of the candidate.
        if (u->n.op == OP_GRU && c->reset_after) {
            c->r_bias = slice(b, rb, 0, 2 * h, 3 * h);
            int64_t pad[] = {0, h};
            rb = BUILD(b, "Pad", slice(b, rb, 0, 0, 2 * h), build_ints(b, pad, 2));
        }
        all = BUILD(b, "Add", all, BUILD(b, "Add", wb, rb));
    }
    if (u->n_steps == 1)
        steps[0] = all;
    else
        build_outputs(b, "Split", VALUES(all), ATTRS(attr_int("axis", 0)), steps,
                      (uint32_t)u->n_steps);
}

static value_id zero_state(struct unroll *u, const struct cell *c) {
    double zero = 0;
    struct tensor *t = tensor_from_reals(u->g->model->arena, c->elem, &zero, (int64_t[]){1}, 1);
    struct attr value = {.name = "value", .kind = ATTR_TENSOR, .n = 1, .t = t};
    if (!t && !u->b.failed)
        u->b.failed = diag_out_of_memory(u->c->diags);
    value_id dims = build_ints(&u->b, (int64_t[]){u->batch, u->hidden}, 2);
    return build_op(&u->b, "ConstantOfShape", VALUES(dims), ATTRS(value));
}

static value_id initial(struct unroll *u, struct cell *c, uint32_t k, int64_t d) {
    int64_t dims[] = {u->batch, u->hidden};
    value_id all = input(u, k);
    if (all.i && u->batch_first)
        all = build_op(&u->b, "Transpose", VALUES(all),
                       ATTRS(attr_ints("perm", (int64_t[]){1, 0, 2}, 3)));
    return all.i ? direction(&u->b, all, d, dims, 2) : zero_state(u, c);
}

// [batch, 1]: which sequences are longer than t.
static value_id running(struct unroll *u, int64_t t) {
    value_id step =
        build_tensor(&u->b, tensor_from_ints(u->g->model->arena, ELEM_I32, &t, NULL, 0));
    value_id lengths = reshape(&u->b, u->n.in[4], (int64_t[]){u->batch, 1}, 2);
    return BUILD(&u->b, "Less", step, lengths);
}

// All steps of one direction: y[t] is the output at time t, `last` the final state.
static void run_direction(struct unroll *u, int64_t d, value_id x, value_id *y,
                          struct state *last) {
    struct cell c = make_cell(u, d);
    value_id *steps = ARENA_ARRAY(u->c->arena, value_id, u->n_steps);
    if (!steps) {
        u->b.failed = diag_out_of_memory(u->c->diags);
        return;
    }
    const char *way = node_text(u->g, &u->n, "direction", "forward");
    bool backwards = d == 1 || strcmp(way, "reverse") == 0;
    input_products(u, &c, d, x, steps);
    struct state s = {.h = initial(u, &c, 5, d)};
    if (u->n.op == OP_LSTM)
        s.c = initial(u, &c, 6, d);
    for (int64_t k = 0; k < u->n_steps && !u->b.failed; k++) {
        int64_t t = backwards ? u->n_steps - 1 - k : k;
        struct state next = u->n.op == OP_LSTM  ? lstm_step(&c, steps[t], s)
                            : u->n.op == OP_GRU ? gru_step(&c, steps[t], s)
                                                : rnn_step(&c, steps[t], s);
        y[t] = next.h;
        if (!u->full) {
            value_id on = running(u, t);
            y[t] = BUILD(&u->b, "Where", on, next.h, build_scalar(&u->b, c.elem, 0));
            next.h = BUILD(&u->b, "Where", on, next.h, s.h);
            next.c = next.c.i ? BUILD(&u->b, "Where", on, next.c, s.c) : VALUE_NONE;
        }
        s = next;
    }
    *last = s;
}

static value_id concat(struct builder *b, const value_id *parts, int64_t n, int64_t axis) {
    struct values in = {parts, (uint32_t)n};
    return n == 1 ? parts[0] : build_op(b, "Concat", in, ATTRS(attr_int("axis", axis)));
}

// Makes the result the output k of the replaced node.
static void set_output(struct unroll *u, uint32_t k, value_id built) {
    if (u->b.failed || k >= u->n.n_out || !u->n.out[k].i)
        return;
    if (!graph_add_node(u->g, "", "Identity", (struct values){&built, 1},
                        (struct values){&u->n.out[k], 1})
             .i)
        u->b.failed = diag_out_of_memory(u->c->diags);
}

// [batch, hidden] for each step and direction, as Y: [steps, directions, batch, hidden], batch
// first on request.
static value_id all_outputs(struct unroll *u, value_id *const *y) {
    int64_t dims[] = {u->n_steps, 1, u->batch, u->hidden};
    value_id parts[2];
    for (int64_t d = 0; d < u->directions; d++)
        parts[d] = reshape(&u->b, concat(&u->b, y[d], u->n_steps, 0), dims, 4);
    value_id all = concat(&u->b, parts, u->directions, 1);
    if (!u->batch_first)
        return all;
    return build_op(&u->b, "Transpose", VALUES(all),
                    ATTRS(attr_ints("perm", (int64_t[]){2, 0, 1, 3}, 4)));
}

static value_id last_state(struct unroll *u, const value_id *each) {
    int64_t dims[] = {1, u->batch, u->hidden};
    value_id parts[2];
    for (int64_t d = 0; d < u->directions; d++)
        parts[d] = reshape(&u->b, each[d], dims, 3);
    value_id all = concat(&u->b, parts, u->directions, 0);
    if (!u->batch_first)
        return all;
    return build_op(&u->b, "Transpose", VALUES(all),
                    ATTRS(attr_ints("perm", (int64_t[]){1, 0, 2}, 3)));
}

static status unroll_node(struct unroll *u) {
    status st = read_node(u);
    if (st)
        return st;
    value_id *y[2], x = u->n.in[0], h[2], c[2];
    struct state last[2];
    u->b.scope = graph_value(u->g, u->n.out[0].i ? u->n.out[0] : u->n.out[1])->name;
    if (u->batch_first)
        x = build_op(&u->b, "Transpose", VALUES(x),
                     ATTRS(attr_ints("perm", (int64_t[]){1, 0, 2}, 3)));
    for (int64_t d = 0; d < u->directions && !u->b.failed; d++) {
        if (!(y[d] = ARENA_ARRAY(u->c->arena, value_id, u->n_steps)))
            return diag_out_of_memory(u->c->diags);
        run_direction(u, d, x, y[d], &last[d]);
        h[d] = last[d].h;
        c[d] = last[d].c;
    }
    if (u->b.failed)
        return u->b.failed;
    graph_remove_node(u->g, u->id);
    if (u->n.n_out > 0 && u->n.out[0].i)
        set_output(u, 0, all_outputs(u, y));
    if (u->n.n_out > 1 && u->n.out[1].i)
        set_output(u, 1, last_state(u, h));
    if (u->n.n_out > 2 && u->n.out[2].i)
        set_output(u, 2, last_state(u, c));
    return u->b.failed;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    size_t n_order = g->order.n;
    status worst = ST_OK;
    bool any = false;
    for (size_t i = 0; i < n_order; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        if (n->op != OP_RNN && n->op != OP_GRU && n->op != OP_LSTM)
            continue;
        struct unroll u = {
            .g = g, .c = c, .b = builder_make(g, c->diags), .id = g->order.at[i], .n = *n};
        u.b.infer = shape_infer;
        status st = unroll_node(&u);
        worst = worst ? worst : st;
        any = true;
    }
    graph_sweep(g);
    return worst || !any ? worst : graph_sort(g, c->diags);
}

const struct pass pass_unroll = {
    .name = "unroll",
    .summary = "replace RNN, GRU and LSTM by one cell per time step",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .run = run,
};
