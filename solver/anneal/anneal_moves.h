// The moves of the annealing (anneal.h). Each tries one change and returns whether it was applied
// and the sequence is valid; the caller accepts it (state_commit) or undoes it (state_undo). A move
// whose cost alone is above `max_cost`, and which would be undone for certain, is not applied.
#pragma once

#include "solver/anneal/anneal.h"

enum { ANNEAL_PLAN_MAX = 256, ANNEAL_REACH = 128, ANNEAL_WINDOW = 8192 };

bool move_add(struct anneal *an, double max_cost);    // recompute a node before a use
bool move_remove(struct anneal *an, double max_cost); // remove a run, with cascade
bool move_swap(struct anneal *an, double max_cost);   // one of each
bool move_trade(struct anneal *an, double max_cost);  // one against several, greedily
bool move_shift(struct anneal *an);                   // one run, to another position
bool move_pull(struct anneal *an); // a run and its dependencies, to an earlier position
bool move_push(struct anneal *an); // a run and its dependents, to a later position

// Shared by the moves.
void anneal_change_window(struct anneal *an);               // another window
int32_t anneal_random_run(struct anneal *an);               // a slot with a run, in the window
int32_t anneal_random_node_again(struct anneal *an);        // one that is recomputed; -1
int32_t anneal_random_again(struct anneal *an);             // a slot whose run may be removed; -1
int32_t anneal_index(const struct state *st, int32_t slot); // among the runs of its node
int32_t anneal_next_run(const struct state *st, int32_t slot); // first >= slot; -1: none
void anneal_cascade(struct anneal *an,
                    int32_t slot); // removes a run and the runs that only it needed
bool anneal_plan(struct anneal *an, int32_t node, int32_t slot); // fills the plan
void anneal_plan_apply(struct anneal *an, int32_t slot); // before slot; the slots are reserved
bool anneal_pick_use(struct anneal *an, int32_t *slot, int32_t *input);
