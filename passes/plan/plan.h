// From a training step with costs (step.h) to a plan: what is kept, what is recomputed, in which
// order, on which device, and what makes the runtime keep that order.
//
//   step.c          the training step, and the record of how it was made
//   arrange.c       its order in the file when it is written without a plan
//   plan_memory.c   one device: the schedule whose peak on the runtime fits the budget, applied
//   plan_search.c   the rounds of the search for it
//   plan_trial.c    one schedule, applied and measured on the runtime model
//   plan_parts.c    one device: nodes divided, where there is no plan without
//   plan_bound.c    lower bounds for every plan of the step
//   plan_verdict.c  what a plan, or the lack of one, claims about them
//   plan_devices.c  several devices: a search for the strategy that fits the memory of each
//   plan_figures.c  the figures of the plan as it is written (ir/plan_facts.h)
//   plan_check.c    the checks that every plan passes before it is written
//
// The promise is about the peak of the runtime model (ir/runtime/runtime.h).
#pragma once

#include "ir/plan_facts.h"
#include "passes/pass.h"
#include "passes/remat/remat.h"
#include "solver/solve.h"

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
                   struct plan_facts *out);

// Addresses for the plan. Also after an interrupt: the plan that was found is finished.
status plan_lay_out(struct model *m, struct pass_context *c);

// The figures that follow from the plan as it is written and from its step: peaks, counts, devices,
// and the costs that are still unknown. f->runtime says which runtime; both models have all types.
status plan_figures(const struct model *step, const struct model *plan, struct pass_context *c,
                    struct plan_facts *f);

// By code that shares nothing with the search: every output of the plan is the same expression as
// in the step, and the peak is within the budget, on every device.
status plan_check(const struct model *m, struct pass_context *c, const struct plan_facts *f);

// When the time of a command that may take `seconds` is over; 0: never.
int64_t plan_end_ns(const struct pass_context *c, double seconds);

// Of --session: whether all peaks and the budget of this step count the session.
bool plan_counts_session(const struct graph *step, const struct options *o);

// The peak of the step itself, as it is written without a plan, on the runtime of --runtime with
// its default options.
status plan_measure_step(const struct model *step, struct pass_context *c, int64_t *peak_bytes);

// The peak of one schedule of a step on the runtime of --runtime. The step stays as it is.
status plan_measure(struct model *step, const struct remat *r, struct steps steps,
                    struct pass_context *c, int64_t *peak_bytes);
