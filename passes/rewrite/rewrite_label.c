// Labels: viewers and reports show for every node its origin, its role and its stage. Roles:
//   recomputed  recomputes a node of the baseline step;
//   kept        runs once, and one of its results lives while other nodes are recomputed;
//   once        runs once, and no node is recomputed during the life of its results;
//   control     carries a dependency, not data.
// Stages are the rows of the S and R matrices: a stage ends with a node that runs for the first
// time, and begins with the recomputations that this node needs. Names are made unique, so that
// entries of a profile can be assigned to nodes.
#include "ir/keys.h"
#include "passes/rewrite/rewrite.h"

static bool name_nodes(struct rewrite *r) {
    struct graph *g = r->g;
    struct map names = map_make(r->c->arena);
    int64_t first;
    for (size_t i = 0; i < g->order.n; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        bool is_good = n->name && *n->name && !map_get_text(&names, n->name, &first);
        const char *base = n->n_out && n->out[0].i ? graph_value(g, n->out[0])->name : n->type;
        for (int k = 0; !is_good && base; k++) {
            n->name = k ? str_format(g->model->arena, "%s/%d", base, k) : base;
            is_good = n->name && !map_get_text(&names, n->name, &first);
            base = n->name ? base : NULL;
        }
        if (!is_good || !map_put_text(&names, n->name, 1))
            return false;
    }
    return true;
}

// Is a node recomputed during the life of a result of this one?
static bool is_kept(const struct rewrite *r, const struct node *n, const uint32_t *n_recomputed) {
    for (uint32_t k = 0; k < n->n_out; k++) {
        uint32_t s = n->out[k].i ? r->s.of[n->out[k].i] : 0;
        if (s && !r->s.is_persistent[s] && !r->s.is_output[s] && r->live.from[s] <= r->live.to[s] &&
            n_recomputed[r->live.to[s]] > n_recomputed[r->live.from[s]])
            return true;
    }
    return false;
}

static bool put(struct rewrite *r, struct node *n, const char *key, const char *value) {
    return value && pairs_set(&n->metadata, r->g->model->arena, key, value);
}

status rewrite_label(struct rewrite *r) {
    struct graph *g = r->g;
    uint32_t *n_recomputed = ARENA_ARRAY(r->c->arena, uint32_t, g->order.n + 1), stage = 0;
    bool fits = n_recomputed && name_nodes(r);
    for (size_t i = 0; i < g->order.n && fits; i++)
        n_recomputed[i] =
            (i ? n_recomputed[i - 1] : 0) + (graph_node(g, g->order.at[i])->again.i != 0);
    for (size_t i = 0; i < g->order.n && fits; i++) {
        struct node *n = graph_node(g, g->order.at[i]);
        const char *origin = n->again.i ? graph_node(g, n->again)->name : n->name;
        const char *role = n->again.i                    ? "recomputed"
                           : is_kept(r, n, n_recomputed) ? "kept"
                                                         : "once";
        fits = put(r, n, KEY_ORIGIN, origin) && put(r, n, KEY_ROLE, role) &&
               put(r, n, KEY_STAGE, str_format(g->model->arena, "%u", stage));
        stage += !n->again.i;
    }
    return fits ? ST_OK : diag_out_of_memory(r->c->diags);
}

status rewrite_label_control(struct rewrite *r) {
    struct graph *g = r->g;
    const char *stage = NULL;
    for (size_t i = g->order.n; i-- > 0;) { // control nodes come before the node that they serve
        struct node *n = graph_node(g, g->order.at[i]);
        if (g->order.at[i].i < r->n_nodes) {
            stage = pairs_get(&n->metadata, KEY_STAGE);
            continue;
        }
        n->cost = 0;
        if (!put(r, n, KEY_ROLE, "control") || (stage && !put(r, n, KEY_STAGE, stage)))
            return diag_out_of_memory(r->c->diags);
    }
    return ST_OK;
}
