// The independent check of offsets. It sweeps the arena from low to high addresses and keeps, over
// time, the highest end so far: a buffer may start where, during its whole life, nothing reaches
// above its offset. The ends are held in a segment tree, so n buffers take n log n. The searches
// look at time and address the other way round; nothing is shared with them.
#include <stdlib.h>

#include "solver/check/offsets_check.h"

struct tree {
    size_t n;       // leaves: stretches between neighbouring moments
    size_t *inside; // per node: the buffer with the highest end anywhere below, + 1; 0: none
    size_t *across; // per node: the highest of those that cover it whole, + 1
    const struct buffer *buffers;
    const int64_t *offset;
};

static int64_t end_of(const struct tree *t, size_t b) {
    return b ? t->offset[b - 1] + t->buffers[b - 1].size : 0;
}

static size_t higher(const struct tree *t, size_t x, size_t y) {
    return end_of(t, x) >= end_of(t, y) ? x : y;
}

static size_t tree_highest(const struct tree *t, size_t node, size_t from, size_t to, size_t lo,
                           size_t hi) {
    if (hi <= from || to <= lo)
        return 0;
    if (lo <= from && to <= hi)
        return t->inside[node];
    size_t middle = from + (to - from) / 2;
    size_t below = higher(t, tree_highest(t, 2 * node, from, middle, lo, hi),
                          tree_highest(t, 2 * node + 1, middle, to, lo, hi));
    return higher(t, t->across[node], below);
}

static void tree_raise(struct tree *t, size_t node, size_t from, size_t to, size_t lo, size_t hi,
                       size_t b) {
    if (hi <= from || to <= lo)
        return;
    t->inside[node] = higher(t, t->inside[node], b);
    if (lo <= from && to <= hi) {
        t->across[node] = higher(t, t->across[node], b);
        return;
    }
    size_t middle = from + (to - from) / 2;
    tree_raise(t, 2 * node, from, middle, lo, hi, b);
    tree_raise(t, 2 * node + 1, middle, to, lo, hi, b);
}

struct row {
    int64_t offset;
    size_t buffer;
};

static int row_order(const void *x, const void *y) {
    const struct row *a = x, *b = y;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static int time_order(const void *x, const void *y) {
    int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return a < b ? -1 : a > b;
}

static size_t time_index(const int64_t *moment, size_t n, int64_t time) {
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (moment[middle] < time)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static status check_alone(const struct buffer *b, size_t i, int64_t offset, int64_t arena_bytes,
                          struct diags *d) {
    if (offset < 0 || b->size < 0 || b->size > arena_bytes || offset > arena_bytes - b->size)
        return diag_error(d, DIAG_VERIFY, loc_none(),
                          "buffer %zu of %lld bytes at offset %lld is not within the arena of %lld",
                          i, (long long)b->size, (long long)offset, (long long)arena_bytes);
    if (b->alignment > 1 && offset % b->alignment != 0)
        return diag_error(d, DIAG_VERIFY, loc_none(),
                          "buffer %zu at offset %lld is not aligned to %lld", i, (long long)offset,
                          (long long)b->alignment);
    if (b->is_fixed && offset != b->fixed)
        return diag_error(d, DIAG_VERIFY, loc_none(),
                          "buffer %zu is at offset %lld, but was fixed at %lld", i,
                          (long long)offset, (long long)b->fixed);
    return ST_OK;
}

static status sweep(struct tree *t, const struct row *row, size_t n_rows, const int64_t *moment,
                    size_t n_moments, struct diags *d) {
    for (size_t r = 0; r < n_rows; r++) {
        size_t i = row[r].buffer;
        size_t lo = time_index(moment, n_moments, t->buffers[i].lower);
        size_t hi = time_index(moment, n_moments, t->buffers[i].upper);
        size_t under = tree_highest(t, 1, 0, t->n, lo, hi);
        if (end_of(t, under) > row[r].offset)
            return diag_error(d, DIAG_VERIFY, loc_none(),
                              "buffers %zu and %zu overlap in time and in addresses", under - 1, i);
        tree_raise(t, 1, 0, t->n, lo, hi, i + 1);
    }
    return ST_OK;
}

status offsets_check(const struct buffer *buffers, size_t n, const int64_t *offset,
                     int64_t arena_bytes, struct arena *a, struct diags *d) {
    for (size_t i = 0; i < n; i++) {
        status st = check_alone(&buffers[i], i, offset[i], arena_bytes, d);
        if (st != ST_OK)
            return st;
    }
    struct arena scratch = arena_make(a->mem);
    struct row *row = ARENA_ARRAY(&scratch, struct row, n);
    int64_t *moment = ARENA_ARRAY(&scratch, int64_t, 2 * n);
    size_t n_rows = 0, n_moments = 0;
    for (size_t i = 0; row && moment && i < n; i++)
        if (buffers[i].size > 0 && buffers[i].lower < buffers[i].upper) {
            row[n_rows++] = (struct row){offset[i], i};
            moment[n_moments++] = buffers[i].lower;
            moment[n_moments++] = buffers[i].upper;
        }
    struct tree t = {.n = n_moments ? n_moments : 1, .buffers = buffers, .offset = offset};
    t.inside = ARENA_ARRAY(&scratch, size_t, 4 * t.n);
    t.across = ARENA_ARRAY(&scratch, size_t, 4 * t.n);
    status st = ST_OK;
    if (!row || !moment || !t.inside || !t.across) {
        st = diag_out_of_memory(d);
    } else {
        qsort(row, n_rows, sizeof *row, row_order);
        qsort(moment, n_moments, sizeof *moment, time_order);
        st = sweep(&t, row, n_rows, moment, n_moments, d);
    }
    arena_free(&scratch);
    return st;
}
