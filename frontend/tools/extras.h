// What a run writes besides the plan: the report, the trace, the plan as JSON. All of it is opened
// before the search, so that a path that cannot be written is told at once and not after an hour,
// and becomes visible only when everything has been written.
#pragma once

#include "backend/plan_facts.h"
#include "ir/base/file.h"
#include "ir/base/options.h"
#include "passes/plan/plan.h"

enum extra { EXTRA_REPORT, EXTRA_TRACE, EXTRA_JSON, EXTRA_COUNT_ };

struct extras {
    struct output at[EXTRA_COUNT_];
    bool is_wanted[EXTRA_COUNT_];
};

// Opens what the options ask for. Two outputs at one place, or one at the place of the model, are
// refused; `target` is where the plan itself goes. extras_close() in any case.
status extras_open(struct extras *x, const struct options *o, const char *model, const char *target,
                   struct arena *a, struct diags *d);
// What is known of the plan, from its report and its metadata, for extras_write.
struct plan_facts extras_facts(const struct model *plan, const struct plan_report *r);
// Writes all of them, still invisible; extras_commit shows them.
status extras_write(struct extras *x, const struct model *baseline, const struct model *plan,
                    const struct plan_facts *facts, struct diags *d);
status extras_commit(struct extras *x, struct diags *d);
void extras_close(struct extras *x);
