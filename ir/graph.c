// Construction and modification of graphs: see graph.h.
#include "ir/graph.h"

#include <string.h>

struct model *model_new(struct arena *a, struct pool *names) {
    assert(a && names);
    struct model *m = ARENA_NEW(a, struct model);
    if (!m)
        return NULL;
    m->arena = a;
    m->pool = names;
    m->graph = graph_new(m, NULL);
    return m->graph ? m : NULL;
}

void model_close(struct model *m) {
    for (size_t i = 0; m && i < m->sources.n; i++)
        source_close(m->sources.at[i]);
    if (m)
        m->sources.n = 0;
}

struct graph *graph_new(struct model *m, struct graph *outer) {
    assert(m && (!outer || outer->model == m));
    struct graph *g = ARENA_NEW(m->arena, struct graph);
    if (!g)
        return NULL;
    g->model = m;
    g->outer = outer;
    g->by_name = map_make(m->arena);
    g->fresh = map_make(m->arena);
    bool ok = VEC_PUSH(m->arena, &g->values, (struct value){0}) &&
              VEC_PUSH(m->arena, &g->nodes, (struct node){0});
    return ok ? g : NULL;
}

bool graph_reserve(struct graph *g, size_t n_values, size_t n_nodes) {
    struct arena *a = g->model->arena;
    return VEC_RESERVE(a, &g->values, g->values.n + n_values) &&
           VEC_RESERVE(a, &g->nodes, g->nodes.n + n_nodes) &&
           VEC_RESERVE(a, &g->order, g->order.n + n_nodes);
}

int64_t model_opset(const struct model *m, const char *domain) {
    assert(m && domain);
    bool standard = !*domain || strcmp(domain, "ai.onnx") == 0;
    for (size_t i = 0; i < m->opsets.n; i++) {
        const char *d = m->opsets.at[i].domain ? m->opsets.at[i].domain : "";
        if (strcmp(d, domain) == 0 || (standard && (!*d || strcmp(d, "ai.onnx") == 0)))
            return m->opsets.at[i].version;
    }
    return 0;
}

value_id graph_add_value(struct graph *g, const char *name, const struct type *type) {
    assert(g && name);
    const char *interned = pool_intern(g->model->pool, name);
    if (!interned || graph_find(g, interned).i)
        return VALUE_NONE;
    value_id id = {(uint32_t)g->values.n};
    if (!VEC_PUSH(g->model->arena, &g->values, (struct value){.name = interned, .type = type}))
        return VALUE_NONE;
    if (!map_put_text(&g->by_name, interned, id.i)) {
        g->values.n--;
        return VALUE_NONE;
    }
    return id;
}

value_id graph_find(const struct graph *g, const char *name) {
    int64_t i;
    return map_get_text(&g->by_name, name, &i) ? (value_id){(uint32_t)i} : VALUE_NONE;
}

void graph_capture(struct graph *sub, value_id v, value_id outer) {
    assert(sub->outer && v.i && outer.i);
    graph_value(sub, v)->outer = outer;
    graph_value(sub->outer, outer)->is_captured = true;
}

value_id graph_resolve(struct graph *g, const char *name) {
    // Find the graph that defines the name, then capture the value in each graph from there
    // inwards.
    value_id here = graph_find(g, name);
    struct graph *at = g;
    while (!here.i && at->outer)
        here = graph_find(at = at->outer, name);
    while (here.i && at != g) {
        struct graph *inner = g;
        while (inner->outer != at)
            inner = inner->outer;
        value_id in = graph_add_value(inner, name, graph_value(at, here)->type);
        if (in.i)
            graph_capture(inner, in, here);
        here = in;
        at = inner;
    }
    return here;
}

static bool rename_here(struct graph *g, value_id v, const char *name) {
    if (graph_find(g, name).i || !map_put_text(&g->by_name, name, v.i))
        return false;
    map_put_text(&g->by_name, graph_value(g, v)->name, 0); // replaces an entry: allocates nothing
    graph_value(g, v)->name = name;
    return true;
}

bool graph_rename(struct graph *g, value_id v, const char *name) {
    assert(v.i && name);
    const char *interned = pool_intern(g->model->pool, name), *old = graph_value(g, v)->name;
    struct graph *sub;
    if (!interned || !rename_here(g, v, interned))
        return false;
    bool ok = true;
    size_t n = graph_value(g, v)->is_captured ? g->order.n : 0;
    for (size_t i = 0; i < n && ok; i++)
        for (size_t k = 0; (sub = node_subgraph(graph_node(g, g->order.at[i]), k)) && ok; k++) {
            value_id inner = graph_find(sub, old); // a capture has the name of its value
            if (inner.i && graph_value(sub, inner)->outer.i == v.i)
                ok = graph_rename(sub, inner, interned);
        }
    return ok;
}

static bool name_is_free(const struct graph *g, const char *name) {
    for (; g; g = g->outer)
        if (graph_find(g, name).i)
            return false;
    return true;
}

