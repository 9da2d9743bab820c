// Live ranges and the liveness peak: see storage.h. Two stages: walk the order once for the first
// and last step of each storage, then sum the bytes that become live and dead at each step.
#include <assert.h>

#include "ir/base/checked.h"
#include "ir/storage.h"

struct walk {
    const struct storage *s;
    struct liveness *l;
    uint32_t step;
};

static void read_value(void *to, value_id v, node_id user) {
    struct walk *w = to;
    uint32_t s = w->s->of[v.i];
    (void)user;
    if (s && !w->s->is_persistent[s] && !w->s->is_output[s])
        w->l->to[s] = w->step;
}

static void walk_order(const struct graph *g, const node_id *order, struct walk *w) {
    const struct storage *s = w->s;
    for (w->step = 0; w->step < w->l->n_steps; w->step++) {
        const struct node *n = graph_node(g, order[w->step]);
        for (uint32_t k = 0; k < n->n_in; k++)
            if (n->in[k].i)
                read_value(w, n->in[k], order[w->step]);
        node_captured(g, order[w->step], read_value, w);
        for (uint32_t k = 0; k < n->n_out; k++) {
            uint32_t made = n->out[k].i ? s->of[n->out[k].i] : 0;
            // A view does not start a live range, but extends that of its storage.
            if (!made || s->is_persistent[made])
                continue;
            if (s->first[made].i == n->out[k].i)
                w->l->from[made] = w->step;
            w->l->to[made] = s->is_output[made] ? w->l->n_steps : w->step;
        }
    }
}

// Adds b to change[step]; false: overflow.
static bool add_at(int64_t *change, uint32_t step, int64_t b) {
    return checked_add(change[step], b, &change[step]);
}

static bool add_up(const struct graph *g, const node_id *order, const struct storage *s,
                   struct liveness *l) {
    int64_t *held = l->held_bytes; // first the changes per step, then their prefix sums
    for (uint32_t i = 1; i < s->n; i++)
        if (!s->is_persistent[i] && l->from[i] <= l->to[i])
            if (!add_at(held, l->from[i], s->bytes[i]) ||
                (l->to[i] < l->n_steps && !add_at(held, l->to[i] + 1, -s->bytes[i])))
                return false;
    l->peak_bytes = s->persistent_bytes;
    int64_t sum = s->persistent_bytes;
    for (uint32_t i = 0; i < l->n_steps; i++) {
        if (!checked_add(sum, held[i], &sum) ||
            !checked_add(sum, graph_node(g, order[i])->workspace_bytes, &held[i]))
            return false;
        if (held[i] > l->peak_bytes) {
            l->peak_bytes = held[i];
            l->peak_step = i;
        }
    }
    return true;
}

status liveness_of(const struct graph *g, const struct storage *s, struct node_list order,
                   struct arena *a, struct diags *d, struct liveness *out) {
    assert(g && s && d && out && order.n < UINT32_MAX);
    *out = (struct liveness){.n_steps = (uint32_t)order.n,
                             .from = ARENA_ARRAY(a, uint32_t, s->n),
                             .to = ARENA_ARRAY(a, uint32_t, s->n),
                             .held_bytes = ARENA_ARRAY(a, int64_t, order.n + 1)};
    if (!out->from || !out->to || !out->held_bytes)
        return diag_out_of_memory(d);
    for (uint32_t i = 1; i < s->n; i++) {
        out->from[i] = s->is_persistent[i] ? 0 : 1; // from > to: not live
        out->to[i] = s->is_persistent[i] ? (uint32_t)order.n : 0;
    }
    walk_order(g, order.at, &(struct walk){.s = s, .l = out});
    if (!add_up(g, order.at, s, out))
        return diag_error(d, DIAG_LIMIT, loc_file(g->model->path),
                          "the values of the graph together exceed 2^63 bytes");
    return ST_OK;
}
