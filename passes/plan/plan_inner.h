// What the files of the search for a plan share.
#pragma once

#include "ir/runtime/runtime.h"
#include "passes/plan/plan.h"
#include "passes/plan/plan_bound.h"
#include "passes/remat/remat.h"
#include "passes/steer/steer.h"

struct planning {
    struct model *m;
    struct pass_context *c;
    const struct plan_watch *watch;
    struct solve_hooks hooks;
    struct plan_facts *out;
    enum runtime runtime;
    bool counts_session; // in all peaks and the budget
    struct remat coarse, fine;
    struct plan_bounds bounds;
    struct remat_settings settings;
    int64_t budget_bytes;  // the user's
    int64_t end_ns;        // of the time of the command; STOP_NEVER
    int64_t session_bytes; // of the step without a plan, if it counts: a plan has more nodes
    int64_t itself_bytes;  // peak of the step without a plan, at any level
    // --inference: plans with hidden and with known shapes are tried, and no plan is one, too.
    bool infers;
    const struct options *forms[2]; // with --runtime-shapes hidden, known
    int form;
    bool is_divided;     // nodes of the step are parts (plan_parts.c)
    bool is_late;        // no plan can be finished in the time that the user gave
    bool is_hasty;       // no search where a lower bound refuses the budget
    double time_share;   // of --time from now on; 0: until the end of the command's time
    int64_t floor_bytes; // no plan of this step needs less
    int64_t finish_ns;   // how long the rest takes, once there is a schedule
    bool steers;         // plans that need it are steered (passes/steer)
    bool steers_all;     // all that it may help
    bool is_pass;        // only the schedule is applied; control nodes are another pass's
};

static inline bool plan_is_stopped(const struct planning *k) {
    return k->c->stop && stop_raised(k->c->stop);
}

// A schedule as the runtime will run it.
struct trial {
    int64_t peak_bytes, plain_peak_bytes, fused_peak_bytes, liveness_bytes;
    struct remat_result result;
    const char *top;            // the largest tensors at the peak, as text
    int form;                   // of struct planning
    struct steer_recipe recipe; // of its control nodes for the arena
};

// The cheapest schedule so far whose plan fits the budget.
struct plan_incumbent {
    const struct remat *problem; // NULL: there is none
    struct schedule schedule;
    int64_t cost; // of the plan
    struct trial trial;
};

// plan_memory.c: k->m becomes a plan, unless the status is an error.
status plan_one_device(struct planning *k);

// plan_verdict.c: what is proven of the plan of a trial, as figures.
status plan_verdict_report(struct planning *k, const struct trial *t);
// There is no plan within the budget: the diagnostic says whether that is proven. `least` is the
// trial of least peak; without one its peak is INT64_MAX.
status plan_verdict_refuse(struct planning *k, const struct trial *least);

// arrange.c: step_arrange for a runtime.
status arrange_for(struct model *m, enum runtime r, struct pass_context *c);

// plan_trial.c: a runtime executes the step as it is written without a plan. The step stays as it
// is, the report is in `a`, and no peak counts the session.
status plan_baseline_run(const struct model *step, enum runtime r, struct pass_context *c,
                         struct arena *a, struct runtime_report *out);

// plan_search.c
status plan_search(struct planning *k, struct plan_incumbent *best);

// plan_trial.c: the schedule becomes the plan, in the model itself.
status plan_apply(struct planning *k, struct model *m, const struct remat *r, struct steps steps,
                  struct remat_result *out);
// The same on a copy of the step, which is measured and freed. The copy is steered if its peak is
// over the budget, or to be the least.
status plan_try(struct planning *k, const struct remat *r, struct steps steps, struct trial *out);
// Less than the cost of the schedule where parts of a recomputed cluster are dead.
int64_t plan_cost(const struct planning *k, const struct trial *t);
