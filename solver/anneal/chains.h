// The chains of the portfolio: several annealings in parallel, in rounds. Within a round each chain
// does a fixed amount of work alone; between rounds each gets the sequence to continue from. Odd
// chains explore: they restart, with more work each time. Even chains exploit: they reheat their
// own best, or the best of all if theirs is behind. The result does not depend on the threads.
#pragma once

#include "solver/anneal/anneal.h"
#include "solver/anneal/min_budget.h"
#include "solver/model/sequence.h"
#include "solver/solve.h"

enum { CHAINS_MAX = 8 };

struct chain {
    struct arena arena;
    struct anneal an;
    struct min_budget start; // the sequence that the next round begins with
    bool descend;            // lower the budget step by step: no sequence was within it yet
    double initial_temperature, final_temperature;
    int64_t work;
    int64_t good_cost, budget_bytes;
    const struct stop *stop; // of the round
    bool failed;             // out of memory: the chain ends
};

struct chains {
    struct chain at[CHAINS_MAX];
    int32_t n;
    int64_t first_work; // of one chain in the first round
    int32_t n_rounds;   // done
    int32_t n_before;   // done before the order became free
    bool free_order;
    struct sequence given, greedy; // what chains start from
};

// False: not enough memory for one chain.
bool chains_make(struct chains *cs, struct solve_run *r);
void chains_free(struct chains *cs);

// The chains begin in the given order. From this call on some of them may leave it, and all of them
// when that pays. Their incumbents stay.
void chains_leave_order(struct chains *cs);

// One round on the threads; offers the incumbents of the chains. Returns the work done, in units of
// anneal_run; `max_work` limits it approximately, by cutting the share of each chain.
int64_t chains_round(struct chains *cs, struct solve_run *r, int32_t n_threads, int64_t max_work);
