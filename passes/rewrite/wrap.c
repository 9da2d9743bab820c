// The pass `wrap`: the graph becomes the then-branch of one If, whose else-branch reads a sequence.
// ONNX Runtime's memory patterns allocate from the second run on a block for the whole step beside
// the arena of the first run. It makes no patterns for a subgraph when its node captures a value
// that is not a tensor: so the sequence switches them off, with default session options.
//
//     none  = Compress(x, [false])          x: an input
//     seq   = SequenceConstruct(none)
//     true  = Equal(SequenceLength(seq), 1)
//     outputs = If(true, then_branch = the plan, else_branch = numbers made from seq and its
//     length)
//
// The else-branch reads the length so that it stays allocated as long as the truth value does: from
// the second run on a memory pattern holds both, and the arena serves the plan as in the first run.
//
// The condition depends on an input, so that no optimization level folds it, and is true for every
// input. Inputs, weights and the declared outputs stay outside: for its callers the model is the
// same. Small constants go inside, where ONNX Runtime folds them and their readers; large ones do
// not, since it would hold them three times. The outputs of the branch have no declared shape, else
// ONNX Runtime would allocate them before the branch runs. ONNX Runtime keeps the nodes of a branch
// twice, so the planning metadata of the nodes moves to a table (ir/wrapper/node_table.h). Reading
// a model undoes all this (ir/wrapper/unwrap.h).
#include "passes/rewrite/wrap.h"

#include <string.h>

#include "ir/build.h"
#include "ir/wrapper/node_table.h"
#include "ir/wrapper/unwrap.h"

enum { MAX_INSIDE_BYTES = 1024 }; // of a constant inside the branch

struct wrapping {
    struct model *m;
    struct graph *outer, *plan;
    struct arena *scratch;
    struct diags *d;
    const char *scope; // prefix of the new names, which no name of the model has
    value_id token_input;
};

static bool has_prefix(const struct graph *g, const char *scope) {
    size_t n = strlen(scope);
    const struct graph *sub;
    for (size_t i = 1; i < g->values.n; i++)
        if (strncmp(g->values.at[i].name, scope, n) == 0 && g->values.at[i].name[n] == '/')
            return true;
    for (size_t i = 0; i < g->order.n; i++)
        for (size_t k = 0; (sub = node_subgraph(graph_node(g, g->order.at[i]), k)); k++)
            if (has_prefix(sub, scope))
                return true;
    return false;
}

static const char *free_scope(const struct graph *g, struct arena *a) {
    const char *scope = "wrap";
    for (int k = 1; scope && has_prefix(g, scope); k++)
        scope = str_format(a, "wrap%d", k);
    return scope;
}

// A tensor of elements that the wrapper's operators support in ONNX Runtime.
static bool is_supported(const struct type *t) {
    return t && t->kind == TYPE_TENSOR &&
           (t->elem == ELEM_BOOL || t->elem == ELEM_F16 || t->elem == ELEM_F32 ||
            t->elem == ELEM_F64 || (elem_is_int(t->elem) && elem_bits(t->elem) >= 8));
}

// An input that callers give.
static value_id find_token_input(const struct graph *g) {
    for (size_t i = 0; i < g->inputs.n; i++) {
        const struct value *v = graph_value(g, g->inputs.at[i]);
        const struct type *t = v->type;
        if (!v->init && !v->sparse_init && is_supported(t) && t->has_shape && t->rank)
            return g->inputs.at[i];
    }
    return VALUE_NONE;
}

// Whether `sub`, which is inside of g, has a value of its own with the name of a computed output.
static bool hides_outputs(const struct graph *g, const struct graph *sub) {
    for (size_t i = 1; i < sub->values.n; i++) {
        const struct value *v = &sub->values.at[i];
        const struct value *output = graph_value(g, graph_find(g, v->name));
        if (!v->outer.i && output->is_output && output->def.i)
            return true;
    }
    return false;
}

static bool any_hides_outputs(const struct graph *g, const struct graph *around) {
    const struct graph *sub;
    for (size_t i = 0; i < around->order.n; i++)
        for (size_t k = 0; (sub = node_subgraph(graph_node(around, around->order.at[i]), k)); k++)
            if (hides_outputs(g, sub) || any_hides_outputs(g, sub))
                return true;
    return false;
}

// Whether the outputs that nodes compute are supported and not hidden, and there are any.
static bool has_good_outputs(const struct graph *g) {
    bool computed = false;
    for (size_t i = 0; i < g->outputs.n; i++) {
        const struct value *v = graph_value(g, g->outputs.at[i]);
        bool is_bfloat = v->type && v->type->kind == TYPE_TENSOR && v->type->elem == ELEM_BF16;
        if (v->def.i && !is_supported(v->type) && !is_bfloat)
            return false;
        computed |= v->def.i != 0;
    }
    return computed && !any_hides_outputs(g, g);
}

