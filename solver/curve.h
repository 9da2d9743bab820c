// Questions about the whole trade-off between memory and time: the curve, and its inverse.
#pragma once

#include "solver/solve.h"

// Told before each search of a curve; for progress. May be NULL.
typedef void curve_begin(void *context, int64_t budget_bytes);

// The best schedule for each of n budgets, which must fall: out[k] for budgets[k]. Seconds and work
// of the options are for all together. What is learned at one budget is used at the others (bounds
// at smaller ones, schedules at larger ones), and the options' own starts at all of them, so costs
// never rise with the budget, nor bounds. ST_OK also when some are infeasible: out[k].outcome
// tells.
status curve_sweep(const struct problem *p, const struct solve_options *options,
                   const struct solve_hooks *hooks, curve_begin *begin, const int64_t *budgets,
                   int32_t n, struct arena *a, struct diags *d, struct schedule *out);

// The least memory with a cost of at most max_cost. The answer's budget is its own peak;
// min_bytes is proven: with less, no schedule costs so little. ST_NO_PLAN when even the given
// order costs more.
status curve_min_memory(const struct problem *p, const struct solve_options *options,
                        const struct solve_hooks *hooks, curve_begin *begin, int64_t max_cost,
                        struct arena *a, struct diags *d, struct schedule *out);
