// The pass `recognize`: finds what exporters spell out, before gradients are made. The gradient of
// one operator keeps its operand, while the gradients of its parts keep the result of every part.
// One walk in order; nodes that a pattern builds stand before its last node. After gradients are
// made, the pass `expand` writes out the operators that the model's opset lacks.
#include "passes/recognize/recognize.h"

#include <math.h>

#include "passes/shape/shape.h"

static recognize_rule *const rules[] = {recognize_gate, recognize_linear, recognize_norm};

const struct type *recognize_type(const struct recognize *r, value_id v) {
    const struct type *t = v.i ? graph_value(r->g, v)->type : NULL;
    return t && type_is_static(t) ? t : NULL;
}

const struct node *recognize_made_by(const struct recognize *r, value_id v, enum op op) {
    node_id def = v.i ? graph_value(r->g, v)->def : NODE_NONE;
    const struct node *n = def.i ? graph_node(r->g, def) : NULL;
    return n && n->op == op ? n : NULL;
}

bool recognize_read_once(const struct recognize *r, value_id v) {
    return v.i && v.i < r->n_values && !graph_value(r->g, v)->is_output &&
           r->uses.start[v.i + 1] - r->uses.start[v.i] == 1;
}

bool recognize_number(const struct recognize *r, value_id v, double *x) {
    const struct value *at = v.i ? graph_value(r->g, v) : NULL;
    int64_t n;
    double *all;
    if (!at || !at->init || at->is_input || !elem_is_float(at->init->elem) ||
        !tensor_elements(at->init, &n) || n != 1 || !at->init->data.source ||
        tensor_reals(at->init, r->a, r->d, &all))
        return false;
    *x = all[0];
    return true;
}

bool recognize_close(double a, double b) {
    return fabs(a - b) <= 1e-4 * fabs(b);
}

value_id recognize_beside(const struct recognize *r, value_id sum, double x) {
    const struct node *n = recognize_made_by(r, sum, OP_Add);
    double is;
    for (int k = 0; n && k < 2; k++)
        if (recognize_number(r, n->in[k], &is) && recognize_close(is, x))
            return n->in[1 - k];
    return VALUE_NONE;
}

static void add_factor(const struct recognize *r, struct product *p, value_id v, bool is_inner) {
    double x;
    if (recognize_number(r, v, &x)) {
        p->scale *= x;
        return;
    }
    bool opens = !is_inner || recognize_read_once(r, v);
    const struct node *n;
    if (opens && (n = recognize_made_by(r, v, OP_Mul))) {
        add_factor(r, p, n->in[0], true);
        add_factor(r, p, n->in[1], true);
    } else if (opens && (n = recognize_made_by(r, v, OP_Div)) &&
               recognize_number(r, n->in[1], &x)) {
        p->scale /= x;
        add_factor(r, p, n->in[0], true);
    } else if (opens && (n = recognize_made_by(r, v, OP_Pow)) &&
               recognize_number(r, n->in[1], &x) && (x == 2 || x == 3)) {
        for (int i = 0; i < (int)x; i++)
            add_factor(r, p, n->in[0], true);
    } else if (p->n < MAX_FACTORS) {
        p->factor[p->n++] = v;
    } else {
        p->n = MAX_FACTORS + 1;
    }
}

struct product recognize_product(const struct recognize *r, value_id v) {
    struct product p = {.scale = 1};
    add_factor(r, &p, v, false);
    return p;
}

bool recognize_become(struct recognize *r, enum op op, struct values in, struct attrs at) {
    struct node *n = graph_node(r->g, r->id);
    value_id *own = arena_copy(r->g->model->arena, in.at, in.n * sizeof *own);
    bool fits = own && !r->b.failed;
    n->n_attrs = 0;
    for (uint32_t k = 0; k < at.n && fits; k++)
        fits = graph_set_attr(r->g, r->id, at.at[k]);
    if (!fits) {
        r->b.failed = r->b.failed ? r->b.failed : diag_out_of_memory(r->d);
        return false;
    }
    n->op = op;
    n->type = op_info(op)->name;
    n->in = own;
    n->n_in = in.n;
    return true;
}

static bool recognize_node(struct recognize *r) {
    const struct node *n = graph_node(r->g, r->id);
    if (n->domain[0] || n->n_out != 1)
        return false;
    r->b.scope = node_called(r->g, r->id);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i](r, n))
            return true;
    return false;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    size_t n = g->order.n;
    int64_t n_found = 0;
    node_id *order = arena_copy(c->arena, g->order.at, n * sizeof *order);
    struct recognize r = {.g = g,
                          .a = c->arena,
                          .d = c->diags,
                          .b = builder_make(g, c->diags),
                          .n_values = g->values.n};
    r.b.infer = shape_infer;
    if (!order || !graph_uses(g, c->arena, &r.uses))
        return diag_out_of_memory(c->diags);
    g->order.n = 0;
    for (size_t i = 0; i < n; i++) {
        r.id = order[i];
        n_found += !r.b.failed && recognize_node(&r);
        if (!VEC_PUSH(m->arena, &g->order, order[i]))
            return diag_out_of_memory(c->diags);
    }
    pass_progress(c, "recognize: %lld patterns", (long long)n_found);
    return r.b.failed;
}

const struct pass pass_recognize = {
    .name = "recognize",
    .summary = "replace what exporters spell out by the operators that it means",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .run = run,
};
