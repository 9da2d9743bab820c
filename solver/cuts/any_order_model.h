// The program of several cuts that holds for every order of first executions.
//
// The cuts q_0, q_1, ... are nodes, each an ancestor of the next; their first runs divide time into
// segments 0 .. K, cut k being the end of segment k. Ancestors of q_k run for the first time no
// later than in segment k, descendants no earlier than in segment k + 1; the program chooses where
// the others do. For each node i and cut k, with the segment k + 1 after it:
//
//     first[s,i]  i runs for the first time in segment s; a constant where only one is possible
//     keep[k,i]   i is held when q_k has run
//     run[k,i]    i is run again in the segment after the cut
//     later[k,i]  i is run again at some time after the cut
//
//     there[k,i] = keep[k,i] + run[k,i] + first[k+1,i]
//
//     needed:  there[k,i] >= first[k+1,j], there[k,i] >= run[k,j]    j reads i
//     carry:   keep[k+1,i] <= there[k,i]
//     order:   i has run by the end of a segment if a reader of it has
//     memory:  what runs and is read at q_k, and what is kept there, fits the budget
//
// The rows with `later` are those of cut.h: they stop the relaxation from recomputing in small
// fractions.
#pragma once

#include "solver/mip/cut.h"

struct any_order_model {
    struct cbc_model program;
    const struct cut_view *view;
    const int32_t *cuts;
    int32_t n_cuts;
    int32_t *earliest, *latest;                          // per node: segments of its first run
    int32_t *first_col, *keep_col, *run_col, *later_col; // [k * n + i], -1: no column
};

// `earliest` and `latest` are filled by the caller; everything is in the arena. False: no room.
bool any_order_model_build(struct any_order_model *m, struct arena *a);
