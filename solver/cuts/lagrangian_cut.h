// Lagrangian relaxation of a cut: the relaxation of cut.h with a single cut at the first run of q,
// and a price on every byte held there instead of the memory limit.
//
// A tensor made before q is either kept across q, recomputed after it, or evicted for good. Live
// tensors must be available after q, and so must the inputs of recomputed nodes. With
//
//     available[i] = kept or recomputed,  run[i] <= available[i],  run[i] <= available[input of i]
//
// this is a project selection (selection.h): recomputing i saves the price of its bytes minus its
// cost, and requires its inputs. So the minimum of cost + price * bytes is found exactly, in about
// linear time, for graphs of any size. It gives:
//
//   a lower bound on the cost within a capacity, as strong as the LP relaxation of the cut;
//   the minimum number of bytes held at q, at any cost;
//   schedules: the choice at the price where the kept tensors just fit.
//
// In the given order every node is on one side of q. If the order is free, only the ancestors and
// descendants of q have a known side; any other node may run before q, after it, or both. If a
// descendant of q reads such a node, it is held at q or runs after it, but that run costs nothing,
// since it may be the first. Such bounds hold for every order (any_order.h).
#pragma once

#include "solver/cuts/selection.h"
#include "solver/model/problem.h"

enum cut_side { SIDE_NONE, SIDE_BEFORE, SIDE_AT, SIDE_AFTER };

struct lagrangian_cut {
    const struct problem *p;
    const bool *pinned;      // per node: may not be recomputed, like a `once` node
    const struct stop *stop; // or NULL
    struct mem *mem;
    int32_t q;
    int64_t persistent_bytes;   // held at q for any choice; includes those of the problem
    double tilt;                // relative cost added to the last node, to break ties
    double cost_scale;          // a power of two
    struct selection selection; // projects: nodes that may be recomputed; tools: nodes that only
                                // recomputations read
    int32_t *project, *tool;    // their nodes
    bool *live;                 // per project: live across q, so it must be available
    int64_t *cost;              // per project: of running after q
    int64_t live_bytes;         // of all live projects

    // The choice at the last price.
    int64_t held_bytes; // at q, persistent_bytes included
    int64_t extra_cost; // of recomputations
    int64_t min_value;  // lower bound on cost + price * bytes, in scaled cost
    bool *evicted;      // per node: not kept across q
};

// `side` is the side of each node; NULL: by the given order. `pinned` includes p->once. False: out
// of memory, as for all functions below.
bool lagrangian_cut_make(struct lagrangian_cut *c, const struct problem *p, int32_t q,
                         const enum cut_side *side, const bool *pinned, struct arena *a);

// Finds the optimal choice at a price per byte; INFINITY: minimizes bytes alone.
bool lagrangian_cut_price(struct lagrangian_cut *c, double price);

struct lagrangian_cut_bound {
    int64_t extra_cost; // lower bound, within the budget
    int64_t min_bytes;  // lower bound on bytes held at q, persistent_bytes included
    double price;       // of the best bound; 0: there is no choice to make
};

// Lower bounds on the extra cost within a budget, and on the bytes at any cost. Tries prices until
// the bound stops improving.
bool lagrangian_cut_bound(struct lagrangian_cut *c, int64_t budget_bytes,
                          struct lagrangian_cut_bound *out);

// A lower bound on the bytes for at most max_extra_cost.
bool lagrangian_cut_min_bytes(struct lagrangian_cut *c, int64_t max_extra_cost,
                              struct lagrangian_cut_bound *out);
