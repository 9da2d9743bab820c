// Offsets for the buffers of a step, by solver/offsets.h. First a short search for an answer within
// GOOD_SHARE of the live bytes, which most steps have. Else longer ones for the best there is. A
// step has thousands of buffers, most of them tiny: for these the small ones, which together are
// never more than a small share of what is live, are left out of the search, and then go where the
// others leave room.
#include <stdlib.h>

#include "passes/layout/layout_inner.h"

#define SMALL_COUNT 256 // with fewer buffers, all are searched
#define GOOD_SHARE  1000
#define FAIR_SHARE  125     // an arena that is larger by more than this is worth a long round
#define TINY_BYTES  1000000 // unless it is small anyway

static const int64_t rounds[] = {8000, 40000, 100000};
static const int64_t small_shares[] = {500, 100}; // one part in so many; the more, the easier

static bool is_good(int64_t arena_bytes, int64_t live, int64_t bound, int64_t share) {
    return arena_bytes <= bound || arena_bytes - live <= live / share;
}

static status one_round(const struct buffer *list, size_t n, const struct offsets_options *o,
                        struct arena *a, struct diags *d, const struct stop *stop, int64_t *offset,
                        int64_t *arena_bytes, int64_t *bound) {
    struct arena scratch = arena_make(a->mem);
    struct diags unmet = diags_make(&scratch); // that nothing is that good is no error
    status st = offsets_assign(list, n, o, a, &unmet, stop, offset, arena_bytes, bound);
    if (st == ST_INFEASIBLE || st == ST_NO_PLAN)
        st = ST_OK;
    if (st)
        diags_take(d, &unmet);
    arena_free(&scratch);
    return st;
}

static status search(const struct buffer *list, size_t n, int64_t work, struct arena *a,
                     struct diags *d, const struct stop *stop, int64_t *offset,
                     int64_t *arena_bytes, int64_t *bound) {
    int64_t *trial = ARENA_ARRAY(a, int64_t, n), live, trial_bytes;
    status st = trial ? offsets_max_live(list, n, a, d, &live) : diag_out_of_memory(d);
    *arena_bytes = INT64_MAX;
    *bound = 0;
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds && !st; k++) {
        bool is_last = work > 0 || (k == 1 && live < TINY_BYTES);
        if (k > 0 && is_good(*arena_bytes, live, *bound, k == 1 ? GOOD_SHARE : FAIR_SHARE))
            break;
        struct offsets_options o = {.capacity_bytes = k ? 0 : live + live / GOOD_SHARE,
                                    .work = work > 0 ? work : rounds[k],
                                    .seed = 1};
        st = one_round(list, n, &o, a, d, stop, trial, &trial_bytes, bound);
        for (size_t i = 0; i < n && !st && trial_bytes < *arena_bytes; i++)
            offset[i] = trial[i];
        if (!st && trial_bytes < *arena_bytes)
            *arena_bytes = trial_bytes;
        if (is_last)
            break;
    }
    return st;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Those of a list that are not larger than `most`, or the others.
static size_t take_part(const struct buffer *list, size_t n, int64_t most, bool small,
                        struct buffer *part) {
    size_t n_part = 0;
    for (size_t i = 0; i < n; i++)
        if ((list[i].size <= most) == small)
            part[n_part++] = list[i];
    return n_part;
}

// The largest size for which all buffers up to it are at most one part in `share` of what is live;
// found by halving.
static status small_limit(const struct buffer *list, size_t n, int64_t share, struct arena *a,
                          struct diags *d, int64_t *out) {
    struct buffer *part = ARENA_ARRAY(a, struct buffer, n);
    size_t low = 0, high = n;
    int64_t *sizes = ARENA_ARRAY(a, int64_t, n), live;
    if (!part || !sizes)
        return diag_out_of_memory(d);
    for (size_t i = 0; i < n; i++)
        sizes[i] = list[i].size;
    qsort(sizes, n, sizeof *sizes, by_size);
    status st = offsets_max_live(list, n, a, d, &live);
    while (low < high && !st) {
        size_t middle = (low + high) / 2;
        int64_t together = 0;
        st = offsets_max_live(part, take_part(list, n, sizes[middle], true, part), a, d, &together);
        if (together <= live / share)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low > 0 ? sizes[low - 1] : -1;
    return st;
}

// The large ones by themselves, then the small ones around them.
static status place_apart(const struct buffer *list, size_t n, int64_t share, int64_t work,
                          struct arena *a, struct diags *d, const struct stop *stop,
                          int64_t *offset, int64_t *arena_bytes, int64_t *bound) {
    struct buffer *part = ARENA_ARRAY(a, struct buffer, n);
    int64_t *placed = ARENA_ARRAY(a, int64_t, n), limit = -1, part_bytes, no_bound;
    if (!part || !placed)
        return diag_out_of_memory(d);
    status st = small_limit(list, n, share, a, d, &limit);
    size_t n_part = st ? 0 : take_part(list, n, limit, false, part);
    if (!st)
        st = search(part, n_part, work, a, d, stop, placed, &part_bytes, bound);
    for (size_t i = 0, k = 0; i < n && !st; i++) {
        part[i] = list[i];
        part[i].is_fixed = list[i].size > limit;
        part[i].fixed = part[i].is_fixed ? placed[k++] : 0;
    }
    struct offsets_options o = {.work = work > 0 ? work : rounds[0], .seed = 1};
    return st ? st : one_round(part, n, &o, a, d, stop, offset, arena_bytes, &no_bound);
}

status layout_place(const struct buffer *list, size_t n, int64_t work, struct arena *a,
                    struct diags *d, const struct stop *stop, int64_t *offset, int64_t *arena_bytes,
                    int64_t *bound) {
    int64_t *trial = ARENA_ARRAY(a, int64_t, n), trial_bytes, trial_bound, live = 0;
    bool is_large = n > SMALL_COUNT;
    if (!trial)
        return diag_out_of_memory(d);
    status st = search(list, n, is_large && !work ? rounds[0] : work, a, d, stop, offset,
                       arena_bytes, bound);
    if (!st)
        st = offsets_max_live(list, n, a, d, &live);
    for (size_t k = 0; is_large && k < sizeof small_shares / sizeof *small_shares && !st; k++) {
        if (is_good(*arena_bytes, live, *bound, k ? FAIR_SHARE : GOOD_SHARE))
            break;
        st = place_apart(list, n, small_shares[k], work, a, d, stop, trial, &trial_bytes,
                         &trial_bound);
        if (st)
            return st;
        *bound = trial_bound > *bound ? trial_bound : *bound;
        if (trial_bytes >= *arena_bytes)
            continue;
        *arena_bytes = trial_bytes;
        for (size_t i = 0; i < n; i++)
            offset[i] = trial[i];
    }
    return st;
}
