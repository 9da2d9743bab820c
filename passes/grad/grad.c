// Reverse-mode differentiation by extending the graph: the backward pass is more graph, so that it
// can be planned. Stages: choose the parameters to train and mark the values that depend on them;
// refuse, all at once, nodes without a rule between them and the loss; walk the order backwards,
// call the rule of every node that a gradient reaches, and sum the contributions to each value;
// name the results grad(NAME) and make them outputs. Integer and boolean values carry no gradient.
#include "passes/grad/grad.h"

#include <assert.h>
#include <string.h>

#include "passes/adapt/lora.h"
#include "passes/control_hint.h"
#include "passes/grad/loss.h"
#include "passes/node_groups.h"
#include "passes/pass.h"

static grad_rule *const rules[OP_COUNT_] = {
    [OP_UNKNOWN] = back_none,
#define OP(name, since, min_in, max_in, min_out, max_out, flags, shape, cost, shard, grad)         \
    [OP_##name] = back_##grad,
#include "ir/op.def"
#undef OP
};

// Never called: kind_of is checked first.
void back_none(struct grad *r) {
    (void)r;
}

void back_zero(struct grad *r) {
    (void)r;
}

enum rule_kind { RULE_NONE, RULE_ZERO, RULE_BUILDS };

static enum rule_kind kind_of(enum op op) {
    return rules[op] == back_none ? RULE_NONE : rules[op] == back_zero ? RULE_ZERO : RULE_BUILDS;
}

bool grad_has_rule(enum op op) {
    return kind_of(op) == RULE_BUILDS;
}

struct engine {
    struct model *m;
    struct graph *g;
    struct pass_context *c;
    struct builder b;
    size_t n_values; // of the forward graph
    size_t n_nodes;  // in its order
    bool *trained;   // per value: its gradient is an output of the step
    bool *depends;   // per value: carries a gradient and depends on a trained value
    bool *to_loss;   // per value: the loss depends on it, through values that carry gradients
    value_id *grad;  // per value: the sum of the contributions so far
    bool wide_sums;  // see struct grad
};

bool grad_carries(const struct graph *g, value_id v) {
    const struct value *x = graph_value(g, v);
    const struct type *t = v.i ? x->type : NULL;
    bool quantized = v.i && x->def.i && graph_node(g, x->def)->op == OP_QuantizeLinear;
    return t && t->kind == TYPE_TENSOR && (elem_is_float(t->elem) || quantized);
}

struct captured {
    bool *marks;
    bool any;
};

static void find_marked(void *to, value_id v, node_id user) {
    (void)user;
    struct captured *c = to;
    c->any |= c->marks[v.i];
}

static void mark(void *to, value_id v, node_id user) {
    (void)user;
    ((struct captured *)to)->marks[v.i] = true;
}

// An operand is marked, or a value that a subgraph of the node captures.
static bool reads_marked(const struct engine *e, node_id id, bool *marks) {
    const struct node *n = graph_node(e->g, id);
    struct captured c = {marks, false};
    for (uint32_t k = 0; k < n->n_in; k++)
        c.any |= marks[n->in[k].i];
    if (op_info(n->op)->flags & OPF_CONTROL || n->op == OP_UNKNOWN)
        node_captured(e->g, id, find_marked, &c);
    return c.any;
}

static void mark_depends(struct engine *e) {
    for (size_t v = 1; v < e->n_values; v++)
        e->depends[v] = e->trained[v];
    for (size_t i = 0; i < e->n_nodes; i++) {
        const struct node *n = graph_node(e->g, e->g->order.at[i]);
        bool any = reads_marked(e, e->g->order.at[i], e->depends);
        for (uint32_t k = 0; any && k < n->n_out; k++)
            e->depends[n->out[k].i] = kind_of(n->op) != RULE_ZERO && grad_carries(e->g, n->out[k]);
    }
    e->depends[0] = false;
}

static void mark_to_loss(struct engine *e, value_id loss) {
    e->to_loss[loss.i] = true;
    for (size_t i = e->n_nodes; i-- > 0;) {
        const struct node *n = graph_node(e->g, e->g->order.at[i]);
        bool any = false;
        for (uint32_t k = 0; k < n->n_out; k++)
            any |= n->out[k].i && e->to_loss[n->out[k].i] && e->depends[n->out[k].i];
        for (uint32_t k = 0; any && k < n->n_in; k++)
            e->to_loss[n->in[k].i] = true;
        if (any)
            node_captured(e->g, e->g->order.at[i], mark, &(struct captured){.marks = e->to_loss});
    }
}

static bool on_path(const struct engine *e, node_id id) {
    const struct node *n = graph_node(e->g, id);
    bool out = false;
    for (uint32_t k = 0; k < n->n_out; k++)
        out |= n->out[k].i && e->to_loss[n->out[k].i] && e->depends[n->out[k].i];
    return out && reads_marked(e, id, e->depends);
}

static const char *why_not(enum op op) {
    return op == OP_If                      ? ", as data decides which branch runs"
           : op == OP_Loop || op == OP_Scan ? ", as data decides how often it repeats"
                                            : "";
}

// One message for each operator, and what can be done.
static status refuse_unsupported(struct engine *e) {
    struct node_groups s = node_groups_make(e->g, e->c->arena);
    status st = ST_OK;
    for (size_t i = 0; i < e->n_nodes; i++) {
        node_id id = e->g->order.at[i];
        if (on_path(e, id) && kind_of(graph_node(e->g, id)->op) == RULE_NONE &&
            !node_groups_add(&s, id))
            return diag_out_of_memory(e->c->diags);
    }
    for (size_t i = 0; i < s.groups.n; i++) {
        const struct node_group *one = &s.groups.at[i];
        enum op op = graph_node(e->g, one->nodes.at[0])->op;
        bool several = one->nodes.n > 1;
        st = diag_error(e->c->diags, DIAG_NO_GRADIENT,
                        loc_path(e->m->path, node_path(e->g, one->nodes.at[0], e->c->arena)),
                        "%s has no gradient rule%s, and the loss depends on a trained parameter "
                        "through it%s%s",
                        node_groups_operator(&s, one), why_not(op), several ? ": " : "",
                        several ? node_groups_names(&s, one) : "");
    }
    const char *hint = NULL;
    for (size_t i = 0; i < s.groups.n && !hint; i++)
        hint = control_hint(e->g, s.groups.at[i].nodes.at[0], e->c->arena);
    if (hint)
        diag_note(e->c->diags, DIAG_NO_GRADIENT, loc_file(e->m->path),
                  "%s makes the input that decides a constant", hint);
    const char *proposals = st && !hint ? loss_proposals(e->g, e->c->arena) : NULL;
    if (proposals)
        diag_note(e->c->diags, DIAG_NO_GRADIENT, loc_file(e->m->path),
                  "train up to a value that gradients reach: %s", proposals);
    return st;
}

static void add_contribution(struct engine *e, value_id v, value_id dx) {
    if (!dx.i || !v.i)
        return;
    e->grad[v.i] = e->grad[v.i].i ? BUILD(&e->b, "Add", e->grad[v.i], dx) : dx;
}

// A gradient has the type of its value. A defect of a rule must not become a wrong gradient.
static status check_type(struct engine *e, node_id id, value_id v, value_id dx) {
    const struct type *want = graph_value(e->g, v)->type, *have = graph_value(e->g, dx)->type;
    bool same = have && have->rank == want->rank &&
                (have->elem == want->elem || !elem_is_float(want->elem)); // quantized: floats
    for (int32_t i = 0; same && i < want->rank; i++)
        same = have->dims[i].size == want->dims[i].size;
    if (same)
        return ST_OK;
    struct str x = str_make(e->c->arena), dx_text = str_make(e->c->arena);
    type_print(&x, want);
    type_print(&dx_text, have);
    return diag_error(e->c->diags, DIAG_INTERNAL,
                      loc_path(e->m->path, node_path(e->g, id, e->c->arena)),
                      "the gradient rule made %s for input %s of type %s; this is a defect of mfc",
                      str_text(&dx_text), graph_value(e->g, v)->name, str_text(&x));
}

// Float operands without a gradient: running statistics, and the operand of CastLike that only
// gives a type.
static bool is_exempt(const struct node *n, uint32_t k) {
    return (n->op == OP_BatchNormalization && k >= 3) || (n->op == OP_CastLike && k == 1);
}

// A rule that leaves out an operand must not make a gradient that is silently incomplete.
static status refuse_operand(struct engine *e, node_id id, value_id v) {
    return diag_error(
        e->c->diags, DIAG_NO_GRADIENT, loc_path(e->m->path, node_path(e->g, id, e->c->arena)),
        "%s has no gradient rule for operand %s, which depends on a trained parameter",
        graph_node(e->g, id)->type, graph_value(e->g, v)->name);
}

static status differentiate_node(struct engine *e, node_id id) {
    struct arena scratch = arena_make(e->c->arena->mem);
    const struct node *n = graph_node(e->g, id);
    value_id *dy = ARENA_ARRAY(&scratch, value_id, n->n_out),
             *dx = ARENA_ARRAY(&scratch, value_id, n->n_in);
    bool *want = ARENA_ARRAY(&scratch, bool, n->n_in), reached = false;
    status st = dy && dx && want ? ST_OK : diag_out_of_memory(e->c->diags);
    for (uint32_t k = 0; k < n->n_out && !st; k++) {
        dy[k] = n->out[k].i ? e->grad[n->out[k].i] : VALUE_NONE;
        reached |= dy[k].i != 0;
    }
    if (!st && reached) {
        for (uint32_t k = 0; k < n->n_in; k++)
            want[k] = e->depends[n->in[k].i];
        const char *name = n->name && *n->name ? n->name
                           : n->out[0].i       ? graph_value(e->g, n->out[0])->name
                                               : n->type;
        e->b.scope = str_format(e->m->arena, "grad/%s", name);
        struct grad r = {&e->b,       e->g, id,   n,        n->in,    n->out,
                         dy,          dx,   want, &scratch, n->n_out, model_opset(e->m, ""),
                         e->wide_sums};
        rules[n->op](&r);
        n = graph_node(e->g, id);
        for (uint32_t k = 0; k < n->n_in && !e->b.failed && !st; k++) {
            if (want[k] && !dx[k].i && !is_exempt(n, k))
                st = refuse_operand(e, id, n->in[k]);
            else if (want[k] && dx[k].i && !(st = check_type(e, id, n->in[k], dx[k])))
                add_contribution(e, n->in[k], dx[k]);
        }
        st = st ? st : e->b.failed;
    }
    arena_free(&scratch);
    return st;
}

// Names the value that holds a gradient grad(NAME), and makes it an output. A value that is an
// output already, or not made by the backward pass, is copied by Identity.
static status publish(struct engine *e, value_id v) {
    value_id dx = e->grad[v.i];
    const char *wanted = str_format(e->m->arena, "grad(%s)", graph_value(e->g, v)->name);
    if (!wanted)
        return diag_out_of_memory(e->c->diags);
    if (graph_find(e->g, wanted).i)
        return diag_error(e->c->diags, DIAG_MALFORMED, loc_path(e->m->path, wanted),
                          "the model has a value of this name already, which is needed for a "
                          "gradient; rename it");
    e->b.scope = wanted; // names the node; its result is renamed
    if (graph_value(e->g, dx)->is_output || dx.i < e->n_values || !graph_value(e->g, dx)->def.i)
        dx = BUILD(&e->b, "Identity", dx);
    if (e->b.failed)
        return e->b.failed;
    return graph_rename(e->g, dx, wanted) && graph_add_output(e->g, dx)
               ? ST_OK
               : diag_out_of_memory(e->c->diags);
}

// BatchNormalization in training mode updates its running statistics: they become outputs
// next(NAME), and their old values inputs, as parameters are.
static status publish_statistics(struct engine *e, const struct node *n) {
    struct graph *g = e->g;
    bool training = n->op == OP_BatchNormalization && node_int(n, "training_mode", 0);
    for (uint32_t k = 1; training && k < n->n_out && k < 3; k++) {
        value_id old = n->in[k + 2], new = n->out[k];
        if (!new.i || graph_value(g, new)->is_output)
            continue;
        const char *name = str_format(e->m->arena, "next(%s)", graph_value(g, old)->name);
        if (!name || !graph_add_output(g, new))
            return diag_out_of_memory(e->c->diags);
        bool own = graph_value(g, old)->init && !graph_value(g, old)->is_input;
        if (!graph_find(g, name).i &&
            (!graph_rename(g, new, name) || (own && !graph_add_input(g, old))))
            return diag_out_of_memory(e->c->diags);
    }
    return ST_OK;
}

// The outputs of the step: loss, those of the model on request, gradients, running statistics.
static status set_outputs(struct engine *e, value_id loss) {
    struct graph *g = e->g;
    size_t n_own = g->outputs.n;
    value_id *own = arena_copy(e->c->arena, g->outputs.at, n_own * sizeof *own);
    if (!own)
        return diag_out_of_memory(e->c->diags);
    for (size_t i = 0; i < n_own; i++)
        graph_value(g, own[i])->is_output = false;
    g->outputs.n = 0;
    bool ok = graph_add_output(g, loss), keep = options_flag(e->c->options, "keep-outputs");
    for (size_t i = 0; i < n_own && ok && keep; i++)
        if (!graph_value(g, own[i])->is_output)
            ok = graph_add_output(g, own[i]);
    status st = ok ? ST_OK : diag_out_of_memory(e->c->diags);
    for (size_t v = 1; v < e->n_values && !st; v++) {
        value_id id = {(uint32_t)v};
        if (!e->trained[v] || !e->grad[v].i)
            continue;
        if (graph_value(g, id)->init && !graph_value(g, id)->is_input && !graph_add_input(g, id))
            st = diag_out_of_memory(e->c->diags);
        st = st ? st : publish(e, id);
    }
    for (size_t i = 0; i < e->n_nodes && !st; i++)
        st = publish_statistics(e, graph_node(g, g->order.at[i]));
    return st;
}

static status engine_open(struct engine *e, struct model *m, struct pass_context *c) {
    *e = (struct engine){.m = m,
                         .g = m->graph,
                         .c = c,
                         .n_values = m->graph->values.n,
                         .n_nodes = m->graph->order.n};
    e->wide_sums = strcmp(options_text(c->options, "accumulate-type"), "float32") == 0;
    e->b = builder_make(m->graph, c->diags);
    e->b.infer = shape_infer;
    e->trained = ARENA_ARRAY(c->arena, bool, e->n_values);
    e->depends = ARENA_ARRAY(c->arena, bool, e->n_values);
    e->to_loss = ARENA_ARRAY(c->arena, bool, e->n_values);
    e->grad = ARENA_ARRAY(c->arena, value_id, e->n_values);
    return e->trained && e->depends && e->to_loss && e->grad ? ST_OK : diag_out_of_memory(c->diags);
}

// The gradient of the loss itself: 1, or the input loss_scale.
static void seed(struct engine *e, value_id loss) {
    enum elem elem = graph_value(e->g, loss)->type->elem;
    e->b.scope = "grad";
    if (strcmp(options_text(e->c->options, "loss-scale"), "none") == 0) {
        e->grad[loss.i] = build_scalar(&e->b, elem, 1);
        return;
    }
    const struct type *t = type_tensor(e->m->arena, ELEM_F32, NULL, 0);
    value_id scale = t ? graph_add_value(e->g, "loss_scale", t) : VALUE_NONE;
    if (!scale.i || !graph_add_input(e->g, scale)) {
        e->b.failed = diag_error(e->c->diags, DIAG_MALFORMED, loc_path(e->m->path, "loss_scale"),
                                 "the model has a value of this name already, which --loss-scale "
                                 "needs; rename it");
        return;
    }
    e->grad[loss.i] = elem == ELEM_F32
                          ? scale
                          : build_op(&e->b, "Cast", VALUES(scale), ATTRS(attr_int("to", elem)));
}

static status run(struct model *m, struct pass_context *c) {
    assert(m->graph->outputs.n > 0);
    struct engine e;
    status st = engine_open(&e, m, c);
    value_id loss = m->graph->outputs.at[0]; // FACT_LOSS
    if (!st)
        st = params_choose(m, c, e.trained);
    if (!st)
        lora_restrict(e.g, c->options, e.trained);
    if (st)
        return st;
    mark_depends(&e);
    mark_to_loss(&e, loss);
    if (!e.depends[loss.i])
        return diag_error(c->diags, DIAG_NO_GRADIENT,
                          loc_path(m->path, graph_value(m->graph, loss)->name),
                          "the loss does not depend on any trained parameter");
    if ((st = refuse_unsupported(&e)))
        return st;
    seed(&e, loss);
    st = e.b.failed;
    for (size_t i = e.n_nodes; i-- > 0 && !st;)
        if (on_path(&e, e.g->order.at[i]))
            st = differentiate_node(&e, e.g->order.at[i]);
    if (!st)
        st = set_outputs(&e, loss);
    pass_progress(c, "grad: %zu forward nodes, %zu backward", e.n_nodes, e.g->order.n - e.n_nodes);
    return st;
}

const struct pass pass_grad = {
    .name = "grad",
    .summary = "add the backward pass, and make loss and gradients the outputs",
    .needs = FACT_TOPO | FACT_SHAPES | FACT_LOSS,
    .gives = FACT_GRAD,
    .breaks = FACT_COSTS,
    .options = params_options,
    .run = run,
};
