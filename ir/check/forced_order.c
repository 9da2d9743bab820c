// The part of an order that data dependencies force: see forced_order.h. For a fixed light_bytes,
// number the heavy nodes 1, 2, … in the order of the graph. One forward pass computes for each node
// the highest number among its heavy ancestors. The heavy nodes form a chain, and so have only one
// topological order, if and only if the highest heavy ancestor of number i is number i - 1 for
// every i. A higher limit leaves a subset of the heavy nodes, and a subset of a chain is a chain.
// The property is therefore monotone, and a binary search over the storage sizes finds the smallest
// limit: O((nodes + edges) log storages).
#include "ir/check/forced_order.h"

#include <assert.h>
#include <stdlib.h>

#include "ir/base/checked.h"

struct walk {
    const struct graph *g;
    const struct storage *s;
    int64_t limit;
    uint32_t *reach; // per node: the highest number of a heavy node among itself and its ancestors
    bool heavy;      // of the node being visited: one of its values exceeds the limit
    uint32_t latest; // of the node being visited: the maximum of reach over its producers
};

static void visit_value(void *to, value_id v, node_id user) {
    struct walk *w = to;
    (void)user;
    uint32_t s = w->s->of[v.i];
    node_id def = graph_value(w->g, v)->def;
    w->heavy |= s && !w->s->is_persistent[s] && w->s->bytes[s] > w->limit;
    if (def.i && w->reach[def.i] > w->latest)
        w->latest = w->reach[def.i];
}

static bool is_view(const struct walk *w, const struct node *n) {
    return n->n_in && n->n_out && n->in[0].i && n->out[0].i &&
           w->s->of[n->in[0].i] == w->s->of[n->out[0].i];
}

// Whether the nodes that are heavy under the limit form a chain. If so sets out->n_heavy, else
// out->before and out->after: the first consecutive heavy nodes without a path between them.
static bool is_chain(struct walk *w, struct forced *out) {
    uint32_t n_heavy = 0;
    node_id last = NODE_NONE;
    for (size_t i = 0; i < w->g->order.n; i++) {
        node_id id = w->g->order.at[i];
        const struct node *n = graph_node(w->g, id);
        w->heavy = false;
        w->latest = 0;
        w->reach[id.i] = 0; // clears the previous pass
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k].i)
                visit_value(w, n->in[k], id);
        node_captured(w->g, id, visit_value, w);
        uint32_t needed = w->latest;
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k].i)
                visit_value(w, n->out[k], id);
        w->reach[id.i] = needed;
        if (!w->heavy || is_view(w, n))
            continue;
        if (needed != n_heavy) {
            out->before = last;
            out->after = id;
            return false;
        }
        last = id;
        w->reach[id.i] = ++n_heavy;
    }
    out->n_heavy = n_heavy;
    return true;
}

status forced_order(const struct graph *g, const struct storage *s, struct arena *a,
                    struct diags *d, struct forced *out) {
    assert(g && s && a && d && out);
    *out = (struct forced){0};
    int64_t *sizes = ARENA_ARRAY(a, int64_t, s->n + 1u);
    struct walk w = {.g = g, .s = s, .reach = ARENA_ARRAY(a, uint32_t, g->nodes.n)};
    size_t n = 1; // sizes[0] is the limit 0: every node with a non-empty storage is heavy
    if (!sizes || !w.reach)
        return diag_out_of_memory(d);
    for (uint32_t i = 1; i < s->n; i++)
        if (!s->is_persistent[i])
            sizes[n++] = s->bytes[i];
    qsort(sizes, n, sizeof *sizes, int64_compare);
    size_t low = 0, high = n - 1; // at the largest size no node is heavy: a chain
    while (low < high) {
        size_t middle = (low + high) / 2;
        w.limit = sizes[middle];
        if (is_chain(&w, out))
            high = middle;
        else
            low = middle + 1;
    }
    w.limit = sizes[high];
    *out = (struct forced){.light_bytes = w.limit};
    (void)is_chain(&w, out);
    if (high > 0) { // the nodes that prevent a smaller limit
        struct forced less;
        w.limit = sizes[high - 1];
        if (!is_chain(&w, &less)) {
            out->before = less.before;
            out->after = less.after;
        }
    }
    for (size_t i = 0; i < n && sizes[i] <= out->light_bytes; i++)
        if (!checked_add(out->loose_bytes, sizes[i], &out->loose_bytes))
            out->loose_bytes = INT64_MAX;
    return ST_OK;
}
