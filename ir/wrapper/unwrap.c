// Takes a plan out of the If that holds it: see unwrap.h. First the whole structure is recognized;
// only then is anything changed. The graph of the branch becomes the graph of the model: what it
// captures becomes inputs and initializers, and its outputs get the names and types of the If's.
#include "ir/wrapper/unwrap.h"

#include <string.h>

#include "ir/wrapper/node_table.h"

enum { COMPRESS, CONSTRUCT, LENGTH, EQUAL, IF, N_NODES };

struct wrapper {
    struct graph *outer, *plan;
    const struct node *at[N_NODES];
    bool failed; // out of memory
    struct diags *diags;
    bool unread; // a constant cannot be read, which was reported
};

static bool has_extras(const struct node *n) {
    return n->metadata.n || n->devices.n || n->extra.n || n->again.i || n->device || n->doc;
}

// Node i of the order, if it is this standard operator with all its operands and nothing else.
static const struct node *bare(const struct graph *g, size_t i, const char *type, uint32_t n_in,
                               uint32_t n_attrs) {
    const struct node *n = graph_node(g, g->order.at[i]);
    bool is_standard = !*n->domain || strcmp(n->domain, "ai.onnx") == 0;
    if (!is_standard || strcmp(n->type, type) != 0 || (n->overload && *n->overload) ||
        n->n_in != n_in || n->n_attrs != n_attrs || has_extras(n))
        return NULL;
    for (uint32_t k = 0; k < n_in; k++)
        if (!n->in[k].i)
            return NULL;
    for (uint32_t k = 0; k < n->n_out; k++)
        if (!n->out[k].i)
            return NULL;
    return n->n_out ? n : NULL;
}

// A constant of one element that no caller can replace.
static bool is_constant(struct wrapper *w, value_id v, enum elem e, int32_t rank, int64_t x) {
    const struct value *at = graph_value(w->outer, v);
    const struct tensor *t = at->init;
    if (!t || at->is_input || at->is_output || t->elem != e || t->rank != rank ||
        (rank && t->dims[0] != 1) || t->payload == PAYLOAD_EXTERNAL)
        return false;
    struct arena scratch = arena_make(w->outer->model->arena->mem);
    struct diags ignored = diags_make(&scratch);
    int64_t *found;
    status st = tensor_ints(t, &scratch, &ignored, &found);
    bool same = !st && *found == x;
    w->failed |= st == ST_LIMIT;
    if (st == ST_IO && !w->unread) { // no answer: it must not pass for another form of model
        diags_take(w->diags, &ignored);
        w->unread = true;
    }
    arena_free(&scratch);
    return same;
}

static bool reads(const struct node *n, uint32_t k, const struct node *from) {
    return n->n_out >= 1 && from->n_out == 1 && n->in[k].i == from->out[0].i;
}

// The condition is true for all inputs.
static bool is_true(struct wrapper *w) {
    const struct graph *g = w->outer;
    static const char *const types[] = {"Compress", "SequenceConstruct", "SequenceLength", "Equal",
                                        "If"};
    static const uint32_t n_in[] = {2, 1, 1, 2, 1}, n_attrs[] = {0, 0, 0, 0, 2};
    if (g->order.n != N_NODES)
        return false;
    for (size_t i = 0; i < N_NODES; i++)
        if (!(w->at[i] = bare(g, i, types[i], n_in[i], n_attrs[i])))
            return false;
    const struct value *x = graph_value(g, w->at[COMPRESS]->in[0]);
    for (size_t i = COMPRESS; i < IF; i++)
        if (w->at[i]->n_out != 1 || graph_value(g, w->at[i]->out[0])->is_output)
            return false;
    return x->is_input && !x->init && is_constant(w, w->at[COMPRESS]->in[1], ELEM_BOOL, 1, 0) &&
           is_constant(w, w->at[EQUAL]->in[1], ELEM_I64, 0, 1) &&
           reads(w->at[CONSTRUCT], 0, w->at[COMPRESS]) &&
           reads(w->at[LENGTH], 0, w->at[CONSTRUCT]) && reads(w->at[EQUAL], 0, w->at[LENGTH]) &&
           reads(w->at[IF], 0, w->at[EQUAL]);
}

static bool is_bare_graph(const struct graph *g, size_t n_outputs) {
    return !g->inputs.n && !g->sparse_inits.n && g->outputs.n == n_outputs && !g->quantization.n &&
           !g->metadata.n && !g->extra.n && !g->doc;
}

