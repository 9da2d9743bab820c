// A schedule: steps that compute and free. And what is known about it.
#pragma once

#include "ir/json/json_write.h"
#include "solver/model/problem.h"

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
    int64_t budget_bytes; // includes persistent_bytes
    int64_t peak_bytes;   // by the checker
    int64_t cost;         // by the checker
    int64_t base_cost;
    int64_t bound; // no schedule with the first executions in this order costs less; or BOUND_NONE
    int64_t bound_any;   // the same over all orders; or BOUND_NONE
    int64_t min_bytes;   // proven: no schedule fits a smaller budget (in the asked kind of order)
    int64_t known_bytes; // the least budget for which a schedule was seen; 0: none
    int32_t *forcing;    // infeasible: the nodes that force it, when they are known
    int32_t n_forcing;
    struct steps steps; // none unless feasible or optimal
    int64_t n_refused;  // schedules of methods that the checker did not accept: defects, always 0
};

const char *outcome_name(enum outcome o);

// mfc-schedule JSON, docs/solver.md. Reading checks the form and the node numbers; whether the
// claims are true is for schedule_check to say.
status schedule_read(struct arena *a, struct diags *d, const struct source *json,
                     const struct problem *p, struct schedule *out);
// The members of an mfc-schedule, into an object that has begun. seconds < 0 leaves them out.
void schedule_print(struct json_writer *w, const struct schedule *s, double seconds);
status schedule_write(const struct schedule *s, double seconds, struct arena *a, struct diags *d,
                      const char *path);
