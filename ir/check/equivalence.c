// Comparison of two models by value numbering: see equivalence.h. Stages:
//   1. operator sets: equal versions, so that equal names mean equal operators;
//   2. classes of the values of the step, then of the plan, in one table;
//   3. inputs: equal names, types and initial values;
//   4. outputs: equal names and classes;
//   5. recomputed nodes: the same classes as their originals.
// The diagnostic for a different output names the first node of the plan among its ancestors that
// has no equal in the step.
#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "ir/check/equivalence_inner.h"

#define SHOWN_OPERANDS    4
#define SHOWN_DIFFERENCES 5

// The two models, and the classes of the values of their graphs.
struct sides {
    const struct model *step, *plan;
    const uint32_t *in_step, *in_plan;
};

static status wrong_opset(struct numbering *s, const struct model *plan, const char *domain,
                          int64_t in_step, int64_t in_plan) {
    return diag_error(s->d, DIAG_VERIFY, loc_file(plan->path),
                      "operator set \"%s\" is version %lld in the step and %lld in the plan: its "
                      "operators may mean different things",
                      *domain ? domain : "ai.onnx", (long long)in_step, (long long)in_plan);
}

static status check_opsets(struct numbering *s, const struct model *step,
                           const struct model *plan) {
    for (size_t i = 0; i < step->opsets.n; i++) {
        const char *domain = step->opsets.at[i].domain ? step->opsets.at[i].domain : "";
        int64_t in_step = model_opset(step, domain), in_plan = model_opset(plan, domain);
        if (in_plan && in_plan != in_step)
            return wrong_opset(s, plan, domain, in_step, in_plan);
    }
    return ST_OK;
}

static uint32_t *number_model(struct numbering *s, const struct model *m, bool is_step) {
    s->m = m;
    s->is_step = is_step;
    s->level = 0;
    if (!(s->functions = ARENA_ARRAY(s->a, uint32_t, m->functions.n)))
        s->failed = diag_out_of_memory(s->d);
    return s->failed ? NULL : equiv_graph(s, m->graph, NULL);
}

