// The structural verifier: the invariants of a graph between passes. Reports all violations. For
// each graph it checks the values, then the lists, then the nodes in execution order with their
// subgraphs; functions come last. Linear in the size of the model.
#include <assert.h>
#include <string.h>

#include "ir/base/limits.h"
#include "ir/graph.h"

struct verify {
    const struct model *m;
    struct diags *d;
    struct arena scratch;
    int depth;
    status st;
};

static const char *graph_label(const struct graph *g) {
    return g->name && *g->name ? g->name : g->outer ? "subgraph" : "graph";
}

__attribute__((format(printf, 3, 4))) static void bad_graph(struct verify *v, const struct graph *g,
                                                            const char *format, ...) {
    va_list args;
    va_start(args, format);
    v->st = diag_errorv(v->d, DIAG_MALFORMED, loc_path(v->m->path, graph_label(g)), format, args);
    va_end(args);
}

__attribute__((format(printf, 4, 5))) static void bad_node(struct verify *v, const struct graph *g,
                                                           node_id n, const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct loc where = loc_path(v->m->path, node_path(g, n, &v->scratch));
    v->st = diag_errorv(v->d, DIAG_MALFORMED, where, format, args);
    va_end(args);
}

static bool in_range(const struct graph *g, value_id v) {
    return v.i < g->values.n;
}

static void check_type(struct verify *v, const struct graph *g, const struct value *x) {
    int depth = 0;
    for (const struct type *t = x->type; t; t = t->child) {
        if (++depth > LIMIT_WIRE_DEPTH) {
            bad_graph(v, g, "the type of \"%s\" is nested deeper than %d", x->name,
                      LIMIT_WIRE_DEPTH);
            return;
        }
        if (t->rank < 0 || t->rank > LIMIT_RANK || (t->rank && !t->has_shape))
            bad_graph(v, g, "the type of \"%s\" has a wrong rank: %d", x->name, (int)t->rank);
        else
            for (int32_t i = 0; i < t->rank; i++)
                if (t->dims[i].size < DIM_UNKNOWN || t->dims[i].size > LIMIT_DIM)
                    bad_graph(v, g, "dimension %d of \"%s\" is %lld", (int)i, x->name,
                              (long long)t->dims[i].size);
    }
}

static void check_value(struct verify *v, const struct graph *g, uint32_t i) {
    const struct value *x = &g->values.at[i];
    if (!x->name || !*x->name) {
        bad_graph(v, g, "value %u has no name", i);
        return;
    }
    if (graph_find(g, x->name).i != i)
        bad_graph(v, g, "two values have the name \"%s\"", x->name);
    if (x->def.i >= g->nodes.n || (x->def.i && (graph_node(g, x->def)->removed ||
                                                x->def_slot >= graph_node(g, x->def)->n_out ||
                                                graph_node(g, x->def)->out[x->def_slot].i != i)))
        bad_graph(v, g, "the producer of \"%s\" does not have it as an output", x->name);
    int n_origins =
        (x->def.i != 0) + (x->outer.i != 0) + (x->is_input || x->init || x->sparse_init);
    if (n_origins > 1)
        bad_graph(v, g,
                  "\"%s\" has more than one origin: a node, the enclosing graph, an input or "
                  "an initializer",
                  x->name);
    if (x->outer.i && (!g->outer || !in_range(g->outer, x->outer)))
        bad_graph(v, g, "\"%s\" captures a value that the enclosing graph does not have", x->name);
    check_type(v, g, x);
}

// A list of values: ids in range, no duplicates, and exactly the values with its flag.
struct listing {
    const char *what;
    const value_id *at;
    size_t n;
    bool may_repeat;
};

static bool is_listed(const struct value *x, int list) {
    return list == 0   ? x->is_input
           : list == 1 ? x->is_output
           : list == 2 ? x->init != NULL
           : list == 3 ? x->sparse_init != NULL
                       : x->has_info;
}

