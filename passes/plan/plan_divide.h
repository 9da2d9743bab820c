// Divisions of a step for several devices: data parallelism, with tensor parallelism of large
// products, and pipelines of micro-batches. plan_devices.c searches from what is found here.
#pragma once

#include "passes/plan/plan_devices.h"

// A way to divide a step, and a strategy to start from.
struct plan_division {
    bool is_found;
    const char *shard;      // as of --shard; NULL: the step is divided already
    const char *summary;    // "data parallelism, 2 ways"
    const char *others;     // all that were considered, with their values
    bool by_part;           // each part has parameters of its own
    struct model *model;    // divided, with costs
    struct options options; // that make this step
    struct plan_placement placement;
    struct strategy start;
    struct strategy_facts facts;
};

// Finds divisions in half of the time until `end_ns`, and the best of them by `objective`:
// out->is_found is false if there is none. A step that --shard divides stays as it is; then these
// are placements of its parts. The placement of a division lives in c->arena.
status plan_divide(const struct model *m, const struct rig *rig, struct pass_context *c,
                   const struct mcmc_objective *objective, int64_t end_ns,
                   struct plan_division *out);
