// Offsets for the buffers of a step, by solver/offsets.h. First a short search for an arena within
// GOOD_SHARE of the live bytes, which exists for most steps; if it fails, longer searches for the
// smallest arena. A step has thousands of buffers, most of them tiny. The longer searches of large
// steps place the large buffers first; the small ones, which together are never more than a small
// share of what is live, are then placed in the gaps.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"
#include "passes/layout/layout_inner.h"

#define SMALL_COUNT 256 // with fewer buffers, all are searched together
#define GOOD_SHARE  1000
#define FAIR_SHARE  125     // an arena that is larger by more than this is worth a long search
#define TINY_BYTES  1000000 // unless it is small anyway

static const int64_t rounds[] = {8000, 40000, 100000}; // work of each search
static const int64_t small_shares[] = {500, 100};      // one part in so many is small

static bool is_good(const struct layout_offsets *o, int64_t live_bytes, int64_t share) {
    return o->arena_bytes <= o->bound_bytes || o->arena_bytes - live_bytes <= live_bytes / share;
}

static bool open_offsets(const struct layout_task *t, struct layout_offsets *out) {
    *out = (struct layout_offsets){.offset = ARENA_ARRAY(t->a, int64_t, t->n),
                                   .arena_bytes = INT64_MAX};
    return out->offset;
}

static void keep_better(const struct layout_offsets *trial, size_t n, struct layout_offsets *best) {
    if (trial->arena_bytes >= best->arena_bytes)
        return;
    best->arena_bytes = trial->arena_bytes;
    memcpy(best->offset, trial->offset, n * sizeof *best->offset);
}

static status search_once(const struct layout_task *t, const struct offsets_options *o,
                          struct layout_offsets *out) {
    struct arena scratch = arena_make(t->a->mem);
    struct diags unmet = diags_make(&scratch); // a capacity that cannot be met is no error
    struct offsets_result r = {.offset = out->offset, .arena_bytes = INT64_MAX};
    status st = offsets_assign(t->list, t->n, o, t->a, &unmet, &r);
    out->arena_bytes = r.arena_bytes;
    out->bound_bytes = r.bound;
    if (st == ST_INFEASIBLE || st == ST_NO_PLAN)
        st = ST_OK;
    if (st)
        diags_take(t->d, &unmet);
    arena_free(&scratch);
    return st;
}

// Searches with growing work until the arena is good.
static status search(const struct layout_task *t, struct layout_offsets *out) {
    struct layout_offsets trial;
    int64_t live;
    bool ok = open_offsets(t, out) && open_offsets(t, &trial);
    status st = ok ? offsets_max_live(t->list, t->n, t->a, t->d, &live) : diag_out_of_memory(t->d);
    for (size_t k = 0; k < sizeof rounds / sizeof *rounds && !st; k++) {
        bool is_last = t->work > 0 || (k == 1 && live < TINY_BYTES);
        if (k > 0 && is_good(out, live, k == 1 ? GOOD_SHARE : FAIR_SHARE))
            break;
        struct offsets_options o = {.capacity_bytes = k ? 0 : live + live / GOOD_SHARE,
                                    .work = t->work > 0 ? t->work : rounds[k],
                                    .seed = 1,
                                    .stop = t->stop};
        st = search_once(t, &o, &trial);
        out->bound_bytes = trial.bound_bytes;
        if (!st)
            keep_better(&trial, t->n, out);
        if (is_last)
            break;
    }
    return st;
}

// The buffers of at most `limit` bytes, or the others.
static size_t take_part(const struct layout_task *t, int64_t limit, bool small,
                        struct buffer *part) {
    size_t n_part = 0;
    for (size_t i = 0; i < t->n; i++)
        if ((t->list[i].size <= limit) == small)
            part[n_part++] = t->list[i];
    return n_part;
}

// The largest size such that all buffers up to it are at most one part in `share` of what is live;
// found by bisection.
static status small_limit(const struct layout_task *t, int64_t share, int64_t *out) {
    struct buffer *part = ARENA_ARRAY(t->a, struct buffer, t->n);
    size_t low = 0, high = t->n;
    int64_t *sizes = ARENA_ARRAY(t->a, int64_t, t->n), live;
    if (!part || !sizes)
        return diag_out_of_memory(t->d);
    for (size_t i = 0; i < t->n; i++)
        sizes[i] = t->list[i].size;
    qsort(sizes, t->n, sizeof *sizes, int64_compare);
    status st = offsets_max_live(t->list, t->n, t->a, t->d, &live);
    while (low < high && !st) {
        size_t middle = (low + high) / 2, n_part = take_part(t, sizes[middle], true, part);
        int64_t together = 0;
        st = offsets_max_live(part, n_part, t->a, t->d, &together);
        if (together <= live / share)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low > 0 ? sizes[low - 1] : -1;
    return st;
}

// Places the large buffers, then the small ones in the gaps. The bound is that of the large ones.
static status search_large_first(const struct layout_task *t, int64_t share,
                                 struct layout_offsets *out) {
    struct buffer *part = ARENA_ARRAY(t->a, struct buffer, t->n);
    struct layout_task large = *t, all = *t;
    struct layout_offsets placed;
    int64_t limit = -1;
    if (!part || !open_offsets(t, out))
        return diag_out_of_memory(t->d);
    status st = small_limit(t, share, &limit);
    large.list = all.list = part;
    large.n = st ? 0 : take_part(t, limit, false, part);
    if (!st)
        st = search(&large, &placed);
    for (size_t i = 0, k = 0; i < t->n && !st; i++) {
        part[i] = t->list[i];
        part[i].is_fixed = t->list[i].size > limit;
        part[i].fixed = part[i].is_fixed ? placed.offset[k++] : 0;
    }
    struct offsets_options o = {
        .work = t->work > 0 ? t->work : rounds[0], .seed = 1, .stop = t->stop};
    if (!st)
        st = search_once(&all, &o, out);
    if (!st)
        out->bound_bytes = placed.bound_bytes;
    return st;
}

status layout_offsets_find(const struct layout_task *t, struct layout_offsets *out) {
    assert(t->n > 0 && t->work >= 0);
    bool is_large = t->n > SMALL_COUNT;
    int64_t live = 0;
    struct layout_task first = *t;
    first.work = is_large && !t->work ? rounds[0] : t->work;
    status st = search(&first, out);
    if (!st)
        st = offsets_max_live(t->list, t->n, t->a, t->d, &live);
    for (size_t k = 0; is_large && k < sizeof small_shares / sizeof *small_shares && !st; k++) {
        struct layout_offsets trial;
        if (is_good(out, live, k ? FAIR_SHARE : GOOD_SHARE))
            break;
        st = search_large_first(t, small_shares[k], &trial);
        if (st)
            return st;
        if (trial.bound_bytes > out->bound_bytes)
            out->bound_bytes = trial.bound_bytes;
        keep_better(&trial, t->n, out);
    }
    return st;
}