static void check_lists(struct verify *v, const struct graph *g) {
    const struct listing lists[] = {
        {"inputs", g->inputs.at, g->inputs.n, false},
        {"outputs", g->outputs.at, g->outputs.n, true},
        {"initializers", g->inits.at, g->inits.n, false},
        {"sparse initializers", g->sparse_inits.at, g->sparse_inits.n, false},
        {"declarations", g->infos.at, g->infos.n, false}};
    for (int l = 0; l < 5; l++) {
        bool *seen = ARENA_ARRAY(&v->scratch, bool, g->values.n);
        if (!seen) {
            v->st = diag_out_of_memory(v->d);
            return;
        }
        for (size_t i = 0; i < lists[l].n; i++) {
            value_id x = lists[l].at[i];
            if (!x.i || !in_range(g, x))
                bad_graph(v, g, "entry %zu of the %s is not a value", i, lists[l].what);
            else if (seen[x.i] && !lists[l].may_repeat)
                bad_graph(v, g, "\"%s\" is listed twice in the %s", graph_value(g, x)->name,
                          lists[l].what);
            else if (!is_listed(graph_value(g, x), l))
                bad_graph(v, g, "\"%s\" is in the %s without their flag", graph_value(g, x)->name,
                          lists[l].what);
            if (in_range(g, x))
                seen[x.i] = true;
        }
        for (size_t i = 1; i < g->values.n; i++)
            if (is_listed(&g->values.at[i], l) && !seen[i])
                bad_graph(v, g, "\"%s\" is missing from the %s", g->values.at[i].name,
                          lists[l].what);
    }
}

static void check_arity(struct verify *v, const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    if (n->op != op_find(n->domain, n->type)) {
        bad_node(v, g, id, "has an operator number that does not match its type");
        return;
    }
    const struct op_info *op = op_info(n->op);
    // Omitted trailing operands may be listed as empty names.
    uint32_t n_in = n->n_in, n_out = n->n_out;
    while (n_in > 0 && !n->in[n_in - 1].i)
        n_in--;
    while (n_out > 0 && !n->out[n_out - 1].i)
        n_out--;
    if (n_in < (uint32_t)op->min_in || (op->max_in != OP_MANY && n_in > (uint32_t)op->max_in))
        bad_node(v, g, id, "has %u inputs; %s takes %d to %d", n_in, op->name, op->min_in,
                 op->max_in);
    if (op->max_out != OP_MANY && n_out > (uint32_t)op->max_out)
        bad_node(v, g, id, "has %u outputs; %s gives at most %d", n_out, op->name, op->max_out);
}

static void check_graph(struct verify *v, const struct graph *g);

static void check_subgraph(struct verify *v, const struct graph *g, node_id id,
                           const struct attr *a, const struct graph *sub) {
    if (!sub)
        bad_node(v, g, id, "attribute \"%s\" has no graph", a->name);
    else if (sub->outer != g || sub->model != v->m)
        bad_node(v, g, id, "the graph in attribute \"%s\" belongs to another node", a->name);
    else
        check_graph(v, sub);
}

static void check_attrs(struct verify *v, const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    struct map names = map_make(&v->scratch);
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        const struct attr *a = &n->attrs[k];
        int64_t before;
        if (!a->name || !*a->name) {
            bad_node(v, g, id, "attribute %u has no name", k);
            continue;
        }
        if (map_get_text(&names, a->name, &before))
            bad_node(v, g, id, "has attribute \"%s\" twice", a->name);
        else if (n->n_attrs > 1 && !map_put_text(&names, a->name, k))
            v->st = diag_out_of_memory(v->d);
        if ((int)a->kind < ATTR_NONE || a->kind > ATTR_TYPES)
            bad_node(v, g, id, "attribute \"%s\" has the unknown kind %d", a->name, (int)a->kind);
        if (a->kind == ATTR_GRAPH && !a->ref)
            check_subgraph(v, g, id, a, a->g);
        for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n; s++)
            check_subgraph(v, g, id, a, a->graphs[s]);
    }
}

// Whether a value is available to the next node; `made` marks the outputs of the nodes so far.
static bool is_available(const struct graph *g, value_id id, const bool *made) {
    const struct value *x = graph_value(g, id);
    return made[id.i] || x->is_input || x->init || x->sparse_init || x->outer.i;
}

static void check_operand(struct verify *v, const struct graph *g, node_id id, value_id x,
                          const bool *made) {
    if (!in_range(g, x))
        bad_node(v, g, id, "reads a value that does not exist");
    else if (x.i && !is_available(g, x, made))
        bad_node(v, g, id, "reads \"%s\"%s", graph_value(g, x)->name,
                 graph_value(g, x)->def.i ? " before its producer: the order is not topological"
                                          : ", which has no producer");
}

static void check_captures(struct verify *v, const struct graph *g, node_id id,
                           const struct graph *sub, const bool *made) {
    for (size_t x = 1; sub && sub->outer == g && x < sub->values.n; x++)
        check_operand(v, g, id, sub->values.at[x].outer, made);
}

