// The pass `shard`: divides nodes as --shard says (shard.h).
#include "passes/shard/shard_options.h"

static const struct option_spec options[] = {
    {"Sharding", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
    {"shard", 0, OPTION_LIST, "NODES:DIM:WAYS", NULL, 0, 0,
     "divide these nodes (* and ? match) along sample, parameter, attribute or sum, in mfc opt; "
     "WAYS:scatter: large sums in pieces, one for each part"},
    {"no-shard", 0, OPTION_FLAG, NULL, NULL, 0, 0,
     "do not divide operators, neither to fit the budget nor over devices"},
    {"shard-dims", 0, OPTION_LIST, "DIM", NULL, 0, 0,
     "divide along these only: sample, attribute, parameter; not given: all, in this order"},
    {"max-ways", 0, OPTION_INT, "N", "8", 2, SHARD_MAX_WAYS, "parts of an operator, at most"},
    {0}};

status shard_divide(struct model *m, const struct shard_request *ask, struct pass_context *c) {
    struct shard_choices x;
    status st = shard_choose(m->graph, ask, c, &x);
    return st ? st : shard_apply(m, x.of, c);
}

static status run(struct model *m, struct pass_context *c) {
    struct shard_choices x;
    if (!options_get(c->options, "shard")->list.n)
        return ST_OK;
    status st = shard_options_choose(m->graph, c, &x);
    return st ? st : shard_apply(m, x.of, c);
}

const struct pass pass_shard = {
    .name = "shard",
    .summary = "divide nodes into parts, along the batch or other dimensions",
    .needs = FACT_TOPO | FACT_SHAPES,
    .breaks = FACT_COSTS,
    .options = options,
    .run = run,
};