// The type of an output of a branch: a tensor of the declared elements, and no shape, which would
// let ONNX Runtime allocate it before the branch runs.
static bool is_output_type(const struct type *t, const struct type *declared) {
    return t && declared && t->kind == TYPE_TENSOR && declared->kind == TYPE_TENSOR &&
           t->elem == declared->elem && elem_text(t->elem) && !t->has_shape;
}

// The else-branch: the length of the sequence is added to that outside, and cast to each element
// type of the outputs.
static bool is_else(const struct wrapper *w, const struct graph *g) {
    const struct node *branch = w->at[IF], *length, *sum;
    bool seen[ELEM_LIMIT_] = {0};
    size_t n_types = 0;
    if (!g || !is_bare_graph(g, branch->n_out) || g->infos.n || g->inits.n || !g->order.n ||
        !(length = bare(g, 0, "SequenceLength", 1, 0)) || length->n_out != 1 ||
        graph_value(g, length->in[0])->outer.i != w->at[CONSTRUCT]->out[0].i || g->order.n < 2 ||
        !(sum = bare(g, 1, "Add", 2, 0)) || sum->n_out != 1 || !reads(sum, 0, length) ||
        graph_value(g, sum->in[1])->outer.i != w->at[LENGTH]->out[0].i)
        return false;
    for (uint32_t k = 0; k < branch->n_out; k++) {
        const struct type *declared = graph_value(w->outer, branch->out[k])->type;
        if (!is_output_type(graph_value(g, g->outputs.at[k])->type, declared))
            return false;
        n_types += !seen[declared->elem];
        seen[declared->elem] = true;
    }
    if (g->order.n != n_types + 2)
        return false;
    for (size_t i = 2; i < g->order.n; i++) {
        const struct node *cast = bare(g, i, "Cast", 1, 1);
        if (!cast || cast->n_out != 1 || !reads(cast, 0, sum))
            return false;
    }
    for (uint32_t k = 0; k < branch->n_out; k++) { // each type has its own Cast
        const struct value *v = graph_value(g, g->outputs.at[k]);
        int64_t to = v->def.i ? node_int(graph_node(g, v->def), "to", 0) : 0;
        if (to != (int64_t)v->type->elem)
            return false;
    }
    return true;
}

// Captures are inputs and initializers of the outer graph, and no other value of the plan has the
// name of one of them.
static bool captures_only_inputs(const struct wrapper *w) {
    const struct graph *g = w->outer, *plan = w->plan;
    for (uint32_t i = 1; i < plan->values.n; i++) {
        value_id v = plan->values.at[i].outer;
        if (v.i && (graph_value(g, v)->def.i || plan->values.at[i].has_info ||
                    v.i == w->at[COMPRESS]->in[1].i || v.i == w->at[EQUAL]->in[1].i))
            return false;
    }
    for (uint32_t i = 1; i < g->values.n; i++) {
        value_id inner = graph_find(plan, g->values.at[i].name);
        if (inner.i && graph_value(plan, inner)->outer.i != i)
            return false;
    }
    return true;
}

// Whether a value of g, the plan or a graph inside of it, has the name of an output of the If.
static bool takes_output_name(const struct wrapper *w, const struct graph *g) {
    const struct graph *sub;
    for (size_t i = 1; i < g->values.n; i++) {
        value_id outer = graph_find(w->outer, g->values.at[i].name);
        if (outer.i && graph_value(w->outer, outer)->def.i &&
            graph_node(w->outer, graph_value(w->outer, outer)->def) == w->at[IF])
            return true;
    }
    for (size_t i = 0; i < g->order.n; i++)
        for (size_t k = 0; (sub = node_subgraph(graph_node(g, g->order.at[i]), k)); k++)
            if (takes_output_name(w, sub))
                return true;
    return false;
}

// Every output of the If is one of the model, and is computed by one node of the plan.
static bool is_then(struct wrapper *w, struct arena *a) {
    const struct graph *plan = w->plan;
    const struct node *branch = w->at[IF];
    if (!plan || !is_bare_graph(plan, branch->n_out) || !captures_only_inputs(w))
        return false;
    bool *seen = ARENA_ARRAY(a, bool, plan->values.n);
    w->failed |= !seen;
    if (!seen)
        return false;
    for (uint32_t k = 0; k < branch->n_out; k++) {
        const struct value *outer = graph_value(w->outer, branch->out[k]);
        value_id v = plan->outputs.at[k];
        const struct value *inner = graph_value(plan, v);
        if (seen[v.i] || !inner->def.i || inner->has_info || inner->doc || inner->metadata.n ||
            !outer->is_output || outer->has_info || !is_output_type(inner->type, outer->type))
            return false;
        seen[v.i] = true;
    }
    return !takes_output_name(w, plan);
}

