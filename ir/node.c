// Queries of nodes: attributes, paths for messages, use lists. See graph.h.
#include "ir/graph.h"

#include <string.h>

const struct attr *node_attr(const struct node *n, const char *name) {
    assert(n && name);
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (strcmp(n->attrs[i].name, name) == 0)
            return &n->attrs[i];
    return NULL;
}

int64_t node_int(const struct node *n, const char *name, int64_t otherwise) {
    const struct attr *a = node_attr(n, name);
    return a && a->kind == ATTR_INT && !a->ref ? a->i : otherwise;
}

double node_real(const struct node *n, const char *name, double otherwise) {
    const struct attr *a = node_attr(n, name);
    return a && a->kind == ATTR_FLOAT && !a->ref ? (double)a->f : otherwise;
}

const char *node_text(const struct graph *g, const struct node *n, const char *name,
                      const char *otherwise) {
    const struct attr *a = node_attr(n, name);
    if (!a || a->kind != ATTR_STRING || a->ref)
        return otherwise;
    const char *text = pool_intern_n(g->model->pool, (const char *)a->s.at, a->s.n);
    return text ? text : otherwise;
}

const char *node_called(const struct graph *g, node_id n) {
    const struct node *at = graph_node(g, n);
    if (at->name && *at->name)
        return at->name;
    for (uint32_t k = 0; k < at->n_out; k++)
        if (at->out[k].i)
            return graph_value(g, at->out[k])->name;
    return at->type;
}

const char *node_path(const struct graph *g, node_id id, struct arena *a) {
    const struct node *n = graph_node(g, id);
    const char *graph = g->name && *g->name ? g->name : g->outer ? "subgraph" : "graph";
    const char *name = n->name && *n->name ? n->name
                       : n->n_out && n->out[0].i && n->out[0].i < g->values.n
                           ? graph_value(g, n->out[0])->name
                           : "";
    // Messages number nodes from 0, as in the file; ids start at 1.
    char *path =
        str_format(a, "%s/node %u (%s%s%s)", graph, id.i - 1, n->type, *name ? " " : "", name);
    return path ? path : "";
}

struct graph *node_subgraph(const struct node *n, size_t k) {
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        const struct attr *a = &n->attrs[i];
        if (a->ref) // refers to an attribute of the enclosing function
            continue;
        if (a->kind == ATTR_GRAPH && a->g && k-- == 0)
            return a->g;
        if (a->kind != ATTR_GRAPHS)
            continue;
        if (k < a->n)
            return a->graphs[k];
        k -= a->n;
    }
    return NULL;
}

static void visit_captured(const struct graph *g, const struct graph *sub, node_id user,
                           visit_use *visit, void *to) {
    // Captures of deeper subgraphs were resolved through this one: they are among its own.
    for (size_t v = 1; v < sub->values.n; v++)
        if (sub->values.at[v].outer.i && sub->outer == g)
            visit(to, sub->values.at[v].outer, user);
}

void node_captured(const struct graph *g, node_id user, visit_use *visit, void *to) {
    const struct graph *sub;
    for (size_t k = 0; (sub = node_subgraph(graph_node(g, user), k)); k++)
        visit_captured(g, sub, user, visit, to);
}

static void count_use(void *to, value_id v, node_id user) {
    (void)user;
    ((struct uses *)to)->start[v.i + 1]++;
}

static void place_use(void *to, value_id v, node_id user) {
    struct uses *u = to;
    u->node[u->start[v.i]++] = user;
}

static void visit_all(const struct graph *g, visit_use *visit, struct uses *u) {
    for (size_t i = 0; i < g->order.n; i++) {
        node_id id = g->order.at[i];
        const struct node *n = graph_node(g, id);
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k].i)
                visit(u, n->in[k], id);
        node_captured(g, id, visit, u);
    }
}

bool graph_uses(const struct graph *g, struct arena *a, struct uses *out) {
    size_t n = g->values.n;
    if (!(out->start = ARENA_ARRAY(a, uint32_t, n + 1)))
        return false;
    visit_all(g, count_use, out);
    for (size_t v = 0; v < n; v++)
        out->start[v + 1] += out->start[v];
    if (!(out->node = ARENA_ARRAY(a, node_id, out->start[n])))
        return false;
    visit_all(g, place_use, out);
    // Placing advanced each start to the next one: shift back.
    memmove(out->start + 1, out->start, n * sizeof *out->start);
    out->start[0] = 0;
    return true;
}
