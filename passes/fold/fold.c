// Constant folding. Stages: Constant nodes become initializers; Identity of an initializer is
// replaced by the initializer (exporters tie equal parameters in this way, and they are one
// parameter); nodes whose outputs shape arithmetic knows, or that compute a few numbers from
// constants, become initializers; Identity in general, Dropout that drops nothing, Pad that adds
// nothing and Cast to the same type are removed; an If with a known condition is replaced by its
// branch (fold_branch.c), loops of known length by copies of their body (fold_loop.c), operators on
// known sequences by tensors (fold_sequence.c). Nodes that are dead afterwards are left to dce.
#include "passes/fold/fold.h"

#include <string.h>

#include "ir/base/limits.h"
#include "ir/build.h"
#include "passes/fold/fold_reals.h"
#include "passes/shape/shape.h"

value_id fold_current(const struct fold *f, value_id v) {
    while (v.i < f->n_values && !value_same(f->now[v.i], v))
        v = f->now[v.i];
    return v;
}

status fold_make_init(struct fold *f, value_id v, struct tensor *t, bool constant) {
    struct value *x = graph_value(f->g, v);
    if (!t || !graph_add_init(f->g, v, t))
        return diag_out_of_memory(f->c->diags);
    x->is_constant = constant;
    t->name = x->name;
    x->def = NODE_NONE;
    return ST_OK;
}

// The tensor of a Constant node, from whichever of its attributes holds it.
static struct tensor *constant_tensor(struct fold *f, const struct node *n) {
    struct arena *a = f->m->arena;
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        const struct attr *at = &n->attrs[i];
        int64_t count = (int64_t)at->n;
        if (at->kind == ATTR_TENSOR)
            return arena_copy(a, at->t, sizeof *at->t);
        if (at->kind == ATTR_INT)
            return tensor_from_ints(a, ELEM_I64, &at->i, NULL, 0);
        if (at->kind == ATTR_INTS)
            return tensor_from_ints(a, ELEM_I64, at->ints, &count, 1);
        if (at->kind == ATTR_FLOAT)
            return tensor_from_reals(a, ELEM_F32, &(double){(double)at->f}, NULL, 0);
        if (at->kind == ATTR_FLOATS) {
            double *x = ARENA_ARRAY(a, double, at->n);
            for (size_t k = 0; x && k < at->n; k++)
                x[k] = (double)at->floats[k];
            return x ? tensor_from_reals(a, ELEM_F32, x, &count, 1) : NULL;
        }
    }
    return NULL;
}

static bool is_foldable_constant(const struct node *n) {
    enum attr_kind k = n->n_attrs == 1 && !n->attrs[0].ref ? n->attrs[0].kind : ATTR_NONE;
    return n->op == OP_Constant && (k == ATTR_TENSOR || k == ATTR_INT || k == ATTR_INTS ||
                                    k == ATTR_FLOAT || k == ATTR_FLOATS);
}

static status fold_constant(struct fold *f, node_id id) {
    struct node *n = graph_node(f->g, id);
    struct tensor *t = constant_tensor(f, n);
    // Some exporters store parameters in Constant nodes.
    bool is_parameter = f->roles[n->out[0].i].kind == PARAM_PARAMETER;
    graph_remove_node(f->g, id);
    f->n_folded++;
    return fold_make_init(f, n->out[0], t, !is_parameter);
}

// Shape arithmetic knows all elements of all outputs.
static bool has_known_outputs(const struct fold *f, const struct node *n) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        const struct value *v = graph_value(f->g, n->out[k]);
        int64_t count;
        if (!n->out[k].i)
            continue;
        if (!v->content || !type_elements(v->type, &count) || elem_bits(v->type->elem) < 8 ||
            elem_is_float(v->type->elem)) // floats may depend on parameters
            return false;
        for (int64_t i = 0; i < count; i++)
            if (!v->content[i].known)
                return false;
    }
    return n->n_out > 0;
}

