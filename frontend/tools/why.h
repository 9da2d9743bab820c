// Why a plan keeps or recomputes a node: when it runs, the lifetime of its results, and the memory
// and time of the alternative. Everything follows from the graph of the plan (backend/timeline.h);
// the original model is not needed.
#pragma once

#include "backend/timeline.h"

// One execution.
struct why_run {
    uint32_t step;     // from 0, as all steps here
    uint32_t held_to;  // the last step with its results in memory; the number of steps: the end
    const char *stage; // in the plan's metadata; NULL: none
    const char *device;
};

// Consecutive steps in which the node's results are evicted, or could be.
struct why_gap {
    uint32_t from, to;  // inclusive; from > to: no gap
    int64_t held_bytes; // peak memory in use during the gap
};

// A part of a value that the plan computes in parts.
struct why_part {
    const char *name, *type, *device;
    int64_t bytes;
};

struct why {
    node_id node; // of the baseline step
    const char *name, *type;
    bool is_persistent, is_control, is_random, is_output;
    const char *view_of;      // its results are views of this value; NULL: they are not
    int64_t bytes, cost;      // of its results; of one execution
    VEC(struct why_run) runs; // none: the plan has the parts alone
    VEC(struct why_part) parts;
    const char *divisions;      // of the step that were evaluated; NULL: not known
    VEC(const char *) moved_to; // target devices of transfers
    // A kept node: the gap between two uses with the highest peak. A recomputed node: the gap
    // between two executions with the highest peak.
    struct why_gap gap;
    int64_t recompute_cost;         // kept: of a second execution with all nodes that it needs;
                                    // recomputed: of all executions but the first
    uint32_t n_dependencies;        // kept: other nodes that a second execution would need
    int64_t alternative_peak_bytes; // liveness peak of the alternative, on the node's first device
    int64_t peak_bytes;             // liveness peak of the plan there
};

// Prepares a plan that was read from a file: sets `again` from the names of the recomputed nodes,
// and the cost of control nodes to 0.
status why_link(struct model *plan, struct diags *d);

// `name` is a node or value of the plan or of the baseline step. DIAG_USAGE: unknown; the message
// suggests the nearest name.
status why_find(const struct timeline *t, const char *name, struct arena *a, struct diags *d,
                struct why *out);

// why_parts.c
status why_find_parts(const struct timeline *t, const char *name, struct arena *a, struct diags *d,
                      struct why *w);
void why_print_parts(struct str *out, const struct why *w);

void why_print(struct str *out, const struct timeline *t, const struct why *w,
               int64_t budget_bytes);
void why_print_json(struct str *out, const struct why *x, int64_t budget_bytes);
