// The pass `sort`: puts the nodes of every graph and function into a topological order (ir/topo.c).
#include "passes/pass.h"

static status run(struct model *m, struct pass_context *c) {
    status st = graph_sort(m->graph, c->diags);
    for (size_t i = 0; i < m->functions.n && !st; i++)
        st = graph_sort(m->functions.at[i].body, c->diags);
    return st;
}

const struct pass pass_sort = {
    .name = "sort",
    .summary = "put nodes into a topological order",
    .gives = FACT_TOPO,
    .run = run,
};
