// A schedule in words: cost, bound, gap, memory. For the command line and embedders of the solver.
#pragma once

#include "solver/model/schedule.h"

// A few lines: status, peak and budget, cost and overhead, bound and gap, what the order alone
// saved. False: out of memory.
bool schedule_report(struct str *out, const struct problem *p, const struct schedule *s,
                     struct arena *scratch);

// The bounds alone: also without a schedule.
void schedule_report_bounds(struct str *out, const struct schedule *s);

// Why there is no schedule, as a diagnostic: the least budget that is known to work, the one below
// which none does, and the nodes that force it. Returns ST_INFEASIBLE or ST_NO_PLAN.
status schedule_report_failure(const struct problem *p, const struct schedule *s,
                               struct arena *scratch, struct diags *d);

// Of the nodes that force a peak, those to name: the largest first, in their order among equals.
// `out` has SCHEDULE_REPORT_FORCING entries. Returns how many there are.
enum { SCHEDULE_REPORT_FORCING = 8 };
int32_t schedule_report_largest(const struct problem *p, const int32_t *forcing, int32_t n_forcing,
                                int32_t *out);

// (cost - base) / base in percent; 0 when the base cost is 0.
double schedule_overhead(const struct schedule *s);
// (cost - bound) / cost in percent, with the bound for the kind of order that was asked for.
double schedule_gap(const struct schedule *s);
