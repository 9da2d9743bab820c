// Constant folding. Stages: Constant nodes become initializers; Identity of an initializer is
// replaced by the initializer (exporters tie equal parameters in this way, and they are one
// parameter); nodes whose outputs shape arithmetic knows, or that compute a few numbers from
// constants, become initializers; Identity in general, Dropout that drops nothing, Pad that adds
// nothing and Cast to the same type are removed; an If with a known condition is replaced by its
// branch. Nodes that are dead afterwards are left to dce.
#include <string.h>

#include "ir/base/limits.h"
#include "ir/splice.h"
#include "passes/fold_reals.h"
#include "passes/param/param_roles.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

struct fold {
    struct model *m;
    struct graph *g;
    struct pass_context *c;
    bool *captured;                 // per value: a subgraph reads it
    value_id *now;                  // per value: its replacement
    size_t n_values;                // of `now` and `roles`
    const struct param_role *roles; // of the results of Constant nodes
    int64_t n_folded;
};

static value_id current(const struct fold *f, value_id v) {
    while (v.i < f->n_values && !value_same(f->now[v.i], v))
        v = f->now[v.i];
    return v;
}

static status make_init(struct fold *f, value_id v, struct tensor *t, bool constant) {
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
    return make_init(f, n->out[0], t, !is_parameter);
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
        st = make_init(
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
    return make_init(f, n->in[2], tensor_from_reals(f->m->arena, ELEM_F32, x, &count, 1), true);
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

static const struct attr *taken_branch(const struct fold *f, const struct node *n) {
    const struct value *v = n->op == OP_If && n->n_in == 1 ? graph_value(f->g, n->in[0]) : NULL;
    int64_t count, *x, taken;
    if (!v)
        return NULL;
    if (v->content && v->content[0].known)
        taken = v->content[0].x;
    else if (v->init && !v->is_input && tensor_elements(v->init, &count) && count == 1 &&
             tensor_has_ints(v->init) && v->init->data.source &&
             !tensor_ints(v->init, f->c->arena, f->c->diags, &x))
        taken = x[0];
    else
        return NULL;
    const struct attr *a = node_attr(n, taken ? "then_branch" : "else_branch");
    return a && a->kind == ATTR_GRAPH && a->g->outputs.n == n->n_out ? a : NULL;
}

// Copies the branch into the graph, and makes its results those of the If.
static status inline_branch(struct fold *f, node_id id, const struct graph *branch) {
    struct graph *g = f->g;
    struct node n = *graph_node(g, id);
    struct splice s = {
        .to = g, .from = branch, .now = ARENA_ARRAY(f->c->arena, value_id, branch->values.n)};
    if (!s.now)
        return diag_out_of_memory(f->c->diags);
    graph_remove_node(g, id);
    status st = splice_values(&s, f->c->diags);
    for (size_t i = 0; i < branch->order.n && !st; i++) {
        node_id copy;
        st = splice_node(&s, branch->order.at[i], f->c->diags, &copy);
        if (!st && !VEC_PUSH(g->model->arena, &g->order, copy))
            st = diag_out_of_memory(f->c->diags);
    }
    for (uint32_t k = 0; k < n.n_out && !st; k++) {
        value_id result = s.now[branch->outputs.at[k].i];
        if (n.out[k].i && !graph_add_node(g, "", "Identity", (struct values){&result, 1},
                                          (struct values){&n.out[k], 1})
                               .i)
            st = diag_out_of_memory(f->c->diags);
    }
    f->n_folded++;
    return st;
}

static void mark_captured(void *to, value_id v, node_id user) {
    (void)user;
    ((bool *)to)[v.i] = true;
}

// One walk in order. *again: branches were inlined, whose nodes need types and folding too.
static status walk(struct fold *f, bool *again) {
    struct graph *g = f->g;
    size_t n_order = g->order.n;
    status st = ST_OK;
    for (size_t i = 0; i < n_order && !st; i++) {
        node_id id = g->order.at[i];
        struct node *n = graph_node(g, id);
        for (uint32_t k = 0; k < n->n_in; k++)
            n->in[k] = current(f, n->in[k]);
        const struct attr *branch = taken_branch(f, n);
        struct tensor *t;
        st = fold_scales(f, n);
        if (st)
            break;
        if (is_foldable_constant(n)) {
            st = fold_constant(f, id);
        } else if (branch) {
            *again = true;
            st = inline_branch(f, id, branch->g);
        } else if (has_known_outputs(f, n)) {
            st = fold_known(f, id);
        } else if (fold_reals(g, n, f->m->arena, f->c->arena, &t)) {
            value_id v = n->out[0];
            graph_remove_node(g, id);
            f->n_folded++;
            st = make_init(f, v, t, true);
        } else if (is_identity(f, n)) {
            f->now[n->out[0].i] = n->in[0];
            graph_remove_node(g, id);
            f->n_folded++;
        }
    }
    graph_sweep(g);
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    struct fold f = {.m = m, .g = m->graph, .c = c};
    bool again = true;
    status st = ST_OK;
    while (again && !st) {
        again = false;
        f.n_values = m->graph->values.n;
        f.now = ARENA_ARRAY(c->arena, value_id, f.n_values);
        f.captured = ARENA_ARRAY(c->arena, bool, f.n_values);
        f.roles = param_roles(m->graph, c->arena);
        if (!f.now || !f.captured || !f.roles)
            return diag_out_of_memory(c->diags);
        for (uint32_t v = 0; v < f.n_values; v++)
            f.now[v] = (value_id){v};
        for (size_t i = 0; i < m->graph->order.n; i++)
            node_captured(m->graph, m->graph->order.at[i], mark_captured, f.captured);
        st = walk(&f, &again);
        if (!st && again && !(st = graph_sort(m->graph, c->diags)))
            for (size_t i = 0; i < m->graph->order.n && !st; i++)
                st = shape_infer(m->graph, m->graph->order.at[i], c->diags);
    }
    pass_progress(c, "fold: %lld nodes folded", (long long)f.n_folded);
    return st;
}

const struct pass pass_fold = {
    .name = "fold",
    .summary = "fold constants, shape arithmetic and decided branches",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .run = run,
};
