// Inside the bounds over all orders (any_order.c, any_order_lagrangian.c): candidates for cuts, and
// who is on which side of one.
#pragma once

#include "solver/cuts/any_order.h"
#include "solver/cuts/lagrangian_cut.h"

#define MAX_CUTS       12
#define MAX_CANDIDATES 400 // candidates for a cut whose pressure is worked out

struct any_order {
    const struct problem *p;
    int64_t budget_bytes;
    const struct stop *stop; // or NULL
    struct solve_run *r;
    const struct any_order_effort *effort;
    struct arena *arena;
    int64_t start_ns;
    enum cut_side *side; // of each node, for the cut that was looked at last
    bool *live;          // scratch: read by a descendant of the cut, or on the way to one
    int32_t candidate[MAX_CANDIDATES]; // candidates, ascending ...
    int64_t pressure[MAX_CANDIDATES];  // ... and the bytes that are wanted at each
    int32_t n_candidates;
    int32_t cuts[MAX_CUTS];
    int32_t n_cuts;
};

// With the candidates filled in, in the arena; NULL: no room.
struct any_order *any_order_make(const struct problem *p, int64_t budget_bytes,
                                 const struct stop *stop, struct arena *a);

// Fills `side`: ancestors before, descendants after.
void any_order_sides(struct any_order *s, int32_t q);

// What one cut proves, told to the run: for all orders, or, without `any`, for the given one.
// False: no room.
bool any_order_lagrangian_cut(struct any_order *s, int32_t q, bool any, int64_t *extra_cost);
