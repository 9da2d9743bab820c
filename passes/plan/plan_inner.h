// What the files of the search for a plan share.
#pragma once

#include "ir/runtime/runtime.h"
#include "passes/plan/plan.h"
#include "passes/remat/remat.h"

struct planning {
    struct model *m;
    struct pass_context *c;
    const struct plan_watch *watch;
    struct solve_hooks hooks;
    struct plan_report *out;
    enum runtime runtime;
    struct remat coarse, fine;
    struct remat_settings settings;
    int64_t budget_bytes; // the user's
};

// What a schedule is on the runtime.
struct trial {
    int64_t peak_bytes, plain_peak_bytes, fused_peak_bytes, liveness_bytes;
    struct remat_result result;
    const char *top; // the largest tensors at the peak, in words
};

// The best so far that keeps the promise.
struct winner {
    const struct remat *problem; // NULL: there is none
    struct schedule schedule;
    int64_t cost; // of the plan
};

// plan_trial.c: the schedule becomes the plan, in the model itself; `a` is scratch.
status plan_apply(struct planning *k, struct model *m, const struct remat *r, struct steps steps,
                  struct arena *a, struct trial *out);
// The same on a copy that is gone afterwards.
status plan_try(struct planning *k, const struct remat *r, struct steps steps, struct trial *out);
