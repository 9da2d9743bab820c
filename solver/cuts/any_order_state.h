// Private state of the bounds over all orders (any_order.c, any_order_lagrangian.c): candidates for
// cuts, and the side of each node at a cut.
#pragma once

#include "solver/cuts/any_order.h"
#include "solver/cuts/lagrangian_cut.h"

#define MAX_CUTS       12
#define MAX_CANDIDATES 400 // candidates for a cut, with their memory pressure

struct any_order {
    const struct problem *p;
    int64_t budget_bytes;
    const struct stop *stop; // or NULL
    struct solve_run *r;
    const struct any_order_effort *effort;
    struct arena *arena;
    int64_t start_ns;
    enum cut_side *side;               // per node, for the last cut
    bool *live;                        // scratch, per node: live across the cut
    int32_t candidate[MAX_CANDIDATES]; // candidates, ascending ...
    int64_t pressure[MAX_CANDIDATES];  // ... and the live bytes at each
    int32_t n_candidates;
    int32_t cuts[MAX_CUTS];
    int32_t n_cuts;
};

// Makes the state, with its candidates, in the arena. NULL: out of memory.
struct any_order *any_order_make(const struct problem *p, int64_t budget_bytes,
                                 const struct stop *stop, struct arena *a);

// Fills `side`: ancestors of q before, descendants after.
void any_order_sides(struct any_order *s, int32_t q);

// Reports the bound of one cut to the run: for all orders, or, without `any`, for the given order.
// False: out of memory.
bool any_order_lagrangian_cut(struct any_order *s, int32_t q, bool any, int64_t *extra_cost);
