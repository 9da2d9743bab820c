// The figures of a plan: what it promises and costs. A plan has one set of them: plan_figures
// (passes/plan/plan_figures.c) computes it from the plan as it is written, and the search adds what
// it has proven. Summary, report, JSON, the metadata of the plan and its verification show these
// figures and compute none of their own.
//
// A text may be NULL; an unknown number is PLAN_FACTS_UNKNOWN. Bytes include persistent memory.
#pragma once

#include "ir/graph.h"

#define PLAN_FACTS_UNKNOWN INT64_MIN

struct plan_device {
    const char *name; // "" if the plan is not placed
    int64_t peak_bytes;
    int64_t memory_bytes; // INT64_MAX: no limit
    int64_t busy_cost;    // of its nodes, without transfers; PLAN_FACTS_UNKNOWN: no costs
    int64_t n_nodes;      // without transfers
};

struct plan_facts {
    bool planned; // false: the step is as it is
    // What the plan is for.
    const char *title;      // the model's file name
    const char *command;    // that makes this plan again
    const char *version;    // of mfc
    const char *runtime;    // of the peaks: "ort", "ort-lean", "web", "file-order"
    const char *cost_model; // in a few words
    double cost_match;      // measured share of the cost, the rest is estimated; below 0: unknown
    int64_t budget_bytes;   // that the user gave
    double max_overhead;    // the limit that applied instead of a budget; 0: none
    // The baseline step.
    int64_t n_step_nodes;
    int64_t baseline_bytes;          // peak on the runtime with its default options
    int64_t baseline_liveness_bytes; // liveness peak in file order
    int64_t base_cost;               // on several devices: on the fastest of them alone
    // The plan.
    int64_t n_nodes;
    int64_t n_recomputed;                       // nodes that recompute another one, without views
    int64_t n_control, n_transfers;             // control nodes; transfers between devices
    int64_t peak_bytes;                         // on the runtime; of the fullest device
    int64_t plain_peak_bytes, fused_peak_bytes; // levels disabled and basic; extended and all
    int64_t first_run_bytes, later_runs_bytes;  // peaks of the first run of a session, of others
    int64_t session_bytes;       // of a session for the graph itself, if known; in all peaks but
    bool session_is_apart;       // if this is set
    int64_t liveness_bytes;      // liveness peak in file order
    int64_t persistent_bytes;    // parameters, inputs, constants
    int64_t arena_bytes;         // of the static layout; persistent memory is not in it
    int64_t cost;                // of all nodes, without transfers
    int64_t makespan_cost;       // on several devices: simulated, with transfers
    int64_t load_cost;           // on several devices: the largest load of a device or link
    int64_t moved_bytes;         // by transfers
    struct plan_device *devices; // at least one
    size_t n_devices;
    node_id peak_node; // executes at the peak on the runtime
    const char *top;   // the largest tensors at that peak, as text
    // The search.
    const char *outcome; // "optimal", "feasible"
    int64_t bound;       // no plan within the budget (without one: within the peak) costs less
    int64_t min_bytes;   // no plan has a lower peak; without a budget: none of max_overhead
    int64_t n_clusters;
    bool is_interrupted;              // it was stopped by a signal
    const struct model *step;         // the baseline step, or NULL
    const struct plan_placed *placed; // on several devices (passes/plan/plan_devices.h), or NULL
};

struct plan_facts plan_facts_none(void);

static inline bool plan_facts_is_known(int64_t x) {
    return x != PLAN_FACTS_UNKNOWN;
}

// Shares. Of the cost of the baseline step: the overhead and its lower bound; of the cost of the
// plan: the optimality gap. NAN: unknown.
double plan_facts_overhead(const struct plan_facts *f);
double plan_facts_min_overhead(const struct plan_facts *f);
double plan_facts_gap(const struct plan_facts *f);
bool plan_facts_is_optimal(const struct plan_facts *f);

// The figures as metadata of the plan (ir/keys.h).
status plan_facts_write(struct model *plan, const struct plan_facts *f, struct diags *d);
// The figures that a plan claims in its metadata; all others stay as they are. DIAG_MALFORMED: one
// is not a number.
status plan_facts_read(const struct model *plan, struct plan_facts *f, struct diags *d);
// Compares what a plan claims with what was found, where both are known. DIAG_VERIFY: differences,
// each with a diagnostic.
status plan_facts_compare(const struct model *plan, const struct plan_facts *claimed,
                          const struct plan_facts *found, struct diags *d);
