// What is known of a plan besides the graph itself: the budget, the peaks, what was proven.
// Reports, traces and summaries take it from here. Text may be NULL and numbers FACTS_UNKNOWN: what
// is not known is left out.
#pragma once

#include "ir/graph.h"

#define FACTS_UNKNOWN (-1)

struct facts {
    const char *title;      // the model's file name
    const char *command;    // to make this plan again
    const char *version;    // of mfc
    const char *runtime;    // that the peaks are for: "ort", "file-order"
    const char *outcome;    // "optimal", "feasible", …
    const char *cost_model; // in a few words
    bool is_interrupted;    // the search was ended early
    double cost_match;      // share of the cost that was measured rather than estimated
    int64_t budget_bytes;
    int64_t unplanned_peak_bytes, peak_bytes;   // in the runtime's way of counting
    int64_t plain_peak_bytes, fused_peak_bytes; // the plan's without and with the runtime's fusions
    int64_t liveness_bytes, arena_bytes;        // of the plan
    int64_t cost, base_cost;                    // with and without repetitions
    int64_t makespan;  // on several devices: with the links, by the simulator
    int64_t bound;     // no plan costs less
    int64_t min_bytes; // by liveness, no plan of at most this time fits in less
};

struct facts facts_none(void);
// What the metadata of a plan say (ir/keys.h), in the place of what is unknown.
void facts_read(const struct model *plan, struct facts *f);
