// Simulated annealing over sequences of runs (state.h). Moves: run a node again just before one of
// its uses, with a recursive choice for what it reads; take a run away, and with it what was run
// for it alone; shift a run; exchange one recomputation for another; in free order also pull a run
// forward or push it back, with all that has to go along. Bytes over the budget cost a price per
// byte and run, which rises while the sequence is over budget and falls while it is not, so the
// search walks along the border from both sides. The best sequence within budget is remembered.
//
// In a long sequence the moves stay within a window for a while, then in another: so what they look
// at is in the processor's caches, and a move costs about the same at any length.
//
// Random numbers are counter-based: the same start, seed, chain and calls give the same result.
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
    int32_t window, n_window; // first slot, and how many: where moves begin at the moment

    int32_t *best; // the cheapest sequence within budget; n_best = 0: none yet
    int32_t n_best, cap_best;
    int64_t best_cost;
    bool best_is_current; // not yet written down

    int32_t *plan; // nodes to insert, inputs first
    int32_t n_plan, cap_plan;
    int64_t plan_cost;
    uint32_t *mark, stamp; // per node
    int32_t *kept, n_kept; // nodes that are held to the end
    int32_t *picked;       // slots of runs to move
    int64_t n_moves, n_accepted;
};

// False: out of memory. The sequence is empty until anneal_start; first
// runs keep the given order until free_order is set.
bool anneal_make(struct arena *a, const struct problem *p, int64_t budget_bytes, uint64_t seed,
                 uint64_t chain, struct anneal *out);

// Starts from a sequence; what is remembered as best stays, unless the budget has changed.
void anneal_start(struct anneal *an, const int32_t *order, int32_t n);
void anneal_budget(struct anneal *an, int64_t budget_bytes); // forgets the best

// n_moves moves, cooling from `initial_temperature` to `final_temperature` (in mean costs of a
// node). Ends early when stop says so or when the best cost is at most `good_cost`. False: out of
// memory; the best is still good.
bool anneal_run(struct anneal *an, int64_t n_moves, double initial_temperature,
                double final_temperature, int64_t good_cost, const struct stop *stop);