// Appends the first member of the class: "Mul(%a, %b)".
static void show(struct numbering *s, struct str *out, uint32_t class) {
    const struct equiv_class *c = equiv_at(s, class);
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

static bool same_operator(const struct equiv_class *a, const struct equiv_class *b) {
    return a->node.i && b->node.i && a->n_in == b->n_in &&
           strcmp(graph_node(a->g, a->node)->type, graph_node(b->g, b->node)->type) == 0;
}

// An explanation beyond the two expressions, or "".
static const char *reason(struct numbering *s, uint32_t step, uint32_t plan) {
    const struct equiv_class *a = equiv_at(s, step), *b = equiv_at(s, plan);
    if (b->node.i && equivalence_is_random(b->g, b->node))
        return ": a random node is reproducible only with an explicit seed";
    if (!same_operator(a, b))
        return "";
    for (uint32_t k = 0; k < a->n_in; k++)
        if (a->in[k] != b->in[k])
            return "";
    return ": the attributes or outputs differ";
}

// The operators of control dependencies. When such a node does not simplify, the cause is one of
// its operands, so diagnostics skip it.
static bool is_structural(enum op op) {
    return op == OP_Reshape || op == OP_Slice || op == OP_Compress || op == OP_Cast ||
           op == OP_Concat || op == OP_Unsqueeze || op == OP_Identity || op == OP_Shape;
}

// The first node of the plan among the ancestors of `v` whose class is not in the step. NODE_NONE:
// all are in the step, and the plan uses a wrong one of them.
static node_id first_unknown(struct numbering *s, const struct graph *g, const uint32_t *class,
                             value_id v) {
    bool *needed = ARENA_ARRAY(s->a, bool, g->values.n);
    node_id first = NODE_NONE;
    if (!needed)
        return NODE_NONE;
    needed[v.i] = true;
    for (size_t i = g->order.n; i-- > 0;) {
        const struct node *n = graph_node(g, g->order.at[i]);
        bool is_ancestor = false, known = true;
        for (uint32_t k = 0; k < n->n_out; k++) {
            is_ancestor |= n->out[k].i && needed[n->out[k].i];
            known &= !n->out[k].i || equiv_at(s, class[n->out[k].i])->in_step;
        }
        for (uint32_t k = 0; k < n->n_in && is_ancestor; k++)
            needed[n->in[k].i] = true;
        if (is_ancestor && !known && !is_structural(n->op))
            first = g->order.at[i];
    }
    return first;
}

static status differs(struct numbering *s, const struct sides *x, const char *what, value_id v,
                      uint32_t in_step, uint32_t in_plan) {
    const struct graph *g = x->plan->graph;
    struct str text = str_make(s->a);
    node_id first = first_unknown(s, g, x->in_plan, v);
    if (first.i) { // compare with the value of the same name in the step
        value_id made = graph_node(g, first)->out[0];
        value_id own = graph_find(x->step->graph, graph_value(g, made)->name);
        in_plan = x->in_plan[made.i] ? x->in_plan[made.i] : in_plan;
        in_step = own.i ? x->in_step[own.i] : 0;
    }
    const struct equiv_class *b = equiv_at(s, in_plan);
    show(s, &text, in_plan);
    str_add(&text, in_step ? " where the step has " : ", which the step does not have");
    if (in_step)
        show(s, &text, in_step);
    str_add(&text, reason(s, in_step, in_plan));
    if (text.failed)
        return diag_out_of_memory(s->d);
    return diag_error(s->d, DIAG_VERIFY,
                      loc_path(x->plan->path, b->node.i ? node_path(b->g, b->node, s->a) : NULL),
                      "%s \"%s\" differs from the baseline step: the plan has %s", what,
                      graph_value(g, v)->name, str_text(&text));
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

// Reports one of the inputs and outputs that differ. Of two models that have nothing to do with
// each other, the first few are enough.
__attribute__((format(printf, 3, 4))) static status
different(struct numbering *s, const struct model *plan, const char *format, ...) {
    va_list args;
    if (s->n_different++ >= SHOWN_DIFFERENCES)
        return ST_VERIFY;
    va_start(args, format);
    status st = diag_errorv(s->d, DIAG_VERIFY, loc_file(plan->path), format, args);
    va_end(args);
    return st;
}

static status summarize_differences(struct numbering *s, const struct model *plan) {
    if (s->n_different <= SHOWN_DIFFERENCES)
        return ST_OK;
    return diag_error(s->d, DIAG_VERIFY, loc_file(plan->path),
                      "%zu more inputs and outputs differ; is it a plan of this model?",
                      s->n_different - SHOWN_DIFFERENCES);
}

static status check_input(struct numbering *s, const struct model *step, const struct model *plan,
                          const struct value *x) {
    value_id v = graph_find(step->graph, x->name);
    const struct value *own = graph_value(step->graph, v);
    if (!v.i || !own->is_input)
        return different(s, plan, "the plan has an input \"%s\", which the step does not have",
                         x->name);
    if (!fits(own->type, x->type))
        return different(s, plan, "input \"%s\" has another type in the plan", x->name);
    if (!x->init)
        return ST_OK; // the caller provides it
    s->is_step = true;
    uint32_t first = own->init ? equiv_constant(s, own->init, x->name) : 0;
    s->is_step = false;
    if (!first || first != equiv_constant(s, x->init, x->name))
        return s->failed
                   ? s->failed
                   : different(s, plan, "\"%s\" has other initial values in the plan", x->name);
    return s->failed;
}

static status check_inputs(struct numbering *s, const struct model *step,
                           const struct model *plan) {
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
            st = different(s, plan, "the step has an input \"%s\", which the plan does not have",
                           name);
    }
    return st;
}

static status check_outputs(struct numbering *s, const struct sides *x) {
    const struct graph *a = x->step->graph, *b = x->plan->graph;
    status st = ST_OK;
    if (a->outputs.n != b->outputs.n)
        return diag_error(s->d, DIAG_VERIFY, loc_file(x->plan->path),
                          "the plan has %zu outputs, the step %zu", b->outputs.n, a->outputs.n);
    for (size_t i = 0; i < a->outputs.n; i++) {
        value_id v = a->outputs.at[i], w = b->outputs.at[i];
        const char *name = graph_value(a, v)->name;
        if (strcmp(name, graph_value(b, w)->name) != 0)
            st = different(s, x->plan, "output %zu is \"%s\" in the plan, \"%s\" in the step", i,
                           graph_value(b, w)->name, name);
        else if (x->in_step[v.i] != x->in_plan[w.i] && !st) // report the first only
            st = differs(s, x, "output", w, x->in_step[v.i], x->in_plan[w.i]);
    }
    return st;
}

// A node marked as a recomputation has the same output classes as its original.
static status check_again(struct numbering *s, const struct sides *x) {
    const struct graph *g = x->plan->graph;
    const uint32_t *class = x->in_plan;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]), *of = graph_node(g, n->again);
        for (uint32_t k = 0; n->again.i && !of->removed && k < n->n_out && k < of->n_out; k++)
            if (n->out[k].i && of->out[k].i && class[n->out[k].i] != class[of->out[k].i])
                return differs(s, x, "recomputed value", n->out[k], class[of->out[k].i],
                               class[n->out[k].i]);
    }
    return ST_OK;
}

