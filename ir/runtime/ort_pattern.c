// Memory patterns: see ort_pattern.h. Best fit along the recorded requests: a buffer gets the
// smallest gap between the live ones in which it fits, the lowest among equals; else it is placed
// behind the last live one.
#include "ir/runtime/ort_pattern.h"

#include <assert.h>
#include <string.h>

enum { UNIT_BYTES = 256 };

struct placed {
    int64_t at, end;
    uint32_t buffer;
};

struct planner {
    const struct ort_events *e;
    struct ort_pattern *out;
    struct placed *live; // by address
    size_t n_live;
};

static void place(struct planner *p, uint32_t buffer) {
    int64_t size = (p->e->buffers.at[buffer].n_bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    int64_t end = 0, best = -1, least = INT64_MAX;
    for (size_t i = 0; i <= p->n_live; i++) {
        int64_t next = i < p->n_live ? p->live[i].at : p->out->n_bytes;
        if (next - end >= size && next - end < least) {
            least = next - end;
            best = end;
        }
        if (i < p->n_live && p->live[i].end > end)
            end = p->live[i].end;
    }
    if (best < 0)
        best = end;
    if (best + size > p->out->n_bytes)
        p->out->n_bytes = best + size;
    p->out->offset[buffer] = best;
    size_t i = p->n_live++;
    for (; i > 0 && p->live[i - 1].at > best; i--)
        p->live[i] = p->live[i - 1];
    p->live[i] = (struct placed){best, best + size, buffer};
}

static void release(struct planner *p, uint32_t buffer) {
    size_t i = 0;
    while (i < p->n_live && p->live[i].buffer != buffer)
        i++;
    assert(i < p->n_live);
    p->n_live--;
    memmove(p->live + i, p->live + i + 1, (p->n_live - i) * sizeof *p->live);
}

bool ort_pattern_of(const struct ort_events *e, struct arena *a, struct ort_pattern *out) {
    assert(e && a && out);
    struct planner p = {.e = e, .out = out, .live = ARENA_ARRAY(a, struct placed, e->buffers.n)};
    *out = (struct ort_pattern){.offset = ARENA_ARRAY(a, int64_t, e->buffers.n)};
    if (!p.live || !out->offset)
        return false;
    for (size_t i = 0; i < e->buffers.n; i++)
        out->offset[i] = -1;
    for (size_t i = 0; i < e->list.n; i++) {
        uint32_t b = e->list.at[i].buffer;
        if (e->buffers.at[b].kind != ORT_TENSOR)
            continue;
        if (e->list.at[i].is_alloc)
            place(&p, b);
        else
            release(&p, b);
    }
    return true;
}
