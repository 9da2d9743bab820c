// Topological sort by depth-first search over data dependences. The search visits the nodes in
// their present order and emits a node after its producers, so an order that is topological
// already stays the same. Linear time, without recursion inside a graph; subgraphs are sorted after
// their enclosing graph. A cycle is a back edge into the current path, whose nodes the message
// lists.
#include <assert.h>

#include "ir/base/limits.h"
#include "ir/graph.h"

enum { CYCLE_NAMED = 8 }; // nodes of a cycle that the message lists

// The producers that node n needs: need[start[n] .. start[n + 1] - 1].
struct needs {
    uint32_t *start, *need;
};

static void need_value(const struct graph *g, struct needs *x, uint32_t node, value_id v,
                       bool count) {
    uint32_t def = v.i ? graph_value(g, v)->def.i : 0;
    if (def && count)
        x->start[node + 1]++;
    else if (def)
        x->need[x->start[node]++] = def;
}

static void need_captured(const struct graph *g, struct needs *x, uint32_t node,
                          const struct graph *sub, bool count) {
    for (size_t v = 1; sub && v < sub->values.n; v++)
        need_value(g, x, node, sub->values.at[v].outer, count);
}

static void need_all(const struct graph *g, struct needs *x, bool count) {
    // By id, not in execution order: placing advances each start to the next one.
    for (uint32_t i = 1; i < g->nodes.n; i++) {
        const struct node *n = &g->nodes.at[i];
        for (uint32_t k = 0; k < n->n_in && !n->removed; k++)
            need_value(g, x, i, n->in[k], count);
        for (uint32_t k = 0; k < n->n_attrs && !n->removed; k++) {
            const struct attr *a = &n->attrs[k];
            if (a->kind == ATTR_GRAPH && !a->ref)
                need_captured(g, x, i, a->g, count);
            for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n; s++)
                need_captured(g, x, i, a->graphs[s], count);
        }
    }
}

static bool needs_find(const struct graph *g, struct arena *a, struct needs *x) {
    size_t n = g->nodes.n;
    if (!(x->start = ARENA_ARRAY(a, uint32_t, n + 1)))
        return false;
    need_all(g, x, true);
    for (size_t i = 0; i < n; i++)
        x->start[i + 1] += x->start[i];
    if (!(x->need = ARENA_ARRAY(a, uint32_t, x->start[n])))
        return false;
    need_all(g, x, false);
    for (size_t i = n; i > 0; i--) // placing advanced each start to the next one: shift back
        x->start[i] = x->start[i - 1];
    x->start[0] = 0;
    return true;
}

// `path` is the current path of the search; its nodes from index `from` on form the cycle.
static status report_cycle(const struct graph *g, struct diags *d, const uint32_t *path,
                           size_t n_path, size_t from) {
    struct arena scratch = arena_make(d->arena->mem);
    struct str names = str_make(&scratch);
    size_t n = n_path - from;
    for (size_t i = 0; i < n && i < CYCLE_NAMED; i++)
        str_addf(&names, "%s%s", i ? " needs " : "",
                 node_path(g, (node_id){path[from + i]}, &scratch));
    if (n > CYCLE_NAMED)
        str_addf(&names, " needs … (%zu more)", n - CYCLE_NAMED);
    status st = diag_error(d, DIAG_MALFORMED, loc_file(g->model->path),
                           "the graph has a cycle: %s needs %s", str_text(&names),
                           n == 1 ? "itself" : "the first");
    arena_free(&scratch);
    return st;
}

enum { UNSEEN, WALKING, DONE };

struct walk {
    const struct graph *g;
    struct needs needs;
    uint8_t *state;
    uint32_t *path, *next; // the current path; per node the index of its next need
    node_id *order;
    size_t n_order;
};

static status walk_from(struct walk *w, uint32_t root, struct diags *d) {
    size_t n = 0;
    w->path[n++] = root;
    w->state[root] = WALKING;
    while (n) {
        uint32_t at = w->path[n - 1];
        if (w->next[at] == w->needs.start[at + 1]) {
            w->state[at] = DONE;
            w->order[w->n_order++] = (node_id){at};
            n--;
            continue;
        }
        uint32_t need = w->needs.need[w->next[at]++];
        if (w->state[need] == WALKING) {
            size_t from = n - 1;
            while (w->path[from] != need)
                from--;
            return report_cycle(w->g, d, w->path, n, from);
        }
        if (w->state[need] == UNSEEN) {
            w->state[need] = WALKING;
            w->path[n++] = need;
        }
    }
    return ST_OK;
}

static status sort_one(struct graph *g, struct diags *d) {
    struct arena scratch = arena_make(g->model->arena->mem);
    size_t n = g->nodes.n;
    struct walk w = {.g = g};
    status st = ST_OK;
    bool ok = needs_find(g, &scratch, &w.needs) && (w.state = ARENA_ARRAY(&scratch, uint8_t, n)) &&
              (w.path = ARENA_ARRAY(&scratch, uint32_t, n)) &&
              (w.next = arena_copy(&scratch, w.needs.start, n * sizeof *w.next)) &&
              (w.order = ARENA_ARRAY(&scratch, node_id, n));
    if (!ok)
        st = diag_out_of_memory(d);
    for (size_t i = 0; i < g->order.n && !st; i++)
        if (w.state[g->order.at[i].i] == UNSEEN)
            st = walk_from(&w, g->order.at[i].i, d);
    for (size_t i = 0; i < g->order.n && !st; i++)
        g->order.at[i] = w.order[i];
    arena_free(&scratch);
    return st;
}

static status sort_at(struct graph *g, struct diags *d, int depth) {
    if (depth > LIMIT_WIRE_DEPTH)
        return diag_error(d, DIAG_LIMIT, loc_file(g->model->path),
                          "graphs are nested deeper than %d", LIMIT_WIRE_DEPTH);
    status st = sort_one(g, d);
    for (size_t i = 0; i < g->order.n && !st; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        for (uint32_t k = 0; k < n->n_attrs && !st; k++) {
            const struct attr *a = &n->attrs[k];
            if (a->kind == ATTR_GRAPH && a->g && !a->ref)
                st = sort_at(a->g, d, depth + 1);
            for (size_t s = 0; a->kind == ATTR_GRAPHS && !a->ref && s < a->n && !st; s++)
                st = sort_at(a->graphs[s], d, depth + 1);
        }
    }
    return st;
}

status graph_sort(struct graph *g, struct diags *d) {
    assert(g && d);
    return sort_at(g, d, 0);
}
