// The memory profile of a sequence: how many bytes are held at each slot, under range additions,
// and by how much the slots together exceed a limit. Two levels: slots lie in blocks, and a block
// that is covered whole takes an addition in one number. A block is looked into only when it is
// covered in part or when it holds a slot over the limit, which is rare near a solution.
//
// A slot without an event does not count: it carries PROFILE_IDLE, far below any limit.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/mem.h"

enum { PROFILE_BLOCK = 32 };

#define PROFILE_IDLE  (-((int64_t)1 << 61))
#define PROFILE_BOUND ((int64_t)1 << 42) // the largest sum of bytes that it counts without overflow

struct profile {
    int64_t *held;                // per slot, without the block's addition
    int64_t *add, *most, *excess; // per block: pending addition, largest slot, sum over the limit
    int32_t n_slots, n_blocks;
    int64_t limit;
    int64_t total_excess; // over all slots
};

bool profile_make(struct arena *a, int32_t n_slots, int64_t limit, struct profile *out);
void profile_clear(struct profile *f); // all slots idle and empty

void profile_add(struct profile *f, int32_t from, int32_t to,
                 int64_t bytes); // inclusive; may be empty
// Sets single slots; profile_refresh() brings what depends on them up to date.
static inline void profile_put(struct profile *f, int32_t slot, int64_t bytes) {
    f->held[slot] = bytes - f->add[slot / PROFILE_BLOCK];
}
void profile_refresh(struct profile *f, int32_t from, int32_t to);
void profile_limit(struct profile *f, int64_t limit);

static inline int64_t profile_at(const struct profile *f, int32_t slot) {
    return f->held[slot] + f->add[slot / PROFILE_BLOCK];
}

int64_t profile_peak(const struct profile *f); // 0 when no slot has an event
