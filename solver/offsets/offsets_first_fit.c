// First fit: items in the given order, each at the lowest offset that is free during its live
// range, holes included. Fixed items go first. Slower than the skyline (quadratic), but it works
// around fixed items.
#include <string.h>

#include "solver/offsets/offsets_fit.h"

// The placed items, by offset.
struct shelf {
    int64_t *from, *to;
    int32_t *lo, *hi;
    int32_t n;
};

static bool shelf_alloc(struct shelf *s, struct arena *a, int32_t n) {
    s->from = ARENA_ARRAY(a, int64_t, n);
    s->to = ARENA_ARRAY(a, int64_t, n);
    s->lo = ARENA_ARRAY(a, int32_t, n);
    s->hi = ARENA_ARRAY(a, int32_t, n);
    return s->from && s->to && s->lo && s->hi;
}

static int64_t shelf_lowest(const struct shelf *s, const struct offsets_part *p, int32_t i) {
    int64_t at = 0;
    for (int32_t k = 0; k < s->n && s->from[k] < at + p->size[i]; k++)
        if (s->lo[k] < p->hi[i] && p->lo[i] < s->hi[k] && s->to[k] > at)
            at = offsets_align_up(s->to[k], p->align[i]);
    return at;
}

static void shelf_add(struct shelf *s, const struct offsets_part *p, int32_t i, int64_t at) {
    int32_t lo = 0, hi = s->n;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (s->from[middle] <= at)
            lo = middle + 1;
        else
            hi = middle;
    }
    size_t after = (size_t)(s->n - lo);
    memmove(s->from + lo + 1, s->from + lo, after * sizeof *s->from);
    memmove(s->to + lo + 1, s->to + lo, after * sizeof *s->to);
    memmove(s->lo + lo + 1, s->lo + lo, after * sizeof *s->lo);
    memmove(s->hi + lo + 1, s->hi + lo, after * sizeof *s->hi);
    s->from[lo] = at;
    s->to[lo] = at + p->size[i];
    s->lo[lo] = p->lo[i];
    s->hi[lo] = p->hi[i];
    s->n++;
}

status offsets_first_fit(struct offsets_part *p, const int32_t *order, struct offsets_work *work,
                         struct arena *a, struct diags *d) {
    struct arena scratch = arena_make(a->mem);
    struct shelf shelf = {0};
    int64_t *offset = ARENA_ARRAY(&scratch, int64_t, p->n);
    if (!shelf_alloc(&shelf, &scratch, p->n) || !offset) {
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    for (int32_t i = 0; i < p->n; i++)
        if (p->fixed[i] >= 0) {
            offset[i] = p->fixed[i];
            shelf_add(&shelf, p, i, offset[i]);
        }
    for (int32_t k = 0; k < p->n; k++) {
        int32_t i = order[k];
        if (p->fixed[i] >= 0)
            continue;
        offset[i] = shelf_lowest(&shelf, p, i);
        shelf_add(&shelf, p, i, offset[i]);
        offsets_spend(work, shelf.n);
    }
    offsets_part_offer(p, offset);
    arena_free(&scratch);
    return ST_OK;
}
