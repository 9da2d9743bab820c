// The pass `names`: makes node names unique, so that profiles, reports and viewers can refer to
// nodes by name. The first node with a name keeps it; the others get the name with a number
// appended. A node without a name gets that of its first result.
#include "ir/base/map.h"
#include "passes/pass.h"

// `stem`, or the first of stem.1, stem.2, … that is not taken. NULL: out of memory.
static const char *unique_name(struct map *taken, struct map *last, struct model *m,
                               const char *stem) {
    int64_t k = 0;
    const char *name = stem;
    map_get_text(last, stem, &k);
    for (int64_t other; name && map_get_text(taken, name, &other);)
        name = str_format(m->arena, "%s.%lld", stem, (long long)++k);
    name = name ? pool_intern(m->pool, name) : NULL;
    return name && map_put_text(last, stem, k) && map_put_text(taken, name, 1) ? name : NULL;
}

static status run(struct model *m, struct pass_context *c) {
    struct graph *g = m->graph;
    struct map taken = map_make(c->arena), last = map_make(c->arena);
    VEC(node_id) nameless = {0};
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        int64_t other;
        bool has = n->name && *n->name && !map_get_text(&taken, n->name, &other);
        if (has ? !map_put_text(&taken, n->name, 1)
                : !VEC_PUSH(c->arena, &nameless, g->order.at[i]))
            return diag_out_of_memory(c->diags);
    }
    for (size_t i = 0; i < nameless.n; i++) {
        struct node *n = graph_node(g, nameless.at[i]);
        if (!(n->name = unique_name(&taken, &last, m, node_called(g, nameless.at[i]))))
            return diag_out_of_memory(c->diags);
    }
    return ST_OK;
}

const struct pass pass_names = {
    .name = "names",
    .summary = "give every node a name of its own",
    .run = run,
};
