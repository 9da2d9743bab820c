// From a training step with costs (step.h) to a plan: what is kept, what is recomputed, in which
// order, on which device, and what makes the runtime keep that order.
//
//   step.c          the training step, and the record of how it was made
//   plan_memory.c   one device: the schedule whose peak on the runtime fits the budget, applied
//   plan_search.c   the rounds of the search for it
//   plan_trial.c    one schedule, applied and measured on the runtime model
//   plan_devices.c  several devices: a search for the strategy that fits the memory of each
//   plan_check.c    the checks that every plan passes before it is written
//
// The promise is about the peak of the runtime model (ir/runtime/runtime.h).
#pragma once

#include "passes/pass.h"
#include "passes/remat/remat.h"
#include "solver/solve.h"

// What a plan promises and costs. Bytes include the persistent memory.
struct plan_report {
    bool planned; // false: the step is as it is, nothing below is filled in
    const char *runtime;
    int64_t baseline_bytes; // peak of the baseline step on the runtime
    int64_t budget_bytes;   // without --budget: the plan's own peak
    double max_overhead;    // the limit that applied instead of a budget; 0: there was a budget
    int64_t peak_bytes;     // on the runtime; of the fullest device when there are several
    int64_t plain_peak_bytes, fused_peak_bytes; // levels disabled and basic; extended and all
    int64_t liveness_bytes;                     // liveness peak in file order
    int64_t persistent_bytes;                   // parameters, inputs, constants
    int64_t arena_bytes;     // of the static layout; persistent memory is not in it
    int64_t base_cost, cost; // every node once; with recomputation
    int64_t bound;           // no plan for this budget costs less; BOUND_NONE: nothing is known
    int64_t n_nodes, n_clusters;
    int64_t n_recomputed, n_control; // recomputing nodes; control nodes
    bool is_interrupted;             // the search was stopped by a signal
    enum outcome outcome;
    int64_t min_bytes; // liveness peak below which no plan of at most this cost fits; 0: unknown
    int64_t makespan_cost;            // on several devices; 0: there is one
    const struct model *step;         // the baseline step, in the arena of the context; or NULL
    const struct plan_placed *placed; // on several devices (plan_devices.h); NULL: there is one
};

// An observer of the search. The functions have the context of the hooks; all may be NULL.
struct plan_watch {
    struct solve_hooks hooks;
    // The solver starts on this budget; the time of the command ends at `end_ns`.
    void (*begin)(void *context, int64_t base_cost, int64_t budget_bytes, int64_t end_ns);
    // Round number `n` (from 1) has ended with this result; `more`: another one follows.
    void (*round)(void *context, int n, bool more, const char *result);
};

// Searches by the options (--budget or --overhead) and turns the step into the plan. A raised stop
// and the end of --time end the search with the best plan so far. `watch` may be NULL: progress is
// then reported in lines.
status plan_memory(struct model *m, struct pass_context *c, const struct plan_watch *watch,
                   struct plan_report *out);

// By code that shares nothing with the search: every output of the plan is the same expression as
// in the step, and the peak is within the budget, on every device.
status plan_check(const struct model *m, struct pass_context *c, const struct plan_report *r);

// Addresses for the plan. Also after an interrupt: the plan that was found is finished.
status plan_lay_out(struct model *m, struct pass_context *c, struct plan_report *r);

// When the time of a command that may take `seconds` is over; 0: never.
int64_t plan_end_ns(const struct pass_context *c, double seconds);

// The peak of one schedule of a step on the runtime of --runtime. The step stays as it is.
status plan_measure(struct model *step, const struct remat *r, struct steps steps,
                    struct pass_context *c, int64_t *peak_bytes);
