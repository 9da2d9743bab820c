// Simplification. Rewrites that ONNX Runtime makes at its optimization level basic, so that a step
// runs as it was planned at every level, and the last one for memory:
//
//   - of nodes that compute the same, the first remains;
//   - two Transposes in a row become one, or none;
//   - a Transpose that is split and squeezed along one dimension moves behind the Squeezes, where
//     it meets the next Transpose (the heads of an attention layer);
//   - arithmetic reads the operand of an Expand that the other operand broadcasts anyway.
//
// One walk in order.
#include <string.h>

#include "ir/base/limits.h"
#include "ir/build.h"
#include "passes/expression.h"
#include "passes/pass.h"
#include "passes/shape/shape.h"

struct simplify {
    struct graph *g;
    struct pass_context *c;
    struct uses uses;       // before the walk
    value_id *now;          // by value before the walk: its replacement
    bool *is_kept;          // by value: it has readers that are not in `uses`, or in a subgraph
    size_t n_values;        // before the walk
    struct map expressions; // key of a node -> the first node of this key
    struct builder b;
    int64_t n_merged, n_transposes, n_expands;
};

static value_id current(const struct simplify *s, value_id v) {
    while (v.i < s->n_values && !value_same(s->now[v.i], v))
        v = s->now[v.i];
    return v;
}

static void mark_captured(void *to, value_id v, node_id user) {
    (void)user;
    ((bool *)to)[v.i] = true;
}

// Whether readers can read another value in its place. An output keeps its name.
static bool is_replaceable(const struct simplify *s, value_id v) {
    return v.i < s->n_values && !s->is_kept[v.i] && !graph_value(s->g, v)->is_output;
}

static void replace(struct simplify *s, value_id v, value_id by) {
    s->now[v.i] = by;
    if (by.i < s->n_values)
        s->is_kept[by.i] = true;
}

// Removes a node that is equal to an earlier one.
static bool merge(struct simplify *s, node_id id) {
    const struct node *n = graph_node(s->g, id);
    struct str key = str_make(s->c->arena);
    int64_t found;
    if (!expression_add(s->g, n, &key) && !key.failed)
        return false;
    bool is_new = key.failed || !map_get(&s->expressions, key.at, key.n, &found) ||
                  graph_node(s->g, (node_id){(uint32_t)found})->removed;
    if (is_new) {
        if (key.failed || !map_put(&s->expressions, key.at, key.n, id.i))
            s->b.failed = diag_out_of_memory(s->c->diags);
        return false;
    }
    const struct node *first = graph_node(s->g, (node_id){(uint32_t)found});
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i && (!is_replaceable(s, n->out[k]) || k >= first->n_out || !first->out[k].i))
            return false;
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i)
            replace(s, n->out[k], first->out[k]);
    graph_remove_node(s->g, id);
    s->n_merged++;
    return true;
}

struct perm {
    int64_t to[LIMIT_RANK];
    int32_t rank;
};

// A Transpose; false: another node.
static bool read_perm(const struct graph *g, const struct node *n, struct perm *p) {
    const struct attr *at = node_attr(n, "perm");
    const struct type *t = n->n_in ? graph_value(g, n->in[0])->type : NULL;
    if (n->op != OP_Transpose || !t || !t->has_shape || t->rank < 1 ||
        (at && at->n != (size_t)t->rank))
        return false;
    p->rank = t->rank;
    for (int32_t i = 0; i < p->rank; i++)
        p->to[i] = at ? at->ints[i] : p->rank - 1 - i;
    return true;
}

static bool is_identity(const struct perm *p) {
    for (int32_t i = 0; i < p->rank; i++)
        if (p->to[i] != i)
            return false;
    return true;
}

static const struct node *producer(const struct graph *g, value_id v) {
    node_id def = v.i ? graph_value(g, v)->def : NODE_NONE;
    return def.i ? graph_node(g, def) : NULL;
}