bool wrap_is_possible(const struct model *m) {
    return unwrap_is_plain(m) && has_good_outputs(m->graph) && find_token_input(m->graph).i;
}

static bool is_small(const struct tensor *t) {
    int64_t n_bytes;
    return t->payload != PAYLOAD_EXTERNAL && tensor_bytes(t, &n_bytes) &&
           n_bytes <= MAX_INSIDE_BYTES;
}

static bool is_outside(const struct value *v) {
    return v->is_input || v->sparse_init || (v->init && (v->is_output || !is_small(v->init)));
}

// Inputs and weights move to the outer graph; the plan captures them. `to`: by value of the plan,
// the one of the outer graph.
static bool move_out(struct wrapping *w, value_id *to) {
    for (uint32_t i = 1; i < w->plan->values.n; i++) {
        struct value *v = &w->plan->values.at[i];
        if (!is_outside(v))
            continue;
        if (!(to[i] = graph_add_value(w->outer, v->name, v->type)).i)
            return false;
        *graph_value(w->outer, to[i]) = *v;
        graph_value(w->outer, to[i])->is_captured = true;
        *v = (struct value){.name = v->name,
                            .type = v->type,
                            .content = v->content,
                            .outer = to[i],
                            .is_captured = v->is_captured};
    }
    return true;
}

// Outputs that nodes compute become outputs of the If; the branch has others in their place.
static bool make_outputs(struct wrapping *w, value_id *to) {
    struct graph *plan = w->plan, *outer = w->outer;
    struct arena *a = w->m->arena;
    size_t n_listed = plan->outputs.n, n = 0;
    const value_id *listed = arena_copy(w->scratch, plan->outputs.at, n_listed * sizeof *listed);
    for (size_t i = 0; listed && i < n_listed; i++) {
        value_id v = listed[i];
        if (!to[v.i].i) {
            const char *name = graph_value(plan, v)->name;
            const char *inner = str_format(w->scratch, "%s/%zu", w->scope, n);
            const struct type *t = type_unranked(a, graph_value(plan, v)->type->elem);
            if (!t || !inner || !graph_rename(plan, v, inner))
                return false;
            struct value *at = graph_value(plan, v);
            if (!(to[v.i] = graph_add_value(outer, name, at->type)).i)
                return false;
            struct value *declared = graph_value(outer, to[v.i]);
            declared->doc = at->doc;
            declared->metadata = at->metadata;
            declared->extra = at->extra;
            at->type = t;
            at->has_info = false;
            at->doc = NULL;
            at->metadata = (struct pairs){0};
            at->extra = (struct bytes){0};
            plan->outputs.at[n++] = v;
        }
        if (!graph_add_output(outer, to[v.i]))
            return false;
    }
    plan->outputs.n = n;
    return listed;
}

// The lists of the outer graph, in the order of the plan's, which keeps what it computes.
static bool move_lists(struct wrapping *w, const value_id *to) {
    struct graph *plan = w->plan, *outer = w->outer;
    struct arena *a = w->m->arena;
    size_t n = 0, n_inits = 0;
    bool ok = true;
    for (size_t i = 0; i < plan->inputs.n && ok; i++)
        ok = VEC_PUSH(a, &outer->inputs, to[plan->inputs.at[i].i]);
    for (size_t i = 0; i < plan->inits.n && ok; i++) {
        value_id v = plan->inits.at[i];
        if (!to[v.i].i)
            plan->inits.at[n_inits++] = v;
        else
            ok = VEC_PUSH(a, &outer->inits, to[v.i]);
    }
    for (size_t i = 0; i < plan->sparse_inits.n && ok; i++)
        ok = VEC_PUSH(a, &outer->sparse_inits, to[plan->sparse_inits.at[i].i]);
    for (size_t i = 0; i < plan->infos.n && ok; i++) {
        value_id v = plan->infos.at[i];
        if (graph_value(plan, v)->has_info)
            plan->infos.at[n++] = v;
        else if (to[v.i].i && graph_value(outer, to[v.i])->has_info)
            ok = VEC_PUSH(a, &outer->infos, to[v.i]);
    }
    plan->infos.n = n;
    plan->inits.n = n_inits;
    plan->inputs.n = plan->sparse_inits.n = 0;
    return ok;
}

