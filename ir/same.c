// The comparison of two models by value numbering: see same.h. Stages: operator sets, so that equal
// names mean equal operators; classes for the step, then for the plan; inputs, outputs and repeated
// nodes. An output that differs is followed down both expressions to the node that is the reason.
#include <string.h>

#include "ir/same_inner.h"

#define SHOWN_OPERANDS 4

static status wrong_opset(struct same *s, const struct model *plan, const char *domain,
                          int64_t in_step, int64_t in_plan) {
    return diag_error(s->d, DIAG_VERIFY, loc_file(plan->path),
                      "operator set \"%s\" is version %lld in the step and %lld in the plan: its "
                      "operators may mean different things",
                      *domain ? domain : "ai.onnx", (long long)in_step, (long long)in_plan);
}

static status check_opsets(struct same *s, const struct model *step, const struct model *plan) {
    for (size_t i = 0; i < step->opsets.n; i++) {
        const char *domain = step->opsets.at[i].domain ? step->opsets.at[i].domain : "";
        int64_t in_step = model_opset(step, domain), in_plan = model_opset(plan, domain);
        if (in_plan && in_plan != in_step)
            return wrong_opset(s, plan, domain, in_step, in_plan);
    }
    return ST_OK;
}

static uint32_t *number(struct same *s, const struct model *m, bool is_step) {
    s->m = m;
    s->is_step = is_step;
    s->level = 0;
    if (!(s->functions = ARENA_ARRAY(s->a, uint32_t, m->functions.n)))
        s->failed = diag_no_room(s->d);
    return s->failed ? NULL : same_graph(s, m->graph, NULL);
}

// "Mul(%a, %b)", from the node or value where the class was met first.
static void show(struct same *s, struct str *out, uint32_t class) {
    const struct same_class *c = same_at(s, class);
    if (!c->node.i) {
        str_addf(out, "\"%s\"", c->name ? c->name : "nothing");
        return;
    }
    const struct node *n = graph_node(c->g, c->node);
    str_addf(out, "%s(", n->type);
    for (uint32_t k = 0; k < n->n_in && k < SHOWN_OPERANDS; k++)
        str_addf(out, "%s%s%s", k ? ", " : "", n->in[k].i ? "%" : "_",
                 n->in[k].i ? graph_value(c->g, n->in[k])->name : "");
    str_addf(out, "%s)", n->n_in > SHOWN_OPERANDS ? ", …" : "");
}

static bool same_shape_of_node(const struct same_class *a, const struct same_class *b) {
    return a->node.i && b->node.i && a->n_in == b->n_in &&
           strcmp(graph_node(a->g, a->node)->type, graph_node(b->g, b->node)->type) == 0;
}

// Down to the first difference: into computed operands that the step does not know at all. When all
// operands are the step's, but others, the node itself reads the wrong ones. Operands have lower
// numbers than what is made of them, so this ends.
static void descend(struct same *s, uint32_t *step, uint32_t *plan) {
    bool deeper = true;
    while (deeper) {
        const struct same_class *a = same_at(s, *step), *b = same_at(s, *plan);
        deeper = false;
        for (uint32_t k = 0; same_shape_of_node(a, b) && k < a->n_in && !deeper; k++)
            if (a->in[k] != b->in[k] && a->in[k] && same_at(s, b->in[k])->node.i &&
                !same_at(s, b->in[k])->in_step) {
                *step = a->in[k];
                *plan = b->in[k];
                deeper = true;
            }
    }
}

// What there is to say beyond the two expressions.
static const char *reason(struct same *s, uint32_t step, uint32_t plan) {
    const struct same_class *a = same_at(s, step), *b = same_at(s, plan);
    if (!same_shape_of_node(a, b))
        return "";
    for (uint32_t k = 0; k < a->n_in; k++)
        if (a->in[k] != b->in[k])
            return "";
    if (same_is_random(b->g, b->node))
        return ": a random node gives the same twice only with an explicit seed";
    return ": the attributes or outputs differ";
}

static status differs(struct same *s, const struct model *plan, const char *what, const char *name,
                      uint32_t in_step, uint32_t in_plan) {
    struct str said = str_make(s->a);
    descend(s, &in_step, &in_plan);
    const struct same_class *b = same_at(s, in_plan);
    show(s, &said, in_plan);
    str_add(&said, " where the step has ");
    show(s, &said, in_step);
    str_add(&said, reason(s, in_step, in_plan));
    if (said.failed)
        return diag_no_room(s->d);
    return diag_error(s->d, DIAG_VERIFY,
                      loc_path(plan->path, b->node.i ? node_path(b->g, b->node, s->a) : NULL),
                      "%s \"%s\" is not what the unplanned step computes: the plan has %s", what,
                      name, str_text(&said));
}

static bool fits(const struct type *step, const struct type *plan) {
    if (!step || !plan)
        return true;
    if (step->kind != plan->kind || step->elem != plan->elem)
        return false;
    if (!step->has_shape || !plan->has_shape)
        return true;
    bool fit = step->rank == plan->rank;
    for (int32_t i = 0; fit && i < step->rank; i++)
        fit = step->dims[i].size < 0 || plan->dims[i].size < 0 ||
              step->dims[i].size == plan->dims[i].size;
    return fit;
}

