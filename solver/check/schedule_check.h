// The independent exact replay of schedules. It shares no code with anything that makes schedules,
// and every schedule passes it before it is written.
#pragma once

#include "solver/model/problem.h"
#include "solver/model/schedule.h"

struct replay {
    int64_t peak_bytes, cost;
    int32_t peak_step;   // where the peak is; -1: there are no steps
    int32_t failed_step; // the step that is wrong (n steps: something lacks at the end); -1: right
    int32_t node;        // the node that the reason is about; -1: none
    const char *reason;  // static text; NULL: right
    bool given_order;    // first executions come in the given order
};

// Right means: every compute has all its inputs held and its own output not held; every free frees
// what is held; every node runs, a `once` node exactly once; at the end every kept node is held.
// (Holding more than that at the end is allowed: it is counted like all else.)
status schedule_check_steps(const struct problem *p, struct steps s, struct arena *scratch,
                            struct diags *d, struct replay *out);

// The steps are valid, and the claims of the schedule hold: peak, cost, base cost, budget,
// order, and that neither bound is above the cost. ST_VERIFY and a diagnostic when not.
status schedule_check(const struct problem *p, const struct schedule *s, struct arena *scratch,
                      struct diags *d);