static status fold_known(struct fold *f, node_id id) {
    const struct node *n = graph_node(f->g, id);
    status st = ST_OK;
    graph_remove_node(f->g, id);
    f->n_folded++;
    for (uint32_t k = 0; k < n->n_out && !st; k++) {
        const struct value *v = graph_value(f->g, n->out[k]);
        int64_t count, dims[LIMIT_RANK];
        if (!n->out[k].i || !type_elements(v->type, &count))
            continue;
        int64_t *x = ARENA_ARRAY(f->m->arena, int64_t, count);
        for (int64_t i = 0; x && i < count; i++)
            x[i] = v->content[i].x;
        for (int32_t i = 0; i < v->type->rank; i++)
            dims[i] = v->type->dims[i].size;
        st = fold_make_init(
            f, n->out[k],
            x ? tensor_from_ints(f->m->arena, v->type->elem, x, dims, v->type->rank) : NULL, true);
    }
    return st;
}

// Scales of a Resize that are concatenated from constants are a constant that is not trained.
static status fold_scales(struct fold *f, const struct node *n) {
    node_id from = n->op == OP_Resize && n->n_in > 2 ? graph_value(f->g, n->in[2])->def : NODE_NONE;
    struct shape s = {.g = f->g, .n = n, .a = f->c->arena, .d = f->c->diags};
    int64_t count;
    double *x;
    if (!from.i || graph_node(f->g, from)->op != OP_Concat || !shape_reals(&s, 2, &x, &count))
        return ST_OK;
    graph_remove_node(f->g, from);
    f->n_folded++;
    return fold_make_init(f, n->in[2], tensor_from_reals(f->m->arena, ELEM_F32, x, &count, 1),
                          true);
}

// Dropout is the identity outside of training mode, and with ratio 0.
static bool drops_nothing(const struct fold *f, const struct node *n) {
    if (n->op != OP_Dropout)
        return false;
    int64_t count;
    const struct value *mode = n->n_in > 2 && n->in[2].i ? graph_value(f->g, n->in[2]) : NULL;
    const struct value *ratio = n->n_in > 1 && n->in[1].i ? graph_value(f->g, n->in[1]) : NULL;
    int64_t *training;
    double *p;
    if (n->n_out > 1 && n->out[1].i)
        return false; // the mask may be read
    if (!mode)
        return true;
    if (mode->init && !mode->is_input && tensor_elements(mode->init, &count) && count == 1 &&
        tensor_has_ints(mode->init) &&
        !tensor_ints(mode->init, f->c->arena, f->c->diags, &training) && !training[0])
        return true;
    return ratio && ratio->init && !ratio->is_input && tensor_elements(ratio->init, &count) &&
           count == 1 && !tensor_reals(ratio->init, f->c->arena, f->c->diags, &p) && p[0] == 0;
}

static bool pads_nothing(const struct fold *f, const struct node *n) {
    const struct value *pads =
        n->op == OP_Pad && n->n_in > 1 && n->in[1].i ? graph_value(f->g, n->in[1]) : NULL;
    int64_t count, *x;
    if (!pads || !pads->init || pads->is_input || !pads->init->data.source ||
        !tensor_has_ints(pads->init) || !tensor_elements(pads->init, &count) ||
        tensor_ints(pads->init, f->c->arena, f->c->diags, &x))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (x[i])
            return false;
    return true;
}

static bool casts_nothing(const struct fold *f, const struct node *n) {
    const struct type *from = n->op == OP_Cast ? graph_value(f->g, n->in[0])->type : NULL;
    return from && from->kind == TYPE_TENSOR && node_int(n, "to", ELEM_NONE) == (int64_t)from->elem;
}

// The output equals the input, so that readers can read the input. An output of the graph keeps its
// node, because its name must stay; so does what a subgraph captures.
static bool is_identity(const struct fold *f, const struct node *n) {
    return (n->op == OP_Identity || drops_nothing(f, n) || pads_nothing(f, n) ||
            casts_nothing(f, n)) &&
           !f->captured[n->out[0].i] && !graph_value(f->g, n->out[0])->is_output &&
           graph_value(f->g, n->in[0])->type &&
           graph_value(f->g, n->in[0])->type->kind == TYPE_TENSOR;
}

