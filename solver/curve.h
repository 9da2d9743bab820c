// Questions about the whole trade-off between memory and time: the curve, and its inverse.
#pragma once

#include "solver/solve.h"

// Called before each search of a curve, for progress.
typedef void curve_begin(void *context, int64_t budget_bytes);

struct curve_search {
    const struct problem *p;
    const struct solve_options *options; // seconds and work are for all searches together
    const struct solve_hooks *hooks;
    curve_begin *begin; // gets the context of the hooks; may be NULL
    struct arena *arena;
    struct diags *diags;
};

// The best schedule for each of n budgets, in falling order: out[k] for budgets[k]. Bounds found at
// one budget are used at smaller ones, schedules at larger ones, and the initial solutions of the
// options at all of them. So neither costs nor bounds rise with the budget. ST_OK also when some
// budgets are infeasible: see out[k].outcome.
status curve_sweep(const struct curve_search *c, const int64_t *budgets, int32_t n,
                   struct schedule *out);

// A lower bound on memory: every schedule that costs at most max_cost, in any order, has at least
// this peak. False: out of memory.
bool curve_min_bytes(const struct problem *p, int64_t max_cost, const struct stop *stop,
                     struct mem *mem, int64_t *min_bytes);

// The least memory at a cost of at most max_cost. The budget of the result is its own peak.
// min_bytes is proven: with less memory no schedule costs at most max_cost. ST_NO_PLAN when the
// given order itself costs more.
status curve_min_memory(const struct curve_search *c, int64_t max_cost, struct schedule *out);