static void check_planning(struct verify *v, const struct graph *g, node_id id) {
    const struct node *n = graph_node(g, id);
    if (n->again.i >= g->nodes.n || n->again.i == id.i)
        bad_node(v, g, id, "recomputes a node that does not exist");
    if (n->device > v->m->device_names.n)
        bad_node(v, g, id, "is on device %u of %zu", n->device, v->m->device_names.n);
    if (n->cost < -1 || n->workspace_bytes < 0)
        bad_node(v, g, id, "has a negative cost or workspace");
}

static void check_node(struct verify *v, const struct graph *g, node_id id, bool *made) {
    const struct node *n = graph_node(g, id);
    for (uint32_t k = 0; k < n->n_in; k++)
        check_operand(v, g, id, n->in[k], made);
    for (uint32_t k = 0; k < n->n_attrs; k++) {
        const struct attr *a = &n->attrs[k];
        if (a->kind == ATTR_GRAPH && !a->ref)
            check_captures(v, g, id, a->g, made);
        for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n; s++)
            check_captures(v, g, id, a->graphs[s], made);
    }
    for (uint32_t k = 0; k < n->n_out; k++) {
        value_id x = n->out[k];
        if (!in_range(g, x))
            bad_node(v, g, id, "produces a value that does not exist");
        else if (x.i && (graph_value(g, x)->def.i != id.i || graph_value(g, x)->def_slot != k))
            bad_node(v, g, id, "produces \"%s\", which has another producer",
                     graph_value(g, x)->name);
        else
            made[x.i] = x.i != 0;
    }
    check_arity(v, g, id);
    check_attrs(v, g, id);
    check_planning(v, g, id);
}

static void check_order(struct verify *v, const struct graph *g) {
    bool *made = ARENA_ARRAY(&v->scratch, bool, g->values.n);
    bool *seen = ARENA_ARRAY(&v->scratch, bool, g->nodes.n);
    if (!made || !seen) {
        v->st = diag_out_of_memory(v->d);
        return;
    }
    for (size_t i = 0; i < g->order.n; i++) {
        node_id id = g->order.at[i];
        if (!id.i || id.i >= g->nodes.n || graph_node(g, id)->removed)
            bad_graph(v, g, "entry %zu of the order is not a node", i);
        else if (seen[id.i])
            bad_node(v, g, id, "is listed twice in the order");
        else
            check_node(v, g, id, made);
        if (id.i < g->nodes.n)
            seen[id.i] = true;
    }
    for (uint32_t i = 1; i < g->nodes.n; i++)
        if (!g->nodes.at[i].removed && !seen[i])
            bad_node(v, g, (node_id){i}, "is not in the order");
    for (size_t i = 0; i < g->outputs.n; i++)
        if (in_range(g, g->outputs.at[i]) && !is_available(g, g->outputs.at[i], made))
            bad_graph(v, g, "the output \"%s\" has no producer",
                      graph_value(g, g->outputs.at[i])->name);
}

static void check_graph(struct verify *v, const struct graph *g) {
    if (v->depth == LIMIT_WIRE_DEPTH) {
        v->st = diag_error(v->d, DIAG_LIMIT, loc_path(v->m->path, graph_label(g)),
                           "graphs are nested deeper than %d", LIMIT_WIRE_DEPTH);
        return;
    }
    v->depth++;
    for (uint32_t i = 1; i < g->values.n; i++)
        check_value(v, g, i);
    check_lists(v, g);
    check_order(v, g);
    v->depth--;
}

static void check_functions(struct verify *v) {
    struct map known = map_make(&v->scratch);
    for (size_t i = 0; i < v->m->functions.n; i++) {
        const struct function *f = &v->m->functions.at[i];
        const char *key = str_format(&v->scratch, "%s\n%s\n%s", f->domain ? f->domain : "",
                                     f->name ? f->name : "", f->overload ? f->overload : "");
        int64_t before;
        if (!key) {
            v->st = diag_out_of_memory(v->d);
            return;
        }
        if (map_get_text(&known, key, &before))
            v->st = diag_error(v->d, DIAG_MALFORMED, loc_path(v->m->path, f->name),
                               "there are two functions of this name");
        else if (!map_put_text(&known, key, (int64_t)i))
            v->st = diag_out_of_memory(v->d);
        if (f->body->outer || f->body->model != v->m)
            v->st = diag_error(v->d, DIAG_MALFORMED, loc_path(v->m->path, f->name),
                               "the body of this function belongs to another graph");
        else
            check_graph(v, f->body);
    }
}

status model_verify(const struct model *m, struct diags *d) {
    assert(m && m->graph && d);
    struct verify v = {.m = m, .d = d, .scratch = arena_make(m->arena->mem)};
    check_graph(&v, m->graph);
    check_functions(&v);
    arena_free(&v.scratch);
    return v.st;
}
