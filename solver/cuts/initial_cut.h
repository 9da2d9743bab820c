// One cut of an order, for a start (initial.h): what is let go across it, and the sequence that
// this means.
//
// What is let go is run again when it is first needed. If a tensor is needed early because another
// one is run from it, it waits for its own use from then on; in a chain of such tensors all of them
// wait, and nothing was gained by letting them go. So the order before the cut is divided by
// *boundaries*, at places where little is handed on, and what is handed on there is pinned: it is
// held. Then only the stretch between two boundaries is run again at a time.
#pragma once

#include "solver/cuts/lagrangian_cut.h"
#include "solver/model/sequence.h"

// Either the least cost within a budget, or the least peak within a cost.
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
    double first_price; // that suits the goal without boundaries; 0: there is none

    bool *pinned, *recomputed; // per node; back: has run again
    int32_t *last;             // per node before q: who reads it last up to q
    int64_t *crossing;         // per node before q: bytes handed on from it and those before it
    int32_t *boundary;         // from the last to the first
    int32_t *stack;

    struct sequence now; // the last one laid out
    struct sequence_facts facts;
    int64_t excess_bytes; // over the budget, summed over all positions; 0 for the least peak
};

// False: no room.
bool initial_cut_make(struct initial_cut *s, const struct problem *p, int32_t q,
                      const struct initial_goal *goal, const struct stop *stop, struct arena *a);

// Tells of every sequence that was laid out; false ends it.
typedef bool initial_cut_found(void *context, const struct initial_cut *s);

// Boundaries in stretches of `apart` nodes next to the cut, each before it `growth` times as long.
// For a budget: the price that fits the cut, and then, while the rest of the sequence is over the
// budget, prices that leave it room; those that cost *max_cost or more are not followed. For a
// cost: the highest price that costs no more. False: no room.
bool initial_cut_run(struct initial_cut *s, int32_t apart, double growth, const int64_t *max_cost,
                     initial_cut_found *found, void *context);