static struct graph *branch_graph(const struct node *n, const char *name) {
    const struct attr *a = node_attr(n, name);
    return a && a->kind == ATTR_GRAPH && !a->ref ? a->g : NULL;
}

bool unwrap_is_plain(const struct model *m) {
    return !m->functions.n && !m->training.n && !m->graph->quantization.n && m->ir_version >= 4 &&
           model_opset(m, "") >= 11;
}

static bool is_wrapped(struct wrapper *w, struct arena *a) {
    if (!unwrap_is_plain(w->outer->model) || !is_true(w))
        return false;
    w->plan = branch_graph(w->at[IF], "then_branch");
    return is_then(w, a) && is_else(w, branch_graph(w->at[IF], "else_branch"));
}

// By value of the outer graph: the value of the plan that it becomes. NULL: out of memory.
static value_id *bring_in(struct wrapper *w, struct arena *a) {
    struct graph *g = w->outer, *plan = w->plan;
    value_id *to = ARENA_ARRAY(a, value_id, g->values.n);
    for (uint32_t i = 1; to && i < g->values.n; i++) {
        struct value *v = &g->values.at[i];
        if (v->def.i || i == w->at[COMPRESS]->in[1].i || i == w->at[EQUAL]->in[1].i)
            continue;
        to[i] = graph_find(plan, v->name);
        if (!to[i].i && !(to[i] = graph_add_value(plan, v->name, v->type)).i)
            return NULL;
        *graph_value(plan, to[i]) = *v;
    }
    for (uint32_t k = 0; to && k < w->at[IF]->n_out; k++) {
        value_id from = w->at[IF]->out[k], v = plan->outputs.at[k];
        const struct value *outer = graph_value(g, from);
        if (!graph_rename(plan, v, outer->name))
            return NULL;
        struct value *inner = graph_value(plan, v);
        inner->type = outer->type;
        inner->doc = outer->doc;
        inner->metadata = outer->metadata;
        inner->extra = outer->extra;
        to[from.i] = v;
    }
    return to;
}

// Puts the values of a list of the outer graph in front of those of the plan's.
static bool bring_list(struct arena *a, const value_id *to, struct values from, value_id **at,
                       size_t *n) {
    value_id *all = ARENA_ARRAY(a, value_id, from.n + *n);
    size_t n_all = 0;
    for (uint32_t i = 0; all && i < from.n; i++)
        if (to[from.at[i].i].i)
            all[n_all++] = to[from.at[i].i];
    for (size_t i = 0; all && i < *n; i++)
        all[n_all++] = (*at)[i];
    *at = all;
    *n = n_all;
    return all;
}

#define BRING_LIST(list)                                                                           \
    (bring_list(g->model->arena, to, (struct values){g->list.at, (uint32_t)g->list.n},             \
                &plan->list.at, &plan->list.n) &&                                                  \
     ((plan->list.cap = plan->list.n), true))

static bool take_out(struct wrapper *w, struct arena *a) {
    struct graph *g = w->outer, *plan = w->plan;
    const value_id *to = bring_in(w, a);
    plan->outputs.n = 0;
    if (!to || !BRING_LIST(inputs) || !BRING_LIST(outputs) || !BRING_LIST(inits) ||
        !BRING_LIST(sparse_inits) || !BRING_LIST(infos))
        return false;
    plan->outer = NULL;
    plan->name = g->name;
    plan->doc = g->doc;
    plan->metadata = g->metadata;
    plan->extra = g->extra;
    plan->model->graph = plan;
    plan->model->is_wrapped = true;
    return true;
}

status unwrap_model(struct model *m, struct diags *d) {
    struct arena scratch = arena_make(m->arena->mem);
    struct wrapper w = {.outer = m->graph, .diags = d};
    status st = ST_OK;
    if (is_wrapped(&w, &scratch))
        st = take_out(&w, &scratch) ? node_table_unpack(m, m->graph, d) : diag_out_of_memory(d);
    if (w.failed)
        st = diag_out_of_memory(d);
    arena_free(&scratch);
    return w.unread ? ST_IO : st;
}