status fold_set_output(struct fold *f, const struct node *n, uint32_t k, value_id result) {
    if (!n->out[k].i || !result.i)
        return ST_OK;
    bool ok = graph_add_node(f->g, "", "Identity", VALUES(result), VALUES(n->out[k])).i != 0;
    return ok ? ST_OK : diag_out_of_memory(f->c->diags);
}

struct builder fold_builder(struct fold *f, const char *scope) {
    struct builder b = builder_make(f->g, f->c->diags);
    b.infer = shape_infer;
    b.scope = scope;
    return b;
}

static void mark_captured(void *to, value_id v, node_id user) {
    (void)user;
    ((bool *)to)[v.i] = true;
}

// Removes a node, or replaces its outputs by constants.
static status fold_node(struct fold *f, node_id id) {
    struct graph *g = f->g;
    struct node *n = graph_node(g, id);
    struct tensor *t;
    if (is_foldable_constant(n))
        return fold_constant(f, id);
    if (has_known_outputs(f, n))
        return fold_known(f, id);
    if (fold_reals(g, n, f->m->arena, f->c->arena, &t)) {
        value_id v = n->out[0];
        graph_remove_node(g, id);
        f->n_folded++;
        return fold_make_init(f, v, t, true);
    }
    if (is_identity(f, n)) {
        f->now[n->out[0].i] = n->in[0];
        graph_remove_node(g, id);
        f->n_folded++;
    }
    return ST_OK;
}

// One walk in order.
static status walk(struct fold *f) {
    struct graph *g = f->g;
    size_t n_order = g->order.n;
    node_id *order = arena_copy(f->c->arena, g->order.at, n_order * sizeof *order);
    status st = order ? ST_OK : diag_out_of_memory(f->c->diags);
    for (size_t i = 0; i < n_order && !st; i++) {
        node_id id = order[i];
        struct node *n = graph_node(g, id);
        if (n->removed)
            continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            n->in[k] = fold_current(f, n->in[k]);
        bool done = false;
        st = fold_scales(f, n);
        st = st || done ? st : fold_branch(f, id, &done);
        st = st || done ? st : fold_loop(f, id, &done);
        st = st || done ? st : fold_on_list(f, id, &done);
        st = st || done ? st : fold_node(f, id);
    }
    graph_sweep(g);
    return st;
}

static bool make_arrays(struct fold *f) {
    struct arena *a = f->c->arena;
    f->n_values = f->g->values.n;
    f->now = ARENA_ARRAY(a, value_id, f->n_values);
    f->captured = ARENA_ARRAY(a, bool, f->n_values);
    f->sequences = ARENA_ARRAY(a, const struct fold_sequence *, f->n_values);
    f->roles = param_roles(f->g, a);
    if (!f->now || !f->captured || !f->sequences || !f->roles)
        return false;
    for (uint32_t v = 0; v < f->n_values; v++)
        f->now[v] = (value_id){v};
    for (size_t i = 0; i < f->g->order.n; i++)
        node_captured(f->g, f->g->order.at[i], mark_captured, f->captured);
    return true;
}

static status run(struct model *m, struct pass_context *c) {
    struct fold f = {.m = m, .g = m->graph, .c = c, .again = true};
    status st = ST_OK;
    while (f.again && !st) {
        f.again = false;
        if (!make_arrays(&f))
            return diag_out_of_memory(c->diags);
        st = walk(&f);
        if (!st && f.again && !(st = graph_sort(m->graph, c->diags)))
            for (size_t i = 0; i < m->graph->order.n && !st; i++)
                st = shape_infer(m->graph, m->graph->order.at[i], c->diags);
    }
    pass_progress(c, "fold: %lld nodes folded", (long long)f.n_folded);
    return st;
}

const struct pass pass_fold = {
    .name = "fold",
    .summary = "fold constants, shape arithmetic, decided branches, loops of known length",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .run = run,
};