// A number for each output of the plan. Outputs of one element type share it.
static struct graph *make_else(struct wrapping *w, value_id sequence, value_id outer_length) {
    struct graph *g = graph_new(w->m, w->outer);
    value_id seq = g ? graph_resolve(g, graph_value(w->outer, sequence)->name) : VALUE_NONE;
    value_id held = g ? graph_resolve(g, graph_value(w->outer, outer_length)->name) : VALUE_NONE;
    if (!seq.i || !held.i)
        return NULL;
    g->name = "never";
    struct builder b = builder_make(g, w->d);
    b.scope = str_format(w->scratch, "%s/else", w->scope);
    value_id length = b.scope ? BUILD(&b, "SequenceLength", seq) : VALUE_NONE;
    value_id sum = length.i ? BUILD(&b, "Add", length, held) : VALUE_NONE;
    value_id number[ELEM_LIMIT_] = {0};
    for (size_t k = 0; sum.i && k < w->plan->outputs.n; k++) {
        enum elem e = graph_value(w->plan, w->plan->outputs.at[k])->type->elem;
        if (!number[e].i) {
            number[e] = build_op(&b, "Cast", VALUES(sum), ATTRS(attr_int("to", e)));
            if (number[e].i)
                graph_value(g, number[e])->type = type_unranked(w->m->arena, e);
        }
        if (!number[e].i || !graph_value(g, number[e])->type || !graph_add_output(g, number[e]))
            return NULL;
    }
    return sum.i ? g : NULL;
}

static struct attr branch(const char *name, struct graph *g) {
    return (struct attr){.name = name, .kind = ATTR_GRAPH, .n = 1, .g = g};
}

// The condition and the If; `out`: the computed outputs.
static bool make_if(struct wrapping *w, struct values out) {
    struct graph *g = w->outer;
    struct builder b = builder_make(g, w->d);
    b.scope = w->scope;
    int64_t no = 0, one = 1;
    value_id none = build_tensor(&b, tensor_from_ints(w->m->arena, ELEM_BOOL, &no, &one, 1));
    value_id number = build_tensor(&b, tensor_from_ints(w->m->arena, ELEM_I64, &one, NULL, 0));
    value_id seq = BUILD(&b, "SequenceConstruct", BUILD(&b, "Compress", w->token_input, none));
    value_id length = BUILD(&b, "SequenceLength", seq);
    value_id truth = BUILD(&b, "Equal", length, number);
    struct graph *otherwise = b.failed ? NULL : make_else(w, seq, length);
    node_id id = otherwise ? graph_add_node(g, "", "If", VALUES(truth), out) : NODE_NONE;
    const char *name = str_format(w->m->arena, "%s/If", w->scope);
    if (!id.i || !name)
        return false;
    graph_node(g, id)->name = name;
    w->plan->outer = g;
    return graph_set_attr(g, id, branch("then_branch", w->plan)) &&
           graph_set_attr(g, id, branch("else_branch", otherwise));
}

static bool wrap(struct wrapping *w) {
    struct graph *plan = w->plan, *outer = w->outer;
    value_id *to = ARENA_ARRAY(w->scratch, value_id, plan->values.n);
    value_id *out = ARENA_ARRAY(w->scratch, value_id, plan->outputs.n);
    if (!to || !out || !outer || !w->scope)
        return false;
    outer->name = plan->name;
    outer->doc = plan->doc;
    outer->metadata = plan->metadata;
    outer->extra = plan->extra;
    plan->name = "plan";
    plan->doc = NULL;
    plan->metadata = (struct pairs){0};
    plan->extra = (struct bytes){0};
    if (!move_out(w, to) || !make_outputs(w, to) || !move_lists(w, to))
        return false;
    w->token_input = to[w->token_input.i];
    for (size_t k = 0; k < plan->outputs.n; k++)
        out[k] = to[plan->outputs.at[k].i];
    w->m->graph = outer;
    return make_if(w, (struct values){out, (uint32_t)plan->outputs.n});
}

status wrap_model(struct model *m, struct pass_context *c) {
    if (!wrap_is_possible(m)) {
        pass_progress(c, "wrap: the model stays as it is: it cannot be put into a branch");
        return ST_OK;
    }
    struct wrapping w = {.m = m,
                         .outer = graph_new(m, NULL),
                         .plan = m->graph,
                         .scratch = c->arena,
                         .d = c->diags,
                         .scope = free_scope(m->graph, m->arena),
                         .token_input = find_token_input(m->graph)};
    m->is_wrapped = false; // the graph becomes the one around the branch
    status st = node_table_pack(m, m->graph, c->diags);
    if (!st && !wrap(&w))
        st = diag_out_of_memory(c->diags);
    return st;
}

const struct pass pass_wrap = {
    .name = "wrap",
    .summary = "put the plan into a branch, where ONNX Runtime makes no memory patterns",
    .needs = FACT_TOPO,
    .breaks = FACT_SHAPES | FACT_LOSS | FACT_GRAD | FACT_COSTS,
    .run = wrap_model,
};
