// The least memory: lowers the budget of an annealing step by step, each time from the sequence
// that fitted the budget before, until a target is reached or the steps have become tiny. It finds
// a schedule when the budget is tight, and a budget that works when the given one is infeasible.
#pragma once

#include "solver/anneal/anneal.h"
#include "solver/model/sequence.h"

struct min_budget {
    struct sequence at; // the sequence of least peak so far
    int32_t cap;
    int64_t peak_bytes; // its peak, persistent_bytes included
};

// From `l->at` (valid; its peak is measured here) towards target_bytes. The annealing's budget is
// the target afterwards, and its best is set if the target was reached. False: out of memory.
bool min_budget_descend(struct anneal *an, struct min_budget *l, int64_t target_bytes, int64_t work,
                        const struct stop *stop);
bool min_budget_set(struct min_budget *l, struct arena *a, struct sequence s); // copies

struct solve_run;
// For a run whose budget is proven too small: offers schedules of small peaks, so that the report
// can name a budget that is known to work.
void min_budget_search(struct solve_run *r);
