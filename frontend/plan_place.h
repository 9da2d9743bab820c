// What `mfc model.onnx -o plan.onnx --rig RIG` does from a model to a plan on several devices:
// which runs what, in which order, what is sent, computed again, copied, or put aside in the host's
// memory. The promise is that no device holds more than it has.
#pragma once

#include "frontend/rig.h"
#include "ir/pass.h"
#include "passes/remat.h"
#include "solver/place.h"

#define PLAN_PLACE_OPTIONS                                                                         \
    {"rig",       0,                                                                               \
     OPTION_TEXT, "RIG",                                                                           \
     NULL,        0,                                                                               \
     0,           "plan for these devices: a file, or a name such as 4xV100-16GB (mfc rig)"},      \
        {"objective",                                                                              \
         0,                                                                                        \
         OPTION_TEXT,                                                                              \
         "WHAT",                                                                                   \
         "latency",                                                                                \
         0,                                                                                        \
         0,                                                                                        \
         "with --rig, what is to be small: latency, throughput, or a formula over makespan, "      \
         "load, peak, moved, energy"},                                                             \
        {"no-copies", 0, OPTION_FLAG, NULL, NULL, 0, 0, "no node runs on several devices"},        \
        {"no-recompute", 0, OPTION_FLAG, NULL, NULL, 0, 0, "no node runs twice on a device"}, {    \
        "no-offload", 0, OPTION_FLAG, NULL, NULL, 0, 0, "nothing is put aside in host memory"      \
    }

// The placement problem of a step that has costs.
struct plan_placement {
    struct rig rig;
    struct remat remat;
    struct placement problem;
};

status plan_placement_make(struct model *m, const char *rig, struct pass_context *c,
                           struct plan_placement *out);

// How, beside the options.
struct plan_place_how {
    struct place_hooks hooks;
    const struct mcmc_objective *objective; // in place of the option's, or NULL
    const struct team *team;                // processes to search with, or NULL
};

// Makes the step, searches, applies the best strategy and checks the result: every output is the
// same expression as before, and no device holds more than its memory. *out lives in c->arena.
struct plan_placed {
    struct plan_placement placement;
    struct place_result result;
    int64_t *peak_bytes; // per place, found on the graph itself
    const struct model *step;
    int64_t n_again;
};

status plan_place(struct model *m, struct pass_context *c, const struct plan_place_how *how,
                  struct plan_placed *out);

// A table for people.
void plan_placed_print(struct str *out, const struct plan_placed *p);

// plan_split.c: a plan whose nodes are on devices as a folder of models (backend/split.h), each of
// which keeps its order on the runtime.
status plan_split(struct model *m, const char *folder, struct pass_context *c);
