// One cut of an order, for initial solutions (initial.h): chooses the tensors to evict across the
// cut, and makes the sequence of that choice.
//
// An evicted tensor is recomputed before its first use. If that use is the recomputation of another
// tensor, it stays in memory until its own use; in a chain of evicted tensors all of them stay, and
// the evictions gain nothing. Hence *boundaries* divide the order before the cut, at positions that
// few bytes cross, and tensors that cross a boundary are pinned: they stay in memory. Then only one
// stretch between two boundaries is recomputed at a time.
#pragma once

#include "solver/cuts/lagrangian_cut.h"
#include "solver/model/sequence.h"

// Either the minimum cost within a budget, or the minimum peak within a cost.
struct initial_goal {
    bool min_peak;
    int64_t budget_bytes;
    int64_t max_cost;
};

struct initial_cut {
    const struct problem *p;
    struct initial_goal goal;
    const struct stop *stop; // or NULL
    struct mem *mem;
    int32_t q;
    double first_price; // price per byte that meets the goal without boundaries; 0: none

    bool *pinned, *recomputed; // per node
    int32_t *last;             // per node before q: its last consumer up to q
    int64_t *crossing;         // per node before q: live bytes after it, for uses up to q
    int32_t *boundary;         // from the last to the first
    int32_t *stack;

    struct sequence now; // the last one made
    struct sequence_facts facts;
    int64_t excess_bytes; // over the budget, summed over all positions; 0 if min_peak
};

// False: out of memory.
bool initial_cut_make(struct initial_cut *s, const struct problem *p, int32_t q,
                      const struct initial_goal *goal, const struct stop *stop, struct arena *a);

// Called with every sequence that was made; false ends the search.
typedef bool initial_cut_found(void *context, const struct initial_cut *s);

// Tries one division: the stretch next to the cut has `apart` nodes, each earlier one is `growth`
// times as long. For a budget: takes the lowest price that fits at the cut, and, while the sequence
// exceeds the budget elsewhere, prices that leave more slack; it ends at a sequence that costs
// *max_cost or more. For a cost: takes the highest price within it. False: out of memory.
bool initial_cut_run(struct initial_cut *s, int32_t apart, double growth, const int64_t *max_cost,
                     initial_cut_found *found, void *context);
