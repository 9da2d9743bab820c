// Lower bounds on the cost that hold for every order of first executions.
//
// A cut (cut.h) is the moment when a node q runs for the first time. Whatever the order, the
// ancestors of q have run by then, and its descendants have not. So the program of a cut needs the
// given order only to place the nodes that are neither: when these may run on either side of it,
// what is proven holds for all orders. The same goes for several cuts that are ancestors of one
// another (any_order_model.h).
#pragma once

#include "solver/solve.h"

struct any_order_effort {
    double seconds;  // for all programs together; <= 0: only the run's own limits
    int32_t n_nodes; // of each search tree, for repeatable runs; 0: no limit
};

// What single cuts prove, each with a price on the bytes held at it (lagrangian_cut.h); for any
// size of graph. In the given order, if the run asks for that, they prove more.
status any_order_lagrangian(struct solve_run *r);

// The inverse: no schedule that costs so little needs fewer than *min_bytes (0: nothing is
// proven), in any order or, without free_order, in the given one. False: no room.
bool any_order_min_bytes(const struct problem *p, bool free_order, int64_t max_cost,
                         const struct stop *stop, struct mem *mem, int64_t *min_bytes);

// The integer programs of several cuts. Proves what it can and tells the run, with letter 'O'.
status any_order_run(struct solve_run *r, const struct any_order_effort *effort);
