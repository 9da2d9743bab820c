// Control nodes that steer ONNX Runtime's arena (steer_search.h):
//
//     hold of t:  token' = Shape(Unsqueeze(t, token), start = 0, end = 0)
//     plug:       p = MatMulInteger(Unsqueeze(A, token), B),  token' = Shape(p, start = 0, end = 0)
//     its end:    token' = Shape(Unsqueeze(p, token), start = 0, end = 0)
//
// A token is an empty vector of integers: Unsqueeze by no axes is its operand, but available only
// after the token, and the shape from 0 to 0 is a token again. So all that acts before one node is
// a chain of tokens. It begins after the node that the search named, and the node itself reads one
// operand through Unsqueeze(operand, last token). A has M rows and no column, B no row and one
// column, M is a quarter of the bytes: ONNX Runtime allocates M integers and writes none. Nothing
// is known of the shapes before the run, so no optimization level folds any of it.
#include "passes/steer/steer_control.h"

#include <assert.h>

#include "ir/build.h"
#include "ir/keys.h"
#include "passes/shape/shape.h"

enum { PLUG_ELEMENT_BYTES = 4 };

struct control {
    struct graph *g;
    const struct steer_lanes *l;
    const struct steer_ops *ops;
    struct builder b;
    struct arena *a;
    uint32_t *place;    // by node of the given graph: its position in the file
    const node_id *old; // the given order
    value_id *plug;     // by op
};

// The types of tokens are declared, as in passes/rewrite: else nothing is known of what reads them.
static value_id declare(struct control *c, value_id v) {
    if (c->b.failed)
        return v;
    graph_value(c->g, v)->has_info = true;
    if (!VEC_PUSH(c->g->model->arena, &c->g->infos, v))
        c->b.failed = diag_out_of_memory(c->b.d);
    return v;
}

// The shape from 0 to 0.
static value_id token_of(struct control *c, value_id v) {
    struct attrs none = ATTRS(attr_int("start", 0), attr_int("end", 0));
    return declare(c, build_op(&c->b, "Shape", VALUES(v), none));
}

static value_id read_after(struct control *c, value_id v, value_id token) {
    return token_of(c, BUILD(&c->b, "Unsqueeze", v, token));
}

// A token that exists once v does: Compress selects no element.
static value_id make_token(struct control *c, value_id v) {
    const struct type *t = graph_value(c->g, v)->type;
    int64_t no = 0, one = 1, all = -1;
    struct tensor *nothing = tensor_from_ints(c->g->model->arena, ELEM_BOOL, &no, &one, 1);
    if (t->rank == 0)
        v = BUILD(&c->b, "Reshape", v, build_ints(&c->b, &all, 1));
    v = declare(c, BUILD(&c->b, "Compress", v, build_tensor(&c->b, nothing)));
    if (t->elem == ELEM_I64)
        return v;
    return declare(c, build_op(&c->b, "Cast", VALUES(v), ATTRS(attr_int("to", ELEM_I64))));
}

// The token that passes/rewrite has made from a value, if the file has it before `user`. A second
// one would be a second reader of the value, at a time that nothing fixes.
static value_id find_token(const struct control *c, value_id v, node_id user) {
    const struct graph *g = c->g;
    value_id none = VALUE_NONE;
    for (size_t i = 0; i + 1 < c->place[user.i]; i++) {
        const struct node *n = graph_node(g, c->old[i]);
        if (n->op == OP_Compress && value_same(n->in[0], v) && !node_attr(n, "axis")) {
            none = n->out[0];
            if (graph_value(g, none)->type->elem == ELEM_I64)
                return none;
        }
        if (n->op == OP_Cast && none.i && value_same(n->in[0], none) &&
            node_int(n, "to", 0) == ELEM_I64)
            return n->out[0];
    }
    return VALUE_NONE;
}

// A token that exists after the value; after none: from the start of the step.
static value_id first_token(struct control *c, const struct steer_gap *gap) {
    if (gap->after.i) {
        value_id token = find_token(c, gap->after, gap->user);
        return token.i ? token : make_token(c, gap->after);
    }
    for (size_t i = 0; i < c->g->inputs.n; i++) {
        const struct value *v = graph_value(c->g, c->g->inputs.at[i]);
        if (!v->init && v->type && steer_can_follow(v->type))
            return make_token(c, c->g->inputs.at[i]);
    }
    return VALUE_NONE;
}

