// Exact search for small problems: A* through the states of a machine.
//
// A state says which nodes have run and which outputs are held. A step evicts just enough outputs
// for one node and runs it; its cost is that of a recomputation, 0 for a first run. States are
// expanded in the order of (extra cost so far + a lower bound on the extra cost still to come), so
// the first complete state is optimal, and if the states are used up there is no schedule. All in
// integers: what is proven is exact.
//
// The lower bound is the cost of all nodes that must be recomputed whatever happens, and for the
// first run of the node where that is worst, of evicting what then does not fit (exhaust_bound.c).
#pragma once

#include "solver/solve.h"

enum { EXHAUST_MAX_NODES = 64 }; // a set of nodes is a word

// Searches at most max_states states, in the kind of order that the run asks for, and offers what
// it finds and proves with letter 'E'. *n_states is how many it made: a measure of its work that
// depends on nothing but the problem, the budget and the incumbent. Problems of too many nodes are
// left alone.
status exhaust_run(struct solve_run *r, int64_t max_states, int64_t *n_states);