// A Transpose reads what the Transpose before it reads; one that moves nothing goes.
static void join_transposes(struct simplify *s, node_id id) {
    struct perm p, q;
    struct node *n = graph_node(s->g, id);
    if (!read_perm(s->g, n, &p))
        return;
    const struct node *before = producer(s->g, n->in[0]);
    if (before && read_perm(s->g, before, &q)) {
        for (int32_t i = 0; i < p.rank; i++)
            p.to[i] = q.to[p.to[i]];
        n->in[0] = before->in[0];
        const int64_t *to = arena_copy(s->g->model->arena, p.to, (size_t)p.rank * sizeof *to);
        if (!to || !graph_set_attr(s->g, id, attr_ints("perm", to, (size_t)p.rank)))
            s->b.failed = diag_out_of_memory(s->c->diags);
        s->n_transposes++;
    }
    if (is_identity(&p) && is_replaceable(s, n->out[0])) {
        replace(s, n->out[0], n->in[0]);
        graph_remove_node(s->g, id);
    }
}

// The only reader of a value of the graph as it was; none: there are others.
static node_id sole_reader(const struct simplify *s, value_id v) {
    const struct uses *u = &s->uses;
    bool sole = is_replaceable(s, v) && u->start[v.i + 1] - u->start[v.i] == 1;
    return sole ? u->node[u->start[v.i]] : NODE_NONE;
}

// Whether the node squeezes one dimension: `axis`.
static bool squeezes(const struct simplify *s, node_id id, int64_t axis) {
    const struct node *n = id.i ? graph_node(s->g, id) : NULL;
    const struct value *axes =
        n && n->op == OP_Squeeze && n->n_in == 2 ? graph_value(s->g, n->in[1]) : NULL;
    const struct type *t = axes ? graph_value(s->g, n->in[0])->type : NULL;
    int64_t count, *x;
    return t && t->has_shape && axes->init && !axes->is_input && axes->init->data.source &&
           tensor_elements(axes->init, &count) && count == 1 &&
           !tensor_ints(axes->init, s->c->arena, s->c->diags, &x) &&
           (x[0] < 0 ? x[0] + t->rank : x[0]) == axis;
}

// Squeeze k of the Split reads a dimension of the operand; a Transpose of the rest follows it.
static void move_behind(struct simplify *s, node_id squeeze, const struct perm *p, int64_t axis) {
    struct node n = *graph_node(s->g, squeeze);
    struct perm rest = {.rank = p->rank - 1};
    for (int32_t i = 0, k = 0; i < p->rank; i++)
        if (i != axis)
            rest.to[k++] = p->to[i] - (p->to[i] > p->to[axis]);
    value_id axes = build_ints(&s->b, &p->to[axis], 1);
    value_id x = s->b.failed ? VALUE_NONE : BUILD(&s->b, "Squeeze", n.in[0], axes);
    value_id y = s->b.failed ? VALUE_NONE
                             : build_op(&s->b, "Transpose", VALUES(x),
                                        ATTRS(attr_ints("perm", rest.to, (size_t)rest.rank)));
    if (s->b.failed)
        return;
    replace(s, n.out[0], y);
    graph_remove_node(s->g, squeeze);
}

