// The exact answer for small problems, by dynamic programming over what has run and what is held.
// It shares no code with the solver: it only looks at struct problem.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "solver/model/problem.h"

#define REMAT_DP_NODES  10 // at most
#define REMAT_DP_POINTS 256

// The whole trade-off between memory and time: corner k says that with at[k].budget_bytes (and not
// with less) the least cost is at[k].cost. Budgets fall and costs rise with k; the last corner is
// the least feasible budget. So the budgets that matter are the corners and, one byte less, the
// worst of the next corner.
struct remat_front {
    struct {
        int64_t budget_bytes, cost;
    } at[REMAT_DP_POINTS];
    int n; // 0: no budget at all works
};

// free_order: first executions may come in any topological order, else in that of the node numbers.
// False: too many nodes or corners, or no memory.
bool remat_dp(const struct problem *p, bool free_order, struct remat_front *out);

// The least cost within the budget; -1: it does not fit.
int64_t remat_front_cost(const struct remat_front *f, int64_t budget_bytes);
