// Offsets for the buffers of a step, by solver/offsets.h. First a short search for an answer within
// GOOD_SHARE of the live bytes, which most steps have. Else longer ones for the best there is. A
// step has thousands of buffers, most of them tiny: for these the small ones, which together are
// never more than one part in SMALL_SHARE of what is live, get an end of the arena to themselves,
// so that the search has only the others to arrange.
#include <stdlib.h>

#include "passes/layout_inner.h"

#define SMALL_SHARE 500
#define SMALL_COUNT 256 // with fewer buffers, all are searched
#define GOOD_SHARE  1000
#define FAIR_SHARE  125     // an arena that is larger by more than this is worth a long round
#define TINY_BYTES  1000000 // unless it is small anyway

static const int64_t rounds[] = {8000, 40000, 100000};

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
    status st = trial ? offsets_max_live(list, n, a, d, &live) : diag_no_room(d);
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

// Those of a list that are not larger than `most`, or the others; `which` says where they were.
static size_t take_part(const struct buffer *list, size_t n, int64_t most, bool small,
                        struct buffer *part, size_t *which) {
    size_t n_part = 0;
    for (size_t i = 0; i < n; i++)
        if ((list[i].size <= most) == small) {
            which[n_part] = i;
            part[n_part++] = list[i];
        }
    return n_part;
}

// The largest size for which all buffers up to it are small together; found by halving.
static status small_limit(const struct buffer *list, size_t n, struct arena *a, struct diags *d,
                          int64_t *out) {
    struct buffer *part = ARENA_ARRAY(a, struct buffer, n);
    size_t *which = ARENA_ARRAY(a, size_t, n), low = 0, high = n;
    int64_t *sizes = ARENA_ARRAY(a, int64_t, n), live;
    if (!part || !which || !sizes)
        return diag_no_room(d);
    for (size_t i = 0; i < n; i++)
        sizes[i] = list[i].size;
    qsort(sizes, n, sizeof *sizes, by_size);
    status st = offsets_max_live(list, n, a, d, &live);
    while (low < high && !st) {
        size_t middle = (low + high) / 2;
        int64_t together = 0;
        st = offsets_max_live(part, take_part(list, n, sizes[middle], true, part, which), a, d,
                              &together);
        if (together <= live / SMALL_SHARE)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low > 0 ? sizes[low - 1] : -1;
    return st;
}

status layout_place(const struct buffer *list, size_t n, int64_t work, struct arena *a,
                    struct diags *d, const struct stop *stop, int64_t *offset, int64_t *arena_bytes,
                    int64_t *bound) {
    struct buffer *part = ARENA_ARRAY(a, struct buffer, n);
    size_t *which = ARENA_ARRAY(a, size_t, n);
    int64_t *placed = ARENA_ARRAY(a, int64_t, n), *apart = ARENA_ARRAY(a, int64_t, n);
    int64_t limit = -1, end = 0, live = 0;
    if (!part || !which || !placed || !apart)
        return diag_no_room(d);
    bool is_large = n > SMALL_COUNT;
    status st = search(list, n, is_large && !work ? rounds[0] : work, a, d, stop, offset,
                       arena_bytes, bound);
    if (!st)
        st = offsets_max_live(list, n, a, d, &live);
    if (st || !is_large || is_good(*arena_bytes, live, *bound, GOOD_SHARE))
        return st;
    st = small_limit(list, n, a, d, &limit);
    for (int small = 0; small < 2 && !st; small++) {
        size_t n_part = take_part(list, n, limit, small, part, which);
        int64_t part_bytes, part_bound;
        if (!n_part)
            continue;
        // What is small gets a short search: all of it together is little.
        st = search(part, n_part, small && !work ? rounds[0] : work, a, d, stop, placed,
                    &part_bytes, &part_bound);
        if (st)
            return st;
        int64_t step = part[0].alignment > 0 ? part[0].alignment : 1;
        int64_t base = (end + step - 1) / step * step;
        for (size_t i = 0; i < n_part; i++)
            apart[which[i]] = base + placed[i];
        end = base + part_bytes;
        *bound = part_bound > *bound ? part_bound : *bound;
    }
    if (st || end >= *arena_bytes)
        return st;
    *arena_bytes = end;
    for (size_t i = 0; i < n; i++)
        offset[i] = apart[i];
    return offsets_check(list, n, offset, end, a, d);
}
