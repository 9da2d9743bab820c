// The memory profile of a sequence: how many bytes are held at each slot, under range additions,
// and by how much the slots together exceed a limit. Three levels: slots lie in blocks, blocks in
// spans, and a block or span that is covered as a whole stores an addition as one number. Its
// slots are visited only when it is covered in part or holds a slot over the limit, which is rare
// near a solution.
//
// A slot without an event does not count: it carries PROFILE_IDLE, far below any limit.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/mem.h"

enum { PROFILE_BLOCK = 32, PROFILE_SPAN = 32 }; // slots in a block, blocks in a span

#define PROFILE_IDLE  (-((int64_t)1 << 61))
#define PROFILE_BOUND ((int64_t)1 << 42) // the largest sum of bytes that it counts without overflow

struct profile {
    int64_t *held;                // per slot, without the additions to its block and span
    int64_t *add, *max, *excess;  // per block: addition, largest slot, sum over the limit
    int64_t *span_add, *span_max; // per span: addition, and no block is above this without it
    int64_t *span_excess;         // sum over its blocks
    int32_t n_slots, n_blocks, n_spans;
    int64_t limit;
    int64_t total_excess; // over all slots
};

bool profile_make(struct arena *a, int32_t n_slots, int64_t limit, struct profile *out);
void profile_clear(struct profile *f); // all slots idle and empty

void profile_add(struct profile *f, int32_t from, int32_t to,
                 int64_t bytes); // inclusive; may be empty
// Sets single slots; profile_refresh() brings what depends on them up to date.
static inline void profile_put(struct profile *f, int32_t slot, int64_t bytes) {
    int32_t block = slot / PROFILE_BLOCK;
    f->held[slot] = bytes - f->add[block] - f->span_add[block / PROFILE_SPAN];
}
void profile_refresh(struct profile *f, int32_t from, int32_t to);
void profile_limit(struct profile *f, int64_t limit);

static inline int64_t profile_at(const struct profile *f, int32_t slot) {
    int32_t block = slot / PROFILE_BLOCK;
    return f->held[slot] + f->add[block] + f->span_add[block / PROFILE_SPAN];
}

int64_t profile_peak(const struct profile *f);  // 0 when no slot has an event
int32_t profile_worst(const struct profile *f); // the slot furthest over the limit; -1: none is
