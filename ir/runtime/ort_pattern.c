// Memory patterns: see ort_pattern.h. Best fit along the recorded requests: a buffer gets the
// smallest gap between the live ones in which it fits, the lowest among equals; else it is placed
// behind the last live one. Live buffers are a doubly linked list by address; the gaps behind them
// are in one array that is sorted by size and address.
#include "ir/runtime/ort_pattern.h"

#include <assert.h>
#include <string.h>

enum { UNIT_BYTES = 256, HEAD = 0 }; // buffer 0 stands for the begin of the block

struct placed {
    int64_t at, end;
    uint32_t before, after; // HEAD: none
};

struct planner {
    const struct ort_events *e;
    struct ort_pattern *out;
    struct placed *live; // by buffer
    uint32_t last;
    uint32_t *gaps; // buffers with a gap behind them
    size_t n_gaps;
};

static int64_t gap_bytes(const struct planner *p, uint32_t b) {
    uint32_t after = p->live[b].after;
    return (after ? p->live[after].at : p->out->n_bytes) - p->live[b].end;
}

static bool is_before(const struct planner *p, uint32_t b, int64_t n_bytes, int64_t at) {
    int64_t gap = gap_bytes(p, b);
    return gap < n_bytes || (gap == n_bytes && p->live[b].end < at);
}

// The index of the first gap that is not before (n_bytes, at).
static size_t find(const struct planner *p, int64_t n_bytes, int64_t at) {
    size_t lo = 0, hi = p->n_gaps;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (is_before(p, p->gaps[mid], n_bytes, at))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

// Before a change of the gap behind b.
static void forget_gap(struct planner *p, uint32_t b) {
    int64_t gap = gap_bytes(p, b);
    if (gap == 0)
        return;
    size_t i = find(p, gap, p->live[b].end);
    assert(i < p->n_gaps && p->gaps[i] == b);
    p->n_gaps--;
    memmove(p->gaps + i, p->gaps + i + 1, (p->n_gaps - i) * sizeof *p->gaps);
}

// After it.
static void note_gap(struct planner *p, uint32_t b) {
    int64_t gap = gap_bytes(p, b);
    if (gap == 0)
        return;
    size_t i = find(p, gap, p->live[b].end);
    memmove(p->gaps + i + 1, p->gaps + i, (p->n_gaps++ - i) * sizeof *p->gaps);
    p->gaps[i] = b;
}

static void place(struct planner *p, uint32_t buffer) {
    int64_t size = (p->e->buffers.at[buffer].n_bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    size_t i = find(p, size, 0);
    uint32_t before = i < p->n_gaps ? p->gaps[i] : p->last, after = p->live[before].after;
    forget_gap(p, before);
    int64_t at = p->live[before].end;
    if (at + size > p->out->n_bytes)
        p->out->n_bytes = at + size;
    p->out->offset[buffer] = at;
    p->live[buffer] = (struct placed){at, at + size, before, after};
    p->live[before].after = buffer;
    if (after)
        p->live[after].before = buffer;
    else
        p->last = buffer;
    note_gap(p, buffer);
}

static void release(struct planner *p, uint32_t buffer) {
    uint32_t before = p->live[buffer].before, after = p->live[buffer].after;
    forget_gap(p, buffer);
    forget_gap(p, before);
    p->live[before].after = after;
    if (after)
        p->live[after].before = before;
    else
        p->last = before;
    note_gap(p, before);
}

bool ort_pattern_of(const struct ort_events *e, enum ort_buffer_kind kind, struct arena *a,
                    struct ort_pattern *out) {
    assert(e && a && out);
    size_t n = e->buffers.n + 1;
    struct planner p = {.e = e,
                        .out = out,
                        .live = ARENA_ARRAY(a, struct placed, n),
                        .last = HEAD,
                        .gaps = ARENA_ARRAY(a, uint32_t, n)};
    *out = (struct ort_pattern){.offset = ARENA_ARRAY(a, int64_t, n)};
    if (!p.live || !p.gaps || !out->offset)
        return false;
    for (size_t i = 0; i < e->buffers.n; i++)
        out->offset[i] = -1;
    for (size_t i = 0; i < e->list.n; i++) {
        uint32_t b = e->list.at[i].buffer;
        if (e->buffers.at[b].kind != kind)
            continue;
        assert(e->buffers.at[b].n_bytes > 0);
        if (e->list.at[i].is_alloc)
            place(&p, b);
        else
            release(&p, b);
    }
    return true;
}