// Transpose -> Split -> Squeeze of the same dimension.
static void move_transpose(struct simplify *s, node_id id) {
    struct node *n = graph_node(s->g, id);
    struct perm p;
    const struct node *before = n->op == OP_Split ? producer(s->g, n->in[0]) : NULL;
    if (!before || !read_perm(s->g, before, &p) || p.rank < 2 || !sole_reader(s, n->in[0]).i)
        return;
    int64_t axis = node_int(n, "axis", 0);
    axis += axis < 0 ? p.rank : 0;
    for (uint32_t k = 0; k < n->n_out; k++)
        if (axis < 0 || axis >= p.rank || !squeezes(s, sole_reader(s, n->out[k]), axis) ||
            !is_replaceable(s, graph_node(s->g, sole_reader(s, n->out[k]))->out[0]))
            return;
    value_id transposed = n->in[0];
    n->in[0] = before->in[0];
    graph_remove_node(s->g, graph_value(s->g, transposed)->def);
    for (uint32_t k = 0; k < n->n_out; k++)
        graph_value(s->g, n->out[k])->type = NULL;
    if (!graph_set_attr(s->g, id, attr_int("axis", p.to[axis])))
        s->b.failed = diag_out_of_memory(s->c->diags);
    if (!s->b.failed)
        s->b.failed = shape_infer(s->g, id, s->c->diags);
    uint32_t n_out = graph_node(s->g, id)->n_out;
    for (uint32_t k = 0; k < n_out && !s->b.failed; k++) {
        s->b.scope = graph_value(s->g, graph_node(s->g, id)->out[k])->name;
        move_behind(s, sole_reader(s, graph_node(s->g, id)->out[k]), &p, axis);
    }
    s->n_transposes++;
}

static bool same_shape(const struct type *a, const struct type *b) {
    bool same = a && b && type_is_static(a) && type_is_static(b) && a->rank == b->rank;
    for (int32_t i = 0; same && i < a->rank; i++)
        same = a->dims[i].size == b->dims[i].size;
    return same;
}

// Arithmetic broadcasts by itself: it reads what was expanded, if another operand gives the shape.
static void skip_expand(struct simplify *s, node_id id) {
    struct node *n = graph_node(s->g, id);
    if ((n->op != OP_Add && n->op != OP_Sub && n->op != OP_Mul && n->op != OP_Div) || n->n_in != 2)
        return;
    for (uint32_t k = 0; k < 2; k++) {
        const struct node *before = producer(s->g, n->in[k]);
        if (before && before->op == OP_Expand &&
            same_shape(graph_value(s->g, n->out[0])->type, graph_value(s->g, n->in[1 - k])->type)) {
            n->in[k] = before->in[0];
            s->n_expands++;
        }
    }
}

static void simplify_node(struct simplify *s, node_id id) {
    struct node *n = graph_node(s->g, id);
    if (n->removed)
        return;
    for (uint32_t k = 0; k < n->n_in; k++)
        n->in[k] = current(s, n->in[k]);
    skip_expand(s, id);
    if (merge(s, id))
        return;
    move_transpose(s, id);
    join_transposes(s, id);
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    struct arena *a = c->arena;
    struct simplify s = {.g = g,
                         .c = c,
                         .now = ARENA_ARRAY(a, value_id, g->values.n),
                         .is_kept = ARENA_ARRAY(a, bool, g->values.n),
                         .n_values = g->values.n,
                         .expressions = map_make(a),
                         .b = builder_make(g, c->diags)};
    s.b.infer = shape_infer;
    if (!s.now || !s.is_kept || !graph_uses(g, a, &s.uses))
        return diag_out_of_memory(c->diags);
    for (uint32_t v = 0; v < s.n_values; v++)
        s.now[v] = (value_id){v};
    for (size_t i = 0; i < g->order.n; i++)
        node_captured(g, g->order.at[i], mark_captured, s.is_kept);
    size_t n = g->order.n;
    node_id *order = arena_copy(a, g->order.at, n * sizeof *order);
    for (size_t i = 0; i < n && order && !s.b.failed; i++)
        simplify_node(&s, order[i]);
    graph_sweep(g);
    status st = order ? s.b.failed : diag_out_of_memory(c->diags);
    if (!st)
        st = graph_sort(g, c->diags);
    pass_progress(c,
                  "simplify: %lld equal nodes merged, %lld transposes joined or moved, %lld "
                  "expansions skipped",
                  (long long)s.n_merged, (long long)s.n_transposes, (long long)s.n_expands);
    return st;
}

const struct pass pass_simplify = {
    .name = "simplify",
    .summary = "merge equal nodes and join transposes, as ONNX Runtime does",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .run = run,
};