const char *graph_fresh_name(struct graph *g, const char *like) {
    if (*like && name_is_free(g, like))
        return pool_intern(g->model->pool, like);
    // Each search for a stem starts where the last one ended: n equal names take O(n), not O(n²).
    int64_t k = 0;
    const char *stem =
        str_format(g->model->arena, "\n%s", like); // cannot clash with the name of a value
    if (!stem)
        return NULL;
    map_get_text(&g->fresh, stem, &k);
    char *name;
    do {
        name = str_format(g->model->arena, "%s.%lld", like, (long long)++k);
    } while (name && !name_is_free(g, name));
    return name && map_put_text(&g->fresh, stem, k) ? pool_intern(g->model->pool, name) : NULL;
}

node_id graph_add_node(struct graph *g, const char *domain, const char *type, struct values in,
                       struct values out) {
    struct model *m = g->model;
    struct node n = {.domain = pool_intern(m->pool, domain),
                     .type = pool_intern(m->pool, type),
                     .in = arena_copy(m->arena, in.at, in.n * sizeof *in.at),
                     .out = arena_copy(m->arena, out.at, out.n * sizeof *out.at),
                     .n_in = in.n,
                     .n_out = out.n,
                     .cost = -1};
    node_id id = {(uint32_t)g->nodes.n};
    if (!n.domain || !n.type || !n.in || !n.out)
        return NODE_NONE;
    n.op = op_find(n.domain, n.type);
    if (!VEC_PUSH(m->arena, &g->nodes, n))
        return NODE_NONE;
    if (!VEC_PUSH(m->arena, &g->order, id)) {
        g->nodes.n--;
        return NODE_NONE;
    }
    for (uint32_t k = 0; k < out.n; k++)
        if (out.at[k].i) {
            struct value *v = graph_value(g, out.at[k]);
            v->def = id;
            v->def_slot = k;
        }
    return id;
}

bool graph_set_attr(struct graph *g, node_id id, struct attr a) {
    assert(id.i && a.name);
    struct node *n = graph_node(g, id);
    if (!(a.name = pool_intern(g->model->pool, a.name)))
        return false;
    for (uint32_t i = 0; i < n->n_attrs; i++)
        if (n->attrs[i].name == a.name) {
            n->attrs[i] = a;
            return true;
        }
    struct attr *grown = ARENA_ARRAY(g->model->arena, struct attr, n->n_attrs + 1);
    if (!grown)
        return false;
    if (n->n_attrs)
        memcpy(grown, n->attrs, n->n_attrs * sizeof *grown);
    grown[n->n_attrs++] = a;
    n->attrs = grown;
    return true;
}

bool graph_add_input(struct graph *g, value_id v) {
    assert(v.i);
    graph_value(g, v)->is_input = true;
    return VEC_PUSH(g->model->arena, &g->inputs, v);
}

bool graph_add_output(struct graph *g, value_id v) {
    assert(v.i);
    graph_value(g, v)->is_output = true;
    return VEC_PUSH(g->model->arena, &g->outputs, v);
}

bool graph_add_init(struct graph *g, value_id v, struct tensor *t) {
    assert(v.i && t);
    graph_value(g, v)->init = t;
    return VEC_PUSH(g->model->arena, &g->inits, v);
}

void graph_keep_inits(struct graph *g, const bool *kept) {
    size_t n = 0;
    for (size_t i = 0; i < g->inits.n; i++)
        if (kept[g->inits.at[i].i])
            g->inits.at[n++] = g->inits.at[i];
        else
            graph_value(g, g->inits.at[i])->init = NULL;
    g->inits.n = n;
    n = 0;
    for (size_t i = 0; i < g->sparse_inits.n; i++)
        if (kept[g->sparse_inits.at[i].i])
            g->sparse_inits.at[n++] = g->sparse_inits.at[i];
        else
            graph_value(g, g->sparse_inits.at[i])->sparse_init = NULL;
    g->sparse_inits.n = n;
}

void graph_remove_input(struct graph *g, value_id v) {
    size_t n = 0;
    for (size_t i = 0; i < g->inputs.n; i++)
        if (!value_same(g->inputs.at[i], v))
            g->inputs.at[n++] = g->inputs.at[i];
    g->inputs.n = n;
    graph_value(g, v)->is_input = false;
}

void graph_remove_node(struct graph *g, node_id id) {
    assert(id.i);
    struct node *n = graph_node(g, id);
    n->removed = true;
    for (uint32_t k = 0; k < n->n_out; k++)
        if (n->out[k].i)
            graph_value(g, n->out[k])->def = NODE_NONE;
}

void graph_sweep(struct graph *g) {
    size_t n = 0;
    for (size_t i = 0; i < g->order.n; i++)
        if (!graph_node(g, g->order.at[i])->removed)
            g->order.at[n++] = g->order.at[i];
    g->order.n = n;
}