static status check_input(struct same *s, const struct model *step, const struct model *plan,
                          const struct value *x) {
    value_id v = graph_find(step->graph, x->name);
    const struct value *own = graph_value(step->graph, v);
    struct loc where = loc_file(plan->path);
    if (!v.i || !own->is_input)
        return diag_error(s->d, DIAG_VERIFY, where,
                          "the plan has an input \"%s\"; the step has not", x->name);
    if (!fits(own->type, x->type))
        return diag_error(s->d, DIAG_VERIFY, where, "input \"%s\" is of another type in the plan",
                          x->name);
    if (!x->init)
        return ST_OK; // to be fed
    s->is_step = true;
    uint32_t first = own->init ? same_constant(s, own->init, x->name) : 0;
    s->is_step = false;
    if (!first || first != same_constant(s, x->init, x->name))
        return s->failed ? s->failed
                         : diag_error(s->d, DIAG_VERIFY, where,
                                      "\"%s\" has other first values in the plan", x->name);
    return s->failed;
}

static status check_inputs(struct same *s, const struct model *step, const struct model *plan) {
    status st = ST_OK;
    for (size_t i = 0; i < plan->graph->inputs.n; i++) {
        status one =
            check_input(s, step, plan, graph_value(plan->graph, plan->graph->inputs.at[i]));
        st = st ? st : one;
    }
    for (size_t i = 0; i < step->graph->inputs.n; i++) {
        const char *name = graph_value(step->graph, step->graph->inputs.at[i])->name;
        value_id v = graph_find(plan->graph, name);
        if (!v.i || !graph_value(plan->graph, v)->is_input)
            st = diag_error(s->d, DIAG_VERIFY, loc_file(plan->path),
                            "the step has an input \"%s\"; the plan has not", name);
    }
    return st;
}

static status check_outputs(struct same *s, const struct model *step, const uint32_t *in_step,
                            const struct model *plan, const uint32_t *in_plan) {
    const struct graph *a = step->graph, *b = plan->graph;
    status st = ST_OK;
    if (a->outputs.n != b->outputs.n)
        return diag_error(s->d, DIAG_VERIFY, loc_file(plan->path),
                          "the plan has %zu outputs, the step %zu", b->outputs.n, a->outputs.n);
    for (size_t i = 0; i < a->outputs.n; i++) {
        value_id x = a->outputs.at[i], y = b->outputs.at[i];
        const char *name = graph_value(a, x)->name;
        if (strcmp(name, graph_value(b, y)->name) != 0)
            st = diag_error(s->d, DIAG_VERIFY, loc_file(plan->path),
                            "output %zu is \"%s\" in the plan, \"%s\" in the step", i,
                            graph_value(b, y)->name, name);
        else if (in_step[x.i] != in_plan[y.i] && !st) // one is enough: the others follow from it
            st = differs(s, plan, "output", name, in_step[x.i], in_plan[y.i]);
    }
    return st;
}

// A node that is said to repeat another one gives what that one gives.
static status check_again(struct same *s, const struct model *plan, const uint32_t *class) {
    const struct graph *g = plan->graph;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]), *of = graph_node(g, n->again);
        for (uint32_t k = 0; n->again.i && !of->removed && k < n->n_out && k < of->n_out; k++)
            if (n->out[k].i && of->out[k].i && class[n->out[k].i] != class[of->out[k].i])
                return differs(s, plan, "recomputed value", graph_value(g, n->out[k])->name,
                               class[of->out[k].i], class[n->out[k].i]);
    }
    return ST_OK;
}

static status compare(struct same *s, const struct model *step, const struct model *plan,
                      uint32_t **in_plan) {
    status st = check_opsets(s, step, plan);
    uint32_t *in_step = st ? NULL : number(s, step, true);
    *in_plan = in_step ? number(s, plan, false) : NULL;
    if (st || !*in_plan)
        return st ? st : s->failed;
    st = check_inputs(s, step, plan);
    status outputs = check_outputs(s, step, in_step, plan, *in_plan);
    st = st ? st : outputs;
    if (!st)
        st = check_again(s, plan, *in_plan);
    return s->failed ? s->failed : st;
}

static struct same begin(struct arena *a, struct diags *d) {
    struct same s = {
        .a = a, .d = d, .by_key = map_make(a), .large_by_name = map_make(a), .key = str_make(a)};
    if (!VEC_PUSH(a, &s.classes, (struct same_class){.in_step = true}))
        s.failed = diag_no_room(d);
    return s;
}

status same_check(const struct model *step, const struct model *plan, struct diags *d) {
    struct arena scratch = arena_make(plan->arena->mem);
    struct same s = begin(&scratch, d);
    uint32_t *in_plan;
    status st = s.failed ? s.failed : compare(&s, step, plan, &in_plan);
    arena_free(&scratch);
    return st;
}

status same_check_types(const struct model *step, struct model *plan, struct diags *d) {
    struct arena scratch = arena_make(plan->arena->mem);
    struct same s = begin(&scratch, d);
    struct graph *g = plan->graph;
    uint32_t *in_plan;
    status st = s.failed ? s.failed : compare(&s, step, plan, &in_plan);
    for (size_t i = 1; i < g->values.n && !st; i++) {
        const struct type *t = in_plan[i] ? same_at(&s, in_plan[i])->type : NULL;
        int64_t *dims = type_is_static(t) ? ARENA_ARRAY(&scratch, int64_t, t->rank) : NULL;
        for (int32_t k = 0; dims && k < t->rank; k++)
            dims[k] = t->dims[k].size;
        if (dims && !(g->values.at[i].type = type_static(plan->arena, t->elem, dims, t->rank)))
            st = diag_no_room(d);
    }
    arena_free(&scratch);
    return st;
}
