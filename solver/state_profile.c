// Range additions over slots with the sum over a limit: see state_profile.h.
#include "solver/state_profile.h"

bool profile_make(struct arena *a, int32_t n_slots, int64_t limit, struct profile *out) {
    int32_t n_blocks = (n_slots + PROFILE_BLOCK - 1) / PROFILE_BLOCK;
    *out = (struct profile){
        .held = ARENA_ARRAY(a, int64_t, (size_t)n_blocks * PROFILE_BLOCK),
        .add = ARENA_ARRAY(a, int64_t, n_blocks),
        .most = ARENA_ARRAY(a, int64_t, n_blocks),
        .excess = ARENA_ARRAY(a, int64_t, n_blocks),
        .n_slots = n_slots,
        .n_blocks = n_blocks,
        .limit = limit,
    };
    if (!out->held || !out->add || !out->most || !out->excess)
        return false;
    profile_clear(out);
    return true;
}

void profile_clear(struct profile *f) {
    for (int32_t s = 0; s < f->n_blocks * PROFILE_BLOCK; s++)
        f->held[s] = PROFILE_IDLE;
    for (int32_t b = 0; b < f->n_blocks; b++) {
        f->add[b] = 0;
        f->most[b] = PROFILE_IDLE;
        f->excess[b] = 0;
    }
    f->total_excess = 0;
}

static inline int64_t block_over(const int64_t *held, int64_t limit) {
    int64_t over = 0;
    for (int32_t i = 0; i < PROFILE_BLOCK; i++)
        over += held[i] > limit ? held[i] - limit : 0;
    return over;
}

static inline void block_excess(struct profile *f, int32_t b) {
    int64_t over = 0;
    if (f->most[b] + f->add[b] > f->limit)
        over = block_over(f->held + (size_t)b * PROFILE_BLOCK, f->limit - f->add[b]);
    f->total_excess += over - f->excess[b];
    f->excess[b] = over;
}

static inline void block_refresh(struct profile *f, int32_t b) {
    const int64_t *held = f->held + (size_t)b * PROFILE_BLOCK;
    int64_t most = held[0];
    for (int32_t i = 1; i < PROFILE_BLOCK; i++)
        most = held[i] > most ? held[i] : most;
    f->most[b] = most;
    block_excess(f, b);
}

static inline void block_part(struct profile *f, int32_t b, int32_t from, int32_t to,
                              int64_t bytes) {
    int64_t *held = f->held + (size_t)b * PROFILE_BLOCK;
    for (int32_t i = from; i <= to; i++)
        held[i] += bytes;
    block_refresh(f, b);
}

void profile_add(struct profile *f, int32_t from, int32_t to, int64_t bytes) {
    if (from > to || bytes == 0)
        return;
    int32_t first = from / PROFILE_BLOCK, last = to / PROFILE_BLOCK;
    int32_t in_first = from % PROFILE_BLOCK, in_last = to % PROFILE_BLOCK;
    if (first == last) {
        block_part(f, first, in_first, in_last, bytes);
        return;
    }
    block_part(f, first, in_first, PROFILE_BLOCK - 1, bytes);
    for (int32_t b = first + 1; b < last; b++) {
        f->add[b] += bytes;
        if (f->excess[b] || f->most[b] + f->add[b] > f->limit)
            block_excess(f, b);
    }
    block_part(f, last, 0, in_last, bytes);
}

void profile_refresh(struct profile *f, int32_t from, int32_t to) {
    for (int32_t b = from / PROFILE_BLOCK; b <= to / PROFILE_BLOCK; b++)
        block_refresh(f, b);
}

void profile_limit(struct profile *f, int64_t limit) {
    f->limit = limit;
    for (int32_t b = 0; b < f->n_blocks; b++)
        block_excess(f, b);
}

int64_t profile_peak(const struct profile *f) {
    int64_t peak = 0;
    for (int32_t b = 0; b < f->n_blocks; b++)
        peak = f->most[b] + f->add[b] > peak ? f->most[b] + f->add[b] : peak;
    return peak;
}
