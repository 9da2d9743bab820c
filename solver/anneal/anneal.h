// Simulated annealing over sequences of runs (state.h). Moves:
//
//     add      recompute a node just before one of its uses, and recursively some of its inputs
//     remove   remove a run, and the recomputations that only it needed
//     swap     replace one recomputation by another
//     trade    replace one recomputation by several, or several by one
//     shift    move a run to another position
//     pull     in free order: move a run and its dependencies forward
//     push     in free order: move a run and its dependents back
//
// Bytes over the budget cost a price (excess_price.h), so the search crosses the boundary of the
// feasible sequences from both sides. The best sequence within the budget is kept.
//
// In a long sequence, moves stay within one window for a while. Its data stays in the processor's
// caches, so a move costs about the same at any length.
//
// Random numbers are counter-based: the same initial sequence, seed, chain and calls give the same
// result.
#pragma once

#include "ir/base/rng.h"
#include "ir/base/stop.h"
#include "solver/anneal/state.h"
#include "solver/excess_price.h"

struct anneal {
    struct state st;
    bool free_order; // first runs may leave the given order
    struct rng rng;
    double mean_cost;          // of a node: the scale of temperatures
    struct excess_price price; // of bytes over budget
    double temperature;
    int32_t window, n_window; // the current window: first slot, number of slots

    int32_t *best; // the cheapest sequence within budget; n_best = 0: none yet
    int32_t n_best, cap_best;
    int64_t best_cost;
    bool best_is_current; // the current sequence is better than `best` and not yet copied there

    int32_t *plan; // nodes to insert, inputs first
    int32_t n_plan, cap_plan;
    int64_t plan_cost;
    uint32_t *mark, stamp; // per node
    int32_t *kept, n_kept; // nodes whose outputs are held to the end
    int32_t *picked;       // slots of runs to move
    int64_t n_moves, n_accepted;
};

// False: out of memory. The sequence is empty until anneal_start; first runs keep the given order
// until free_order is set.
bool anneal_make(struct arena *a, const struct problem *p, int64_t budget_bytes, uint64_t seed,
                 uint64_t chain, struct anneal *out);

// Starts from a sequence. The best is kept, unless the budget has changed.
void anneal_start(struct anneal *an, const int32_t *order, int32_t n);
void anneal_budget(struct anneal *an, int64_t budget_bytes); // forgets the best

// n_moves moves, cooling from `initial_temperature` to `final_temperature` (in mean costs of a
// node). Ends early when `stop` is raised or the best cost is at most `good_cost`. False: out of
// memory; the best is still valid.
bool anneal_run(struct anneal *an, int64_t n_moves, double initial_temperature,
                double final_temperature, int64_t good_cost, const struct stop *stop);