static status compare(struct numbering *s, const struct model *step, const struct model *plan,
                      uint32_t **in_plan) {
    status st = check_opsets(s, step, plan);
    const uint32_t *in_step = st ? NULL : number_model(s, step, true);
    if (!(s->reordered = ARENA_ARRAY(s->a, bool, plan->graph->values.n)))
        s->failed = diag_out_of_memory(s->d);
    *in_plan = in_step ? number_model(s, plan, false) : NULL;
    if (st || !*in_plan)
        return st ? st : s->failed;
    struct sides x = {step, plan, in_step, *in_plan};
    st = check_inputs(s, step, plan);
    status outputs = check_outputs(s, &x);
    st = st ? st : outputs;
    if (st)
        summarize_differences(s, plan);
    if (!st)
        st = check_again(s, &x);
    return s->failed ? s->failed : st;
}

static struct numbering numbering_make(struct arena *a, struct diags *d) {
    struct numbering s = {.a = a,
                          .d = d,
                          .by_key = map_make(a),
                          .by_operand = map_make(a),
                          .large_by_name = map_make(a),
                          .key = str_make(a)};
    if (!VEC_PUSH(a, &s.classes, (struct equiv_class){.in_step = true}))
        s.failed = diag_out_of_memory(d);
    return s;
}

status equivalence_check(const struct model *step, const struct model *plan, struct diags *d) {
    struct equivalence unread;
    return equivalence_find(step, plan, d, &unread);
}

static struct equivalence how(const struct numbering *s, const struct graph *plan) {
    struct equivalence e = {.n_outputs = plan->outputs.n};
    for (size_t i = 0; i < plan->outputs.n; i++)
        e.n_reordered += s->reordered[plan->outputs.at[i].i];
    return e;
}

status equivalence_find(const struct model *step, const struct model *plan, struct diags *d,
                        struct equivalence *out) {
    assert(step && step->graph && plan && plan->graph && d && out);
    struct arena scratch = arena_make(plan->arena->mem);
    struct numbering s = numbering_make(&scratch, d);
    uint32_t *in_plan;
    status st = s.failed ? s.failed : compare(&s, step, plan, &in_plan);
    if (!st)
        *out = how(&s, plan->graph);
    arena_free(&scratch);
    return st;
}

// Sets the type of a value of the plan to that of its class in the step. A type that the plan
// declares must agree: ONNX Runtime refuses a file whose types contradict its operators.
static status set_type(struct model *plan, struct value *v, const struct type *t, struct diags *d) {
    if (t && !fits(t, v->type))
        return diag_error(d, DIAG_VERIFY, loc_file(plan->path),
                          "the type that the plan declares for \"%s\" is not the one that it has",
                          v->name);
    if (!type_is_static(t))
        return ST_OK;
    struct arena scratch = arena_make(plan->arena->mem);
    int64_t *dims = ARENA_ARRAY(&scratch, int64_t, t->rank);
    for (int32_t k = 0; dims && k < t->rank; k++)
        dims[k] = t->dims[k].size;
    v->type = dims ? type_static(plan->arena, t->elem, dims, t->rank) : NULL;
    arena_free(&scratch);
    return v->type ? ST_OK : diag_out_of_memory(d);
}

status equivalence_check_types(const struct model *step, struct model *plan, struct diags *d,
                               struct equivalence *out) {
    assert(step && step->graph && plan && plan->graph && d && out);
    struct arena scratch = arena_make(plan->arena->mem);
    struct numbering s = numbering_make(&scratch, d);
    struct graph *g = plan->graph;
    uint32_t *in_plan;
    status st = s.failed ? s.failed : compare(&s, step, plan, &in_plan);
    if (!st)
        *out = how(&s, g);
    for (size_t i = 1; i < g->values.n && !st; i++)
        if (in_plan[i])
            st = set_type(plan, &g->values.at[i], equiv_at(&s, in_plan[i])->type, d);
    arena_free(&scratch);
    return st;
}
