// Lower bounds on the cost that hold for every order of first runs.
//
// A cut (cut.h) is the first run of a node q. In every order the ancestors of q have run by then,
// and its descendants have not. The program of a cut uses the given order only for the other nodes.
// If these may run on either side of the cut, the bound holds for all orders. The same is true of
// several cuts that form a chain of ancestors (any_order_model.h).
#pragma once

#include "solver/solve.h"

struct any_order_effort {
    double seconds;  // for all programs together; <= 0: no limit but the run's
    int32_t n_nodes; // branch-and-bound nodes per program, for repeatable runs; 0: no limit
    bool is_exact;   // no integer programs, whose bounds are not safe against rounding, and LP
                     // relaxations of small problems only: the same bounds in every run
};

// Bounds by the Lagrangian relaxation of single cuts (lagrangian_cut.h), for graphs of any size. If
// the run keeps the given order, bounds for that order, which are stronger, are proven as well.
status any_order_lagrangian(struct solve_run *r);

// The inverse: a lower bound on the budget of all schedules that cost at most max_cost, in any
// order or, without free_order, in the given one. *min_bytes = 0: none is proven. False: out of
// memory.
bool any_order_min_bytes(const struct problem *p, bool free_order, int64_t max_cost,
                         const struct stop *stop, struct mem *mem, int64_t *min_bytes);

// Bounds by LP relaxations and integer programs of several cuts. Reports them to the run with
// letter 'O'.
status any_order_run(struct solve_run *r, const struct any_order_effort *effort);
