// The chains of the portfolio: several annealings side by side, in rounds. Within a round each
// chain works alone for a fixed amount of work; between rounds, in the order of their numbers, the
// chains are told where to go on from. Odd chains explore: they start afresh, with more work each
// time. Even ones exploit: they reheat their own best, or the best of all when theirs has fallen
// behind. Nothing depends on which thread ran what, or when.
#pragma once

#include "solver/anneal/anneal.h"
#include "solver/anneal/min_budget.h"
#include "solver/model/sequence.h"
#include "solver/solve.h"

enum { CHAINS_MAX = 8 };

struct chain {
    struct arena arena;
    struct anneal an;
    struct min_budget start; // what the next round begins with
    bool descend;            // towards the budget, step by step: nothing has fitted yet
    double initial_temperature, final_temperature;
    int64_t work;
    int64_t good_cost, budget_bytes;
    const struct stop *stop; // of the round
    bool failed;             // out of memory: the chain is out of the race
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

// The chains begin in the given order; from now on some of them, and, when that pays, all, may
// leave it. What they have found stays.
void chains_leave_order(struct chains *cs);

// One round: plans, runs on the threads, offers what was found. Returns the work done, in units of
// anneal_run; `most` bounds it (roughly: a chain's share is cut).
int64_t chains_round(struct chains *cs, struct solve_run *r, int32_t n_threads, int64_t most);
