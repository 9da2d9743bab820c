// Facts about a plan that its graph does not contain: budget, peaks, bounds. Reports print the
// known ones: a text may be NULL and a number PLAN_FACTS_UNKNOWN.
#pragma once

#include "ir/graph.h"

#define PLAN_FACTS_UNKNOWN (-1)

struct plan_facts {
    const char *title;      // the model's file name
    const char *command;    // that reproduces this plan
    const char *version;    // of mfc
    const char *runtime;    // of the peaks: "ort", "file-order"
    const char *outcome;    // "optimal", "feasible", …
    const char *cost_model; // in a few words
    bool is_interrupted;    // the search was stopped early
    double cost_match;      // measured share of the cost; the rest is estimated
    int64_t budget_bytes;
    int64_t baseline_peak_bytes, peak_bytes;    // on the runtime
    int64_t plain_peak_bytes, fused_peak_bytes; // of the plan without and with runtime fusions
    int64_t liveness_bytes, arena_bytes;        // of the plan
    int64_t cost, base_cost;                    // with and without recomputation
    int64_t makespan;                           // on several devices: simulated, with transfers
    int64_t bound;                              // lower bound of the cost
    int64_t min_bytes;                          // lower bound of the liveness peak at this cost
};

struct plan_facts plan_facts_none(void);
// Fills in unknown facts from the metadata of a plan (ir/keys.h).
void plan_facts_read(const struct model *plan, struct plan_facts *f);
