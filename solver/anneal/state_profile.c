// Range additions over slots with the sum over a limit: see state_profile.h. For the largest block
// of a span only an upper bound is kept: additions raise it, and it is refreshed when it is
// above the limit.
#include "solver/anneal/state_profile.h"

bool profile_make(struct arena *a, int32_t n_slots, int64_t limit, struct profile *out) {
    int32_t n_blocks = (n_slots + PROFILE_BLOCK - 1) / PROFILE_BLOCK;
    int32_t n_spans = (n_blocks + PROFILE_SPAN - 1) / PROFILE_SPAN;
    *out = (struct profile){
        .held = ARENA_ARRAY(a, int64_t, (size_t)n_blocks * PROFILE_BLOCK),
        .add = ARENA_ARRAY(a, int64_t, n_blocks),
        .max = ARENA_ARRAY(a, int64_t, n_blocks),
        .excess = ARENA_ARRAY(a, int64_t, n_blocks),
        .span_add = ARENA_ARRAY(a, int64_t, n_spans),
        .span_max = ARENA_ARRAY(a, int64_t, n_spans),
        .span_excess = ARENA_ARRAY(a, int64_t, n_spans),
        .n_slots = n_slots,
        .n_blocks = n_blocks,
        .n_spans = n_spans,
        .limit = limit,
    };
    if (!out->held || !out->add || !out->max || !out->excess || !out->span_add || !out->span_max ||
        !out->span_excess)
        return false;
    profile_clear(out);
    return true;
}

void profile_clear(struct profile *f) {
    for (int32_t s = 0; s < f->n_blocks * PROFILE_BLOCK; s++)
        f->held[s] = PROFILE_IDLE;
    for (int32_t b = 0; b < f->n_blocks; b++) {
        f->add[b] = 0;
        f->max[b] = PROFILE_IDLE;
        f->excess[b] = 0;
    }
    for (int32_t w = 0; w < f->n_spans; w++) {
        f->span_add[w] = f->span_excess[w] = 0;
        f->span_max[w] = PROFILE_IDLE;
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
    int64_t over = 0, limit = f->limit - f->add[b] - f->span_add[b / PROFILE_SPAN];
    if (f->max[b] > limit)
        over = block_over(f->held + (size_t)b * PROFILE_BLOCK, limit);
    f->total_excess += over - f->excess[b];
    f->span_excess[b / PROFILE_SPAN] += over - f->excess[b];
    f->excess[b] = over;
}

static inline void raise_span(struct profile *f, int32_t b) {
    int64_t *max = &f->span_max[b / PROFILE_SPAN], here = f->max[b] + f->add[b];
    *max = here > *max ? here : *max;
}

static inline void block_refresh(struct profile *f, int32_t b) {
    const int64_t *held = f->held + (size_t)b * PROFILE_BLOCK;
    int64_t max = held[0];
    for (int32_t i = 1; i < PROFILE_BLOCK; i++)
        max = held[i] > max ? held[i] : max;
    f->max[b] = max;
    raise_span(f, b);
    block_excess(f, b);
}

static inline void block_part(struct profile *f, int32_t b, int32_t from, int32_t to,
                              int64_t bytes) {
    int64_t *held = f->held + (size_t)b * PROFILE_BLOCK;
    for (int32_t i = from; i <= to; i++)
        held[i] += bytes;
    block_refresh(f, b);
}

static inline void block_whole(struct profile *f, int32_t b, int64_t bytes) {
    f->add[b] += bytes;
    raise_span(f, b);
    if (f->excess[b] || f->max[b] + f->add[b] + f->span_add[b / PROFILE_SPAN] > f->limit)
        block_excess(f, b);
}

// All blocks of a span, and the bound of their largest.
static void span_refresh(struct profile *f, int32_t w) {
    int32_t end = (w + 1) * PROFILE_SPAN < f->n_blocks ? (w + 1) * PROFILE_SPAN : f->n_blocks;
    f->span_max[w] = INT64_MIN;
    for (int32_t b = w * PROFILE_SPAN; b < end; b++) {
        raise_span(f, b);
        block_excess(f, b);
    }
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
    for (int32_t b = first + 1; b < last;) {
        int32_t w = b / PROFILE_SPAN;
        if (b % PROFILE_SPAN != 0 || b + PROFILE_SPAN > last) {
            block_whole(f, b++, bytes);
            continue;
        }
        f->span_add[w] += bytes;
        if (f->span_excess[w] || f->span_max[w] + f->span_add[w] > f->limit)
            span_refresh(f, w);
        b += PROFILE_SPAN;
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
    for (int32_t b = 0; b < f->n_blocks; b++) {
        int64_t max = f->max[b] + f->add[b] + f->span_add[b / PROFILE_SPAN];
        peak = max > peak ? max : peak;
    }
    return peak;
}

int32_t profile_worst(const struct profile *f) {
    int32_t worst = -1;
    int64_t max = f->limit;
    for (int32_t w = 0; w < f->n_spans; w++) {
        if (f->span_excess[w] == 0)
            continue;
        for (int32_t b = w * PROFILE_SPAN; b < (w + 1) * PROFILE_SPAN && b < f->n_blocks; b++)
            if (f->max[b] + f->add[b] + f->span_add[w] > max) {
                max = f->max[b] + f->add[b] + f->span_add[w];
                worst = b;
            }
    }
    if (worst < 0)
        return -1;
    int32_t slot = worst * PROFILE_BLOCK;
    while (f->held[slot] != f->max[worst])
        slot++;
    return slot;
}
