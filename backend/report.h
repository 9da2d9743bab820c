// The report of a plan: one HTML file that needs nothing else, neither network nor scripts. It
// shows memory over time before and after, what runs when, Checkmate's matrices, what is kept and
// what computed again and why, the peaks, and how far from optimal the plan can be.
//
// The pictures come from the two models alone (the graph is the plan, see backend/timeline.h). What
// the models cannot tell comes as facts.
//
// Files:
//   report.c           the page from top to bottom: summary, sections, facts
//   report_style.c     its style sheet and script
//   report_memory.c    memory over time and the schedule strip, on one axis
//   report_matrices.c  the matrices R and S
//   report_choices.c   what is kept and what is computed again, and why
#pragma once

#include "ir/graph.h"

#define REPORT_UNKNOWN (-1)

// What the caller knows. Text may be NULL, numbers REPORT_UNKNOWN; what is not known is left out.
struct report_facts {
    const char *title;      // the model's file name
    const char *command;    // to make this plan again
    const char *version;    // of mfc
    const char *runtime;    // that the peaks are for: "ort", "file-order"
    const char *outcome;    // "optimal", "feasible", …
    const char *cost_model; // in a few words
    double cost_match;      // share of the cost that was measured rather than estimated
    int64_t budget_bytes;
    int64_t unplanned_peak_bytes, peak_bytes; // in the runtime's way of counting
    int64_t liveness_bytes, arena_bytes;      // of the plan
    int64_t cost, base_cost;                  // with and without repetitions
    int64_t bound;                            // no plan costs less
    int64_t least_bytes;                      // no plan fits in less
};

struct report_facts report_facts_none(void);
// What the metadata of a plan say (dev.mfc.*), in the place of what is unknown.
void report_facts_read(const struct model *plan, struct report_facts *facts);

// The page. Both models must have all sizes. The unplanned one may be the plan itself.
status report_print(struct str *out, const struct model *unplanned, const struct model *plan,
                    const struct report_facts *facts, struct diags *d);
status report_write(const struct model *unplanned, const struct model *plan,
                    const struct report_facts *facts, const char *path, struct diags *d);
