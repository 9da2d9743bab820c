// The program of several cuts that holds for every order of first runs.
//
// The cuts q_0, q_1, ... are nodes, each an ancestor of the next. Their first runs divide a
// schedule into segments 0 .. K; cut k ends segment k. Ancestors of q_k run for the first time in
// segment k at the latest, descendants in segment k + 1 at the earliest; the program chooses the
// segment of the other nodes. For each node i and cut k, with segment k + 1 after it:
//
//     first[s,i]  i runs for the first time in segment s; a constant where only one is possible
//     keep[k,i]   i is in memory after q_k has run
//     run[k,i]    i is recomputed in the segment after the cut
//     later[k,i]  i is recomputed at some time after the cut
//
//     available[k,i] = keep[k,i] + run[k,i] + first[k+1,i]
//
//     needed:  available[k,i] >= first[k+1,j], available[k,i] >= run[k,j]    j reads i
//     carry:   keep[k+1,i] <= available[k,i]
//     order:   i has run by the end of a segment if a consumer of i has
//     memory:  the working set of q_k and the tensors kept across it fit the budget
//
// The rows with `later` are those of CUT_LATER in cut.h: the relaxation cannot recompute small
// fractions in many segments.
#pragma once

#include "solver/mip/cut.h"

struct any_order_model {
    struct cbc_model program;
    const struct cut_view *view;
    const int32_t *cuts;
    int32_t n_cuts;
    int32_t *earliest, *latest; // per node: segments of its first run
    struct cut_columns cols;
    int32_t *first_col; // [segment * n + i], -1: no column
};

// The caller fills view, cuts, earliest and latest; the rest is made in the arena. False: out of
// memory.
bool any_order_model_build(struct any_order_model *m, struct arena *a);
