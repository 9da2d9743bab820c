// The independent check of offsets: a sweep line over addresses. Buffers are visited by increasing
// offset. A segment tree over time keeps the highest end of the visited buffers; a buffer overlaps
// one of them if and only if the highest end during its lifetime is above its offset. O(n log n).
// The allocators sweep over time instead, and share no code with this file.
#include "solver/check/offsets_check.h"

#include <assert.h>
#include <stdlib.h>

struct tree {
    size_t n;       // leaves: intervals between consecutive moments
    size_t *inside; // per node: the buffer with the highest end anywhere below, + 1; 0: none
    size_t *across; // per node: the same over the buffers that are live in its whole interval
    const struct buffer *buffers;
    const int64_t *offset;
};

static int64_t end_of(const struct tree *t, size_t b) {
    return b ? t->offset[b - 1] + t->buffers[b - 1].size : 0;
}

static size_t higher(const struct tree *t, size_t x, size_t y) {
    return end_of(t, x) >= end_of(t, y) ? x : y;
}

// A node of the tree and the leaves below it: from up to, not including, to.
struct tree_node {
    size_t index, from, to;
};

static struct tree_node root_of(const struct tree *t) {
    return (struct tree_node){1, 0, t->n};
}

static struct tree_node left_of(struct tree_node at) {
    return (struct tree_node){2 * at.index, at.from, at.from + (at.to - at.from) / 2};
}

static struct tree_node right_of(struct tree_node at) {
    return (struct tree_node){2 * at.index + 1, at.from + (at.to - at.from) / 2, at.to};
}

// The buffer with the highest end over the leaves lo .. hi - 1, + 1; 0: none.
static size_t tree_highest(const struct tree *t, struct tree_node at, size_t lo, size_t hi) {
    if (hi <= at.from || at.to <= lo)
        return 0;
    if (lo <= at.from && at.to <= hi)
        return t->inside[at.index];
    size_t below =
        higher(t, tree_highest(t, left_of(at), lo, hi), tree_highest(t, right_of(at), lo, hi));
    return higher(t, t->across[at.index], below);
}

// Adds buffer b - 1 to the leaves lo .. hi - 1.
static void tree_add(struct tree *t, struct tree_node at, size_t lo, size_t hi, size_t b) {
    if (hi <= at.from || at.to <= lo)
        return;
    t->inside[at.index] = higher(t, t->inside[at.index], b);
    if (lo <= at.from && at.to <= hi) {
        t->across[at.index] = higher(t, t->across[at.index], b);
        return;
    }
    tree_add(t, left_of(at), lo, hi, b);
    tree_add(t, right_of(at), lo, hi, b);
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

static status check_one(const struct buffer *b, size_t i, int64_t offset, int64_t arena_bytes,
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
                          "buffer %zu is at offset %lld, but its offset is fixed at %lld", i,
                          (long long)offset, (long long)b->fixed);
    return ST_OK;
}

static status sweep(struct tree *t, const struct row *row, size_t n_rows, const int64_t *moment,
                    size_t n_moments, struct diags *d) {
    for (size_t r = 0; r < n_rows; r++) {
        size_t i = row[r].buffer;
        size_t lo = time_index(moment, n_moments, t->buffers[i].lower);
        size_t hi = time_index(moment, n_moments, t->buffers[i].upper);
        size_t highest = tree_highest(t, root_of(t), lo, hi);
        if (end_of(t, highest) > row[r].offset)
            return diag_error(d, DIAG_VERIFY, loc_none(),
                              "buffers %zu and %zu overlap in time and in addresses", highest - 1,
                              i);
        tree_add(t, root_of(t), lo, hi, i + 1);
    }
    return ST_OK;
}

status offsets_check(const struct buffer *buffers, size_t n, const int64_t *offset,
                     int64_t arena_bytes, struct arena *a, struct diags *d) {
    assert((buffers && offset) || n == 0);
    for (size_t i = 0; i < n; i++) {
        status st = check_one(&buffers[i], i, offset[i], arena_bytes, d);
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
