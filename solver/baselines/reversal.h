// Reversals: schedules that run the forward part once, and then the backward part from its end to
// its start, recomputing pieces of the forward part on demand. All published baselines have this
// form. They differ in how they cut the forward part into units, and in which states between units
// they store, and when.
#pragma once

#include "solver/model/sequence.h"
#include "solver/solve.h"

// Nodes 0 .. n_forward-1 are the forward part, divided into consecutive units.
struct reversal {
    const struct problem *p;
    struct arena *arena;
    int32_t n_forward, n_units;
    int32_t *unit_start; // n_units + 1: unit u has the nodes unit_start[u] .. unit_start[u+1]-1
    int32_t *back_start; // n_units + 1: backward nodes that run when unit u is reached:
    int32_t *back;       // back[back_start[u] .. back_start[u+1]-1]
    bool strict;         // only stored states stay in memory; other tensors of earlier episodes are
                         // recomputed
    bool *ran, *stored;  // per node
    bool *fresh;         // per unit: its last node is still in memory from an advance
    int32_t *episode_of; // per node: the episode of its last run
    int32_t episode;
    VEC(int32_t) stack; // of emit
    VEC(int32_t) out;   // the sequence so far
    bool out_of_memory, too_long;
};

// Where backward nodes that read several units, or none, are placed: as early as the latest unit
// that they or any later backward node read (SOON), or as late as their own inputs allow (LATE).
enum reversal_place { REVERSAL_SOON, REVERSAL_LATE };

struct reversal_style {
    bool strict;
    enum reversal_place place;
};

// `ends`: per forward node, a unit ends there (the last node always ends one). False: out of
// memory.
bool reversal_make(const struct problem *p, struct arena *a, int32_t n_forward, const bool *ends,
                   struct reversal_style style, struct reversal *out);

// Each level divides its units into k + 1 parts, stores the states between them, and reverses the
// parts from last to first in the same way. k >= n_units - 1 stores every state: Chen's one-level
// scheme. Memory k log(n) / log(k + 1), time n log(n) / log(k + 1).
void reversal_multilevel(struct reversal *r, int32_t k);

// Griewank's binomial reversal: the fewest recomputations with at most `slots` stored states.
void reversal_binomial(struct reversal *r, int32_t slots);

// The sequence without dead recomputations. False: out of memory, or the sequence is too long.
bool reversal_finish(struct reversal *r, struct sequence *out);
