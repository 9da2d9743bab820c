// How much of an order is forced: see forced_order.h. For a given limit, one walk in which every
// node learns the number of the latest heavy node that it needs, directly or through others. The
// heavy nodes are in order when each needs the one numbered just before it: then each needs all
// earlier ones. With a higher limit fewer nodes are heavy, and what was in order stays so; hence
// the least limit is found by halving.
#include "ir/check/forced_order.h"

#include <stdlib.h>

#include "ir/base/checked.h"

struct walk {
    const struct graph *g;
    const struct storage *s;
    int64_t limit;
    uint32_t *reach; // per node: the number of the latest heavy one that it is or needs
    bool heavy;
    uint32_t latest;
};

static void look(void *to, value_id v, node_id user) {
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

// Whether the nodes that are heavy under the limit are in order; *n_heavy of them were met.
static bool in_order(struct walk *w, struct forced *out) {
    uint32_t n_heavy = 0;
    node_id last = NODE_NONE;
    for (size_t i = 0; i < w->g->order.n; i++) {
        node_id id = w->g->order.at[i];
        const struct node *n = graph_node(w->g, id);
        w->heavy = false;
        w->latest = 0;
        w->reach[id.i] = 0; // of an earlier walk
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k].i)
                look(w, n->in[k], id);
        node_captured(w->g, id, look, w);
        uint32_t needed = w->latest;
        for (uint32_t k = 0; k < n->n_out; k++)
            if (n->out[k].i)
                look(w, n->out[k], id);
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
    *out = (struct forced){0};
    int64_t *sizes = ARENA_ARRAY(a, int64_t, s->n + 1u);
    struct walk w = {.g = g, .s = s, .reach = ARENA_ARRAY(a, uint32_t, g->nodes.n)};
    size_t n = 1; // the first limit is 0: all that has bytes is heavy
    if (!sizes || !w.reach)
        return diag_out_of_memory(d);
    for (uint32_t i = 1; i < s->n; i++)
        if (!s->is_persistent[i])
            sizes[n++] = s->bytes[i];
    qsort(sizes, n, sizeof *sizes, int64_compare);
    size_t low = 0, high = n - 1; // nothing is above the largest size: in order
    while (low < high) {
        size_t middle = (low + high) / 2;
        w.limit = sizes[middle];
        if (in_order(&w, out))
            high = middle;
        else
            low = middle + 1;
    }
    w.limit = sizes[high];
    *out = (struct forced){.light_bytes = w.limit};
    (void)in_order(&w, out);
    if (high > 0) { // which nodes stand in the way of less
        struct forced less;
        w.limit = sizes[high - 1];
        if (!in_order(&w, &less)) {
            out->before = less.before;
            out->after = less.after;
        }
    }
    for (size_t i = 0; i < n && sizes[i] <= out->light_bytes; i++)
        if (!checked_add(out->loose_bytes, sizes[i], &out->loose_bytes))
            out->loose_bytes = INT64_MAX;
    return ST_OK;
}
