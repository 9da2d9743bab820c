// Copies of models: see copy.h.
#include "ir/copy.h"

#include <assert.h>

static struct graph *graph_copy(struct model *m, const struct graph *from, struct graph *outer);

// Gives `to` its own array with the elements of `from`.
#define VEC_COPY(a, to, from)                                                                      \
    (((to)->cap = (to)->n = (from)->n,                                                             \
      (to)->at = arena_copy((a), (from)->at, (from)->n * sizeof *(from)->at)) != NULL)

static bool copy_subgraphs(struct model *m, struct attr *at, struct graph *outer) {
    if (at->ref)
        return true;
    if (at->kind == ATTR_GRAPH && at->g)
        return (at->g = graph_copy(m, at->g, outer)) != NULL;
    if (at->kind != ATTR_GRAPHS)
        return true;
    struct graph **graphs = arena_copy(m->arena, at->graphs, at->n * sizeof *graphs);
    bool ok = graphs;
    for (size_t i = 0; ok && i < at->n; i++)
        ok = (graphs[i] = graph_copy(m, graphs[i], outer)) != NULL;
    at->graphs = graphs;
    return ok;
}

static bool copy_node(struct model *m, struct node *n, struct graph *g) {
    n->in = arena_copy(m->arena, n->in, n->n_in * sizeof *n->in);
    n->out = arena_copy(m->arena, n->out, n->n_out * sizeof *n->out);
    n->attrs = arena_copy(m->arena, n->attrs, n->n_attrs * sizeof *n->attrs);
    bool ok = n->in && n->out && n->attrs;
    for (uint32_t i = 0; ok && i < n->n_attrs; i++)
        ok = copy_subgraphs(m, &n->attrs[i], g);
    return ok;
}

static bool copy_names(struct graph *g, const struct graph *from) {
    bool ok = true;
    for (uint32_t v = 1; ok && v < g->values.n; v++) {
        const char *name = g->values.at[v].name;
        if (name && graph_find(from, name).i == v)
            ok = map_put_text(&g->by_name, name, v);
    }
    return ok;
}

static struct graph *graph_copy(struct model *m, const struct graph *from, struct graph *outer) {
    struct arena *a = m->arena;
    struct graph *g = arena_copy(a, from, sizeof *from);
    if (!g)
        return NULL;
    g->model = m;
    g->outer = outer;
    g->by_name = map_make(a);
    g->fresh = map_make(a); // a cache: graph_fresh_name works without its entries
    bool ok = VEC_COPY(a, &g->values, &from->values) && VEC_COPY(a, &g->nodes, &from->nodes) &&
              VEC_COPY(a, &g->order, &from->order) && VEC_COPY(a, &g->inputs, &from->inputs) &&
              VEC_COPY(a, &g->outputs, &from->outputs) && VEC_COPY(a, &g->inits, &from->inits) &&
              VEC_COPY(a, &g->sparse_inits, &from->sparse_inits) &&
              VEC_COPY(a, &g->infos, &from->infos) &&
              VEC_COPY(a, &g->quantization, &from->quantization) && copy_names(g, from);
    for (size_t i = 0; ok && i < g->nodes.n; i++)
        ok = copy_node(m, &g->nodes.at[i], g);
    return ok ? g : NULL;
}

struct model *model_copy(const struct model *from, struct arena *a) {
    assert(from && a);
    struct model *m = arena_copy(a, from, sizeof *from);
    if (!m)
        return NULL;
    m->arena = a;
    m->sources.at = NULL;
    m->sources.n = m->sources.cap = 0;
    bool ok = VEC_COPY(a, &m->opsets, &from->opsets) &&
              VEC_COPY(a, &m->functions, &from->functions) &&
              VEC_COPY(a, &m->training, &from->training) &&
              VEC_COPY(a, &m->configurations, &from->configurations) &&
              VEC_COPY(a, &m->device_names, &from->device_names);
    return ok && (m->graph = graph_copy(m, from->graph, NULL)) ? m : NULL;
}

static void own_graph(struct model *m, struct graph *g) {
    g->model = m;
    for (size_t i = 0; i < g->nodes.n; i++)
        for (size_t k = 0; !g->nodes.at[i].removed && node_subgraph(&g->nodes.at[i], k); k++)
            own_graph(m, node_subgraph(&g->nodes.at[i], k));
}

void model_replace(struct model *m, const struct model *copy) {
    assert(m && copy && m->arena == copy->arena && m->pool == copy->pool);
    struct model own = *copy;
    own.sources = m->sources; // the open files stay
    *m = own;
    own_graph(m, m->graph);
}
