// One cut, priced: the relaxation of cut.h that looks at memory only when one node q runs for the
// first time, with a price on every byte that is held there instead of a limit.
//
// What ran before q is then held across it, or run again after it, or gone for good. What is read
// later must be there, and so must the inputs of whatever runs again. With
//
//     there[i] = held or run again,     run[i] <= there[i],     run[i] <= there[input of i]
//
// it is a project selection (selection.h): to run i again saves the price of its bytes less its
// cost, and needs its inputs. So the least of cost + price * bytes is found exactly, in about
// linear time, for graphs of any size, and with it:
//
//   a lower bound on the cost within a room (Lagrange), as strong as the linear program of the cut;
//   the least bytes that must be held at q, at any cost;
//   schedules: what is gone at the price where the rest just fits.
//
// In the given order every node is on one side of q. When the order is free, that is known of the
// ancestors and descendants of q only; any other node may run before q, after it, or both. Then it
// is held at q or runs after it when a descendant of q reads it, but that run costs nothing: it may
// be its first. What is proven so holds for every order (any_order.h).
#pragma once

#include "solver/cuts/selection.h"
#include "solver/model/problem.h"

enum cut_side { SIDE_NONE, SIDE_BEFORE, SIDE_AT, SIDE_AFTER };

struct lagrangian_cut {
    const struct problem *p;
    const bool *pinned;      // per node: may not run again, as if it were a `once` node
    const struct stop *stop; // or NULL
    struct mem *mem;
    int32_t q;
    int64_t persistent_bytes; // held at q whatever is chosen, the problem's own persistent_bytes
                              // included
    double tilt;              // how much dearer the last node is made than the first, to break ties
    double cost_scale;        // a power of two
    struct selection selection; // projects: nodes that may run again; tools: nodes read by nobody
                                // later, that would have to be there
    int32_t *project, *tool;    // their nodes
    bool *live;                 // per project: read later, so it must be there
    int64_t *cost;              // per project: of running after q
    int64_t live_bytes;         // of all of those

    // Of the last price: what the selection means.
    int64_t held_bytes; // at q, persistent_bytes included
    int64_t extra_cost; // of what runs again
    int64_t min_value;  // lower bound on cost + price * bytes, in scaled cost
    bool *evicted;      // per node: not held across q
};

// `side` says where each node is; NULL: the given order. `pinned` is p->once, or says more. False:
// no room.
bool lagrangian_cut_make(struct lagrangian_cut *c, const struct problem *p, int32_t q,
                         const enum cut_side *side, const bool *pinned, struct arena *a);

// The best choice at a price per byte; INFINITY: the least bytes. Fills what is "of the last
// price".
bool lagrangian_cut_price(struct lagrangian_cut *c, double price);

struct lagrangian_cut_bound {
    int64_t extra_cost; // at least so much within the budget
    int64_t min_bytes;  // at least so much is held at q, persistent_bytes included
    double price;       // at which the bound was found; 0: there is no choice to make
};

// The least cost within a budget, and the least bytes at any cost. Prices are tried until the bound
// grows no more. False: no room.
bool lagrangian_cut_bound(struct lagrangian_cut *c, int64_t budget_bytes,
                          struct lagrangian_cut_bound *out);

// The least bytes for at most so much extra cost. False: no room.
bool lagrangian_cut_min_bytes(struct lagrangian_cut *c, int64_t max_extra_cost,
                              struct lagrangian_cut_bound *out);
