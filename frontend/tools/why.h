// Why a plan does with a node what it does: when it runs, how long its results are held, and what
// the other choice would cost. All of it follows from the graph of the plan (backend/timeline.h);
// the model that the plan was made from is not needed.
#pragma once

#include "backend/timeline.h"

// One execution.
struct why_run {
    uint32_t step;     // counted from 0, as all steps here
    uint32_t held_to;  // the last step that its results are held in; the number of steps: the end
    const char *stage; // as the plan says; NULL: it does not
    const char *device;
};

// Steps in which the node's results could be held and are not, or could be gone and are not.
struct why_gap {
    uint32_t from, to;  // both included; from > to: there is none
    int64_t held_bytes; // the most that is held in it
};

struct why {
    node_id node; // of the unplanned step
    const char *name, *type;
    bool is_fixed, is_control, is_random, is_output;
    const char *view_of; // its results are views of this value; NULL: they are not
    int64_t bytes, cost; // of what it makes; of one run
    VEC(struct why_run) runs;
    VEC(const char *) moved_to; // devices that transfers take its results to
    // Runs once: the gap between two uses that counts most, and what filling it by a second run
    // would cost, with all that would have to be computed again on the way. Runs again: of all gaps
    // the fullest.
    struct why_gap gap;
    int64_t recompute_cost;   // runs once: of the second run. Runs again: of all runs but the first
    uint32_t n_on_the_way;    // other nodes that a second run would need
    int64_t other_peak_bytes; // with the other choice, by liveness
    int64_t peak_bytes;       // as it is, by liveness
};

// Nodes of a plan that was read from a file say what they repeat by name: sets `again`. And control
// nodes take no time, as when the plan was made.
status why_link(struct model *plan, struct diags *d);

// `name` is that of a node or value of the plan or of the unplanned step; an unknown one is an
// error that names the nearest.
status why_find(const struct timeline *t, const char *name, struct arena *a, struct diags *d,
                struct why *out);

void why_print(struct str *out, const struct timeline *t, const struct why *w,
               int64_t budget_bytes);
void why_print_json(struct str *out, const struct why *x, int64_t budget_bytes);
