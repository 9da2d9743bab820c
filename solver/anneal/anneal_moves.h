// The moves of the annealing. Each tries one change and returns whether it was applied and is
// right; it is then for the caller to accept it (state_commit) or not (state_undo). A move that is
// sure to be refused because its cost alone is above `max_cost` is not applied at all.
#pragma once

#include "solver/anneal/anneal.h"

enum { ANNEAL_PLAN_MAX = 256, ANNEAL_REACH = 128, ANNEAL_WINDOW = 8192 };

bool move_add(struct anneal *an, double max_cost);    // run a node again before a use
bool move_remove(struct anneal *an, double max_cost); // take a run away, with cascade
bool move_swap(struct anneal *an, double max_cost);   // one of each
bool move_trade(struct anneal *an, double max_cost);  // one against several, greedily
bool move_shift(struct anneal *an);                   // one run elsewhere
bool move_pull(struct anneal *an); // a run, and what it needs, to an earlier place
bool move_push(struct anneal *an); // a run, and what needs it, to a later place

// Shared by the moves.
void anneal_look_elsewhere(struct anneal *an);              // another window
int32_t anneal_random_run(struct anneal *an);               // a slot with a run, in the window
int32_t anneal_random_node_again(struct anneal *an);        // one that is recomputed; -1
int32_t anneal_random_again(struct anneal *an);             // a slot whose run may be removed; -1
int32_t anneal_index(const struct state *st, int32_t slot); // among the runs of its node
int32_t anneal_next_run(const struct state *st, int32_t slot); // first >= slot; -1: none
void anneal_cascade(struct anneal *an, int32_t slot); // removes a run and what it leaves idle
bool anneal_plan(struct anneal *an, int32_t node, int32_t slot); // fills the plan
void anneal_plan_apply(struct anneal *an, int32_t slot);         // before slot; room is made
bool anneal_pick_use(struct anneal *an, int32_t *slot, int32_t *input);
