// The pass `inline`: replaces calls of the model's functions by their bodies, so that the passes
// after it see operators only. The exporters of newer frameworks write a function per module. A
// value of a body is named after the call and itself, so that names tell where a node comes from;
// results of the call keep their names. Functions may call functions, from subgraphs too.
//
// Each function may import other versions of operators than the model. When they differ, all are
// first converted to the newest of them.
#include <string.h>

#include "ir/splice.h"
#include "passes/pass.h"
#include "passes/upgrade.h"

enum { MAX_NODES = 2000000, MAX_DEPTH = 64 };

struct inliner {
    struct model *m;
    struct pass_context *c;
    int64_t opset; // that all nodes are converted to
    int64_t n_calls, n_nodes;
};

// Where a node is from: its version of the operators, and how deep in calls.
struct origin {
    int64_t opset;
    int depth;
};

static bool same_text(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_standard(const char *domain) {
    return !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
}

static const struct function *callee(const struct model *m, const struct node *n) {
    for (size_t i = 0; i < m->functions.n; i++) {
        const struct function *f = &m->functions.at[i];
        bool domain =
            same_text(f->domain, n->domain) || (is_standard(f->domain) && is_standard(n->domain));
        if (domain && same_text(f->name, n->type) && same_text(f->overload, n->overload))
            return f;
    }
    return NULL;
}

// ---- One version of the operators ----

static int64_t opset_of(const struct function *f) {
    int64_t version = 0;
    for (size_t i = 0; i < f->n_opsets; i++)
        if (is_standard(f->opsets[i].domain))
            version = f->opsets[i].version;
    return version;
}

// Domains that only functions import.
static status import_domains(struct inliner *u, const struct function *f) {
    for (size_t i = 0; i < f->n_opsets; i++) {
        const char *domain = f->opsets[i].domain;
        if (!is_standard(domain) && !model_opset(u->m, domain) &&
            !VEC_PUSH(u->m->arena, &u->m->opsets, f->opsets[i]))
            return diag_out_of_memory(u->c->diags);
    }
    return ST_OK;
}

static status agree_on_opset(struct inliner *u) {
    struct model *m = u->m;
    int64_t own = model_opset(m, ""), newest = own > UPGRADE_OPSET ? own : UPGRADE_OPSET;
    bool differ = false;
    for (size_t i = 0; i < m->functions.n; i++) {
        int64_t version = opset_of(&m->functions.at[i]);
        newest = version > newest ? version : newest;
        differ |= version != 0 && version != own;
    }
    u->opset = differ ? newest : own;
    if (!differ)
        return ST_OK;
    if (own == 0) { // all operators are inside of functions
        struct opset set = {.domain = pool_intern(m->pool, ""), .version = newest};
        bool ok = set.domain && VEC_PUSH(m->arena, &m->opsets, set);
        return ok ? ST_OK : diag_out_of_memory(u->c->diags);
    }
    return upgrade_model(m, newest, u->c);
}

// ---- Calls ----

static status place_graph(struct inliner *u, struct graph *g, struct origin from);

// Binds the inputs and outputs of the body. A result that is not made by the body itself, or that
// it gives twice, is copied by Identity afterwards.
static void bind(const struct splice *s) {
    const struct graph *body = s->from;
    const struct node *call = s->call;
    for (size_t k = 0; k < body->inputs.n && k < call->n_in; k++)
        s->now[body->inputs.at[k].i] = call->in[k];
    for (size_t k = 0; k < body->outputs.n && k < call->n_out; k++) {
        value_id y = body->outputs.at[k];
        if (graph_value(body, y)->def.i && !s->now[y.i].i)
            s->now[y.i] = call->out[k];
    }
}

static status copy_results(struct inliner *u, const struct splice *s) {
    const struct graph *body = s->from;
    for (size_t k = 0; k < body->outputs.n && k < s->call->n_out; k++) {
        value_id y = s->now[body->outputs.at[k].i], want = s->call->out[k];
        if (!want.i || value_same(y, want))
            continue;
        if (!y.i)
            return diag_error(u->c->diags, DIAG_UNSUPPORTED, loc_path(u->m->path, s->scope),
                              "the function returns input \"%s\", which the call leaves out",
                              graph_value(body, body->outputs.at[k])->name);
        if (!graph_add_node(s->to, "", "Identity", (struct values){&y, 1},
                            (struct values){&want, 1})
                 .i)
            return diag_out_of_memory(u->c->diags);
    }
    return ST_OK;
}

static status check_call(struct inliner *u, struct graph *g, node_id id, const struct function *f,
                         struct origin from) {
    const struct node *n = graph_node(g, id);
    struct loc where = loc_path(u->m->path, node_path(g, id, u->c->arena));
    if (n->n_in > f->body->inputs.n || n->n_out > f->body->outputs.n)
        return diag_error(u->c->diags, DIAG_MALFORMED, where,
                          "the call has %u operands and %u results; the function %s takes %zu and "
                          "gives %zu",
                          n->n_in, n->n_out, f->name, f->body->inputs.n, f->body->outputs.n);
    if (from.depth == MAX_DEPTH)
        return diag_error(u->c->diags, DIAG_MALFORMED, where,
                          "functions call one another more than %d deep; a function must not call "
                          "itself",
                          MAX_DEPTH);
    if (u->n_nodes + u->n_calls > MAX_NODES)
        return diag_error(u->c->diags, DIAG_LIMIT, where,
                          "the model would have more than %d nodes without functions", MAX_NODES);
    return ST_OK;
}

static status place_node(struct inliner *u, struct graph *g, node_id id, struct origin from);

// Takes the node out and puts the nodes of the function into its place in the order.
static status place_call(struct inliner *u, struct graph *g, node_id id, const struct function *f,
                         struct origin from) {
    struct node call = *graph_node(g, id);
    status st = check_call(u, g, id, f, from);
    struct splice s = {.to = g,
                       .from = f->body,
                       .scope = node_called(g, id),
                       .now = ARENA_ARRAY(u->c->arena, value_id, f->body->values.n),
                       .function = f,
                       .call = &call};
    if (!st && !s.now)
        st = diag_out_of_memory(u->c->diags);
    if (st)
        return st;
    const struct origin inner = {opset_of(f), from.depth + 1};
    bind(&s);
    st = splice_values(&s, u->c->diags);
    graph_remove_node(g, id);
    for (size_t i = 0; i < f->body->order.n && !st; i++) {
        node_id copy;
        st = splice_node(&s, f->body->order.at[i], u->c->diags, &copy);
        st = st ? st : place_node(u, g, copy, inner);
    }
    u->n_calls++;
    return st ? st : copy_results(u, &s);
}

static status place_subgraphs(struct inliner *u, struct graph *g, node_id id, struct origin from) {
    struct graph *sub;
    status st = ST_OK;
    for (size_t k = 0; !st && (sub = node_subgraph(graph_node(g, id), k)); k++)
        st = place_graph(u, sub, from);
    return st;
}

static status place_node(struct inliner *u, struct graph *g, node_id id, struct origin from) {
    const struct function *f = callee(u->m, graph_node(g, id));
    if (f)
        return place_call(u, g, id, f, from);
    u->n_nodes++;
    status st = from.opset && from.opset < u->opset
                    ? upgrade_node(g, id, from.opset, u->opset, u->c)
                    : ST_OK;
    st = st ? st : place_subgraphs(u, g, id, from);
    if (!st && !VEC_PUSH(u->m->arena, &g->order, id))
        st = diag_out_of_memory(u->c->diags);
    return st;
}

static status place_graph(struct inliner *u, struct graph *g, struct origin from) {
    size_t n = g->order.n;
    node_id *order = arena_copy(u->c->arena, g->order.at, n * sizeof *order);
    if (!order)
        return diag_out_of_memory(u->c->diags);
    g->order.n = 0;
    status st = ST_OK;
    for (size_t i = 0; i < n && !st; i++)
        st = place_node(u, g, order[i], from);
    return st;
}

static status run(struct model *m, struct pass_context *c) {
    if (!m->functions.n)
        return ST_OK;
    struct inliner u = {.m = m, .c = c};
    status st = agree_on_opset(&u);
    for (size_t i = 0; i < m->functions.n && !st; i++)
        st = import_domains(&u, &m->functions.at[i]);
    if (!st)
        st = place_graph(&u, m->graph, (struct origin){u.opset, 0});
    if (!st)
        st = graph_sort(m->graph, c->diags); // converted nodes may stand before what they need
    m->functions.n = 0;
    pass_progress(c, "inline: %lld calls", (long long)u.n_calls);
    return st;
}

const struct pass pass_inline = {
    .name = "inline",
    .summary = "replace calls of the model's functions by their bodies",
    .needs = FACT_TOPO,
    .breaks = FACT_SHAPES | FACT_COSTS,
    .run = run,
};
