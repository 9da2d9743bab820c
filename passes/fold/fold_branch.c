// A decided branch: an If whose condition is a constant, or known by shape arithmetic, is replaced
// by the nodes of the branch that runs.
#include "passes/fold/fold.h"
#include "passes/shape/shape.h"

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

status fold_branch(struct fold *f, node_id id, bool *done) {
    struct graph *g = f->g;
    struct node n = *graph_node(g, id);
    const struct attr *taken = taken_branch(f, &n);
    if (!taken)
        return ST_OK;
    const struct graph *branch = taken->g;
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
    for (uint32_t k = 0; k < n.n_out && !st; k++)
        st = fold_set_output(f, &n, k, s.now[branch->outputs.at[k].i]);
    f->n_folded++;
    *done = f->again = true;
    return st;
}
