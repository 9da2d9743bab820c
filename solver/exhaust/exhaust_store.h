// The states of the exact search (exhaust.h): each once, with the cheapest way to it that is known;
// and those to expand in order.
#pragma once

#include "solver/exhaust/exhaust_state.h"

#define EXHAUST_MAX_STATES (1 << 26)

struct exhaust_state {
    node_set held, done;
    int64_t extra;  // cost of recomputations on the way here
    int32_t parent; // the state before; -1: the first one
    bool expanded;
};

struct exhaust_open {
    int64_t value; // no way through the state has less extra cost
    int32_t state;
    int32_t n_done;
};

struct exhaust_store {
    struct arena *arena;
    VEC(struct exhaust_state) state;
    VEC(struct exhaust_open) open; // a heap
    int32_t *slot;                 // hash table: a state, or -1
    size_t n_slots;                // a power of two
};

bool exhaust_store_open(struct exhaust_store *s, struct arena *a);

// Adds the state, or the cheaper way to it, to those to expand, unless it is known at no more cost.
// False: out of memory.
bool exhaust_store_add(struct exhaust_store *s, const struct exhaust_state *state, int64_t value);

// Takes the state to expand next: of the lowest value, and among these the one where most nodes
// have run. -1: there is none.
int32_t exhaust_store_take(struct exhaust_store *s, int64_t *value);