// A constant without elements.
static value_id empty_matrix(struct control *c, int64_t rows, int64_t columns) {
    int64_t dims[] = {rows, columns};
    return build_tensor(&c->b, tensor_from_ints(c->g->model->arena, ELEM_U8, NULL, dims, 2));
}

static value_id add_plug(struct control *c, uint32_t op, value_id token) {
    value_id a = empty_matrix(c, c->ops->list.at[op].n_bytes / PLUG_ELEMENT_BYTES, 0);
    a = BUILD(&c->b, "Unsqueeze", a, token);
    c->plug[op] = BUILD(&c->b, "MatMulInteger", a, empty_matrix(c, 0, 1));
    return token_of(c, c->plug[op]);
}

static value_id act(struct control *c, uint32_t k, value_id token) {
    const struct steer_op *op = &c->ops->list.at[k];
    switch (op->kind) {
    case STEER_PLUG:
        return add_plug(c, k, token);
    case STEER_FREE: // the token of a plug ends it, if nothing was done in between
        return op->plug + 1 == k && c->ops->list.at[op->plug].gap == op->gap
                   ? token
                   : read_after(c, c->plug[op->plug], token);
    case STEER_HOLD:
        break;
    }
    return read_after(c, op->value, token);
}

// The ops from `k` on that act at one gap; returns the op after them.
static uint32_t steer_gap(struct control *c, uint32_t k) {
    uint32_t number = c->ops->list.at[k].gap;
    const struct steer_gap *gap = &c->l->gaps[number];
    value_id token = first_token(c, gap);
    for (; k < c->ops->list.n && c->ops->list.at[k].gap == number; k++)
        token = token.i ? act(c, k, token) : token;
    if (!token.i)
        return k;
    value_id alias =
        BUILD(&c->b, "Unsqueeze", graph_node(c->g, gap->user)->in[gap->operand], token);
    if (alias.i)
        graph_node(c->g, gap->user)->in[gap->operand] = alias;
    return k;
}

static bool label(struct control *c, size_t from) {
    struct arena *a = c->g->model->arena;
    for (size_t i = from; i < c->g->nodes.n; i++) {
        struct node *n = &c->g->nodes.at[i];
        n->cost = 0;
        if (!pairs_set(&n->metadata, a, KEY_ROLE, "control"))
            return false;
    }
    return true;
}

// New nodes were added at the end of the order, place by place; each group goes before its node.
static bool insert(struct control *c, size_t n_old, const size_t *end_of) {
    const node_id *old = arena_copy(c->a, c->g->order.at, c->g->order.n * sizeof *old);
    size_t n = 0;
    if (!old)
        return false;
    for (size_t i = 0; i < n_old; i++) {
        size_t from = end_of[2 * old[i].i], to = end_of[2 * old[i].i + 1];
        for (size_t k = from; k < to; k++)
            c->g->order.at[n++] = old[k];
        c->g->order.at[n++] = old[i];
    }
    return true;
}

status steer_control(struct graph *g, const struct steer_lanes *l, const struct steer_ops *ops,
                     struct arena *a, struct diags *d) {
    size_t n_nodes = g->nodes.n, n_old = g->order.n;
    struct control c = {.g = g,
                        .l = l,
                        .ops = ops,
                        .b = builder_make(g, d),
                        .a = a,
                        .old = arena_copy(a, g->order.at, n_old * sizeof(node_id)),
                        .place = ARENA_ARRAY(a, uint32_t, n_nodes),
                        .plug = ARENA_ARRAY(a, value_id, ops->list.n + 1)};
    size_t *groups = ARENA_ARRAY(a, size_t, 2 * n_nodes); // by node: where its group begins, ends
    if (!c.old || !c.place || !c.plug || !groups)
        return diag_out_of_memory(d);
    c.b.scope = "control"; // as passes/rewrite names its own
    c.b.numbers = true;
    c.b.infer = shape_infer;
    for (size_t i = 0; i < n_old; i++)
        c.place[g->order.at[i].i] = (uint32_t)i + 1;
    for (uint32_t k = 0; k < ops->list.n && !c.b.failed;) {
        uint32_t user = l->gaps[ops->list.at[k].gap].user.i;
        groups[2 * user] = g->order.n;
        k = steer_gap(&c, k);
        groups[2 * user + 1] = g->order.n;
    }
    if (c.b.failed)
        return c.b.failed;
    return label(&c, n_nodes) && insert(&c, n_old, groups) ? ST_OK : diag_out_of_memory(d);
}
