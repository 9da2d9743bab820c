// The inside of the exact search (exhaust.h): sets of nodes, and what is known about the problem.
#pragma once

#include "solver/exhaust/exhaust.h"

typedef uint64_t node_set;

#define NODE(v)      ((node_set)1 << (v))
#define NO_WAY       INT64_MAX // the extra cost where there is no schedule
#define BYTES_SPREAD 256       // values of a byte, in tables of sums

struct exhaust_model {
    const struct problem *p;
    bool free_order;
    int64_t capacity; // the budget without persistent bytes
    node_set all, keep, once;
    node_set in[EXHAUST_MAX_NODES], out[EXHAUST_MAX_NODES];
    // Of the first run of a node: what has run by then in any order, and what a later node reads.
    node_set before[EXHAUST_MAX_NODES], read_after[EXHAUST_MAX_NODES];
    int64_t room[EXHAUST_MAX_NODES];     // capacity beside its inputs, output and workspace
    int32_t by_worth[EXHAUST_MAX_NODES]; // nodes with bytes by cost per byte, the lowest first
    int32_t n_by_worth;
    int64_t bytes_sum[8][BYTES_SPREAD]; // of the nodes in one byte of a set
    int64_t cost_sum[8][BYTES_SPREAD];
};

void exhaust_model_make(struct exhaust_model *m, const struct solve_run *r);

int64_t exhaust_bytes(const struct exhaust_model *m, node_set s);
int64_t exhaust_cost(const struct exhaust_model *m, node_set s);

// Outputs that may still be of use once these nodes have run: they are kept at the end, or a node
// that has not run reads them, or one that may be recomputed and is of use itself.
node_set exhaust_useful(const struct exhaust_model *m, node_set done);

// Nodes that must be recomputed, whatever happens: they have run, are not held, and are kept at the
// end or read by a node that has not run or by another of them. False: one of them must not.
bool exhaust_missing(const struct exhaust_model *m, node_set held, node_set done,
                     node_set *missing);

// A lower bound on the extra cost from the state to the end. NO_WAY: there is no way.
int64_t exhaust_bound(const struct exhaust_model *m, node_set held, node_set done);

static inline int32_t node_lowest(node_set s) {
    return __builtin_ctzll(s);
}

static inline int32_t node_highest(node_set s) {
    return 63 - __builtin_clzll(s);
}

static inline int32_t node_count(node_set s) {
    return __builtin_popcountll(s);
}
