// Drops the dead outputs of the whole graph where the operators allow it (passes/dead_outputs.h).
#include "passes/dead_outputs.h"
#include "passes/rewrite/rewrite.h"

status rewrite_drop_dead_outputs(struct rewrite *r) {
    struct graph *g = r->g;
    struct uses uses;
    bool *is_live = ARENA_ARRAY(r->c->arena, bool, g->values.n);
    if (!is_live || !graph_uses(g, r->c->arena, &uses))
        return diag_out_of_memory(r->c->diags);
    for (uint32_t v = 1; v < g->values.n; v++)
        is_live[v] = uses.start[v + 1] > uses.start[v] || graph_value(g, (value_id){v})->is_output;
    for (size_t i = 0; i < g->order.n; i++)
        dead_outputs_drop(g, graph_node(g, g->order.at[i]), is_live);
    return ST_OK;
}
