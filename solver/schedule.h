// A schedule: steps that compute and free. And what is known about it.
#pragma once

#include "solver/problem.h"

enum step_kind { STEP_COMPUTE, STEP_FREE };

struct step {
    enum step_kind kind;
    int32_t node;
};

struct steps {
    struct step *at;
    int32_t n;
};

enum outcome { OUTCOME_UNKNOWN, OUTCOME_FEASIBLE, OUTCOME_OPTIMAL, OUTCOME_INFEASIBLE };

#define BOUND_NONE INT64_MIN

struct schedule {
    enum outcome outcome;
    bool free_order;      // first executions may differ from the given order
    int64_t budget_bytes; // includes fixed_bytes
    int64_t peak_bytes;   // by the checker
    int64_t cost;         // by the checker
    int64_t base_cost;
    int64_t bound; // no schedule with the first executions in this order costs less; or BOUND_NONE
    int64_t bound_any;   // the same over all orders; or BOUND_NONE
    int64_t least_bytes; // infeasible: a proven lower bound on any budget that works; else 0
    int64_t known_bytes; // the least budget for which a schedule is known; 0: none
    struct steps steps;
};

// The independent exact replay (check.c). It shares no code with anything that makes schedules.
struct replay {
    int64_t peak_bytes, cost;
    int32_t peak_step;   // where the peak is
    int32_t failed_step; // -1: the schedule is right
    const char *reason;  // static text
};

// Right: every compute has its inputs held and is not held already; every free frees what is held;
// every node runs at least once, a `once` node exactly once; at the end exactly the `keep` nodes
// and nothing that somebody has forgotten matter: what is still held is allowed only if kept or
// never freed.
struct replay check_steps(const struct problem *p, struct steps s, struct arena *scratch);
// ... and the claims of the schedule (peak, cost, budget, order) are true.
status check_schedule(const struct problem *p, const struct schedule *s, struct arena *scratch,
                      struct diags *d);

status schedule_read(struct arena *a, struct diags *d, const struct source *json,
                     const struct problem *p, struct schedule *out);
status schedule_write(const struct schedule *s, double seconds, struct arena *a, struct diags *d,
                      const char *path);
