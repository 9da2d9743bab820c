// A sequence says only which node runs when; a node may occur many times. What is held follows from
// it: each occurrence (an *instance*) is held from its computation to its last use before the next
// instance of the same node, or to the end for the last instance of a kept node. This is the least
// memory that the sequence needs. Searches and formulations make sequences; schedules are steps.
#pragma once

#include "solver/model/problem.h"
#include "solver/model/schedule.h"

struct sequence {
    int32_t *at; // node numbers
    int32_t n;
};

struct sequence_facts {
    int64_t peak_bytes; // persistent_bytes included
    int64_t cost;
    int32_t peak_at;  // position of the peak, the first one
    int32_t wrong_at; // -1: fine; else the first position whose node lacks an input, or is
                      // recomputed although it is a `once` node; n: a node never runs
};

// False: out of memory. O(length of the sequence + edges that its nodes read).
bool sequence_measure(const struct problem *p, struct sequence s, struct arena *scratch,
                      struct sequence_facts *out);

// The bytes over a budget, summed over all positions of a valid sequence. False: out of memory.
bool sequence_excess(const struct problem *p, struct sequence s, int64_t budget_bytes,
                     struct arena *scratch, int64_t *excess_bytes);

// The steps of a sequence that sequence_measure finds right; every instance is freed at the
// earliest safe moment. What is never read nor kept is freed right after it ran. Steps live in `a`.
bool sequence_to_steps(const struct problem *p, struct sequence s, struct arena *a,
                       struct steps *out);
bool sequence_of_steps(struct steps s, struct arena *a, struct sequence *out); // computes only

// Without dead instances: those that are not read before the next one or the end (a kept node's
// last instance, and every node's first, stay), until there is none. In place.
bool sequence_prune(const struct problem *p, struct sequence *s, struct arena *scratch);

// Every node once, in the given order.
bool sequence_given(const struct problem *p, struct arena *a, struct sequence *out);
bool sequence_is_given_order(struct sequence s); // first executions come in the given order
