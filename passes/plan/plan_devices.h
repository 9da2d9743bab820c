// Plans for several devices: which device runs what, in which order, what is transferred,
// recomputed, duplicated, or offloaded to the memory of the host. The promise is that no device
// holds more than it has.
#pragma once

#include "passes/plan/plan.h"
#include "passes/remat/placement_problem.h"
#include "solver/place.h"

// The placement problem of a step that has costs.
struct plan_placement {
    const struct rig *rig;
    struct remat remat;
    struct placement problem;
};

status plan_placement_make(struct model *m, const struct rig *rig, struct pass_context *c,
                           struct plan_placement *out);

// How, beside the options.
struct plan_devices_how {
    struct place_hooks hooks;
    const struct mcmc_objective *objective; // in place of the option's, or NULL
    const struct team *team;                // processes to search with, or NULL
};

// A strategy and what it is the strategy of.
struct plan_placed {
    struct plan_placement placement;
    struct place_result result;
};

// Searches and turns the step into the plan. What is in *out lives in c->arena.
status plan_devices(struct model *m, const struct rig *rig, struct pass_context *c,
                    const struct plan_devices_how *how, struct plan_facts *out);
