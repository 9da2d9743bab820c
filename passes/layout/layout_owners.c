// The owners of the bytes of an arena: see layout.h. A list of pieces, sorted by address. Taking
// bytes splits or removes the pieces that were there.
#include "passes/layout/layout.h"

#include <string.h>

// The first piece that ends after `at`.
static size_t find(const struct layout_owners *o, int64_t at) {
    size_t low = 0, high = o->pieces.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (o->pieces.at[middle].to <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool note_lost(struct layout_owners *o, uint32_t owner, uint32_t by) {
    for (size_t i = 0; i < o->lost.n; i++)
        if (o->lost.at[i] == owner)
            return true;
    return owner == by || VEC_PUSH(o->a, &o->lost, owner);
}

bool layout_owners_take(struct layout_owners *o, int64_t from, int64_t to, uint32_t owner) {
    o->lost.n = 0;
    if (from >= to)
        return true;
    size_t first = find(o, from), last = first, n_new = 0;
    struct layout_piece new[3];
    if (first < o->pieces.n && o->pieces.at[first].from < from)
        new[n_new++] =
            (struct layout_piece){o->pieces.at[first].from, from, o->pieces.at[first].owner};
    new[n_new++] = (struct layout_piece){from, to, owner};
    for (; last < o->pieces.n && o->pieces.at[last].from < to; last++) {
        const struct layout_piece *p = &o->pieces.at[last];
        if (!note_lost(o, p->owner, owner))
            return false;
        if (p->to > to)
            new[n_new++] = (struct layout_piece){to, p->to, p->owner};
    }
    size_t n_behind = o->pieces.n - last;
    for (size_t k = last - first; k < n_new; k++) // at most two more than there were
        if (!VEC_PUSH(o->a, &o->pieces, new[0]))
            return false;
    memmove(&o->pieces.at[first + n_new], &o->pieces.at[last], n_behind * sizeof *o->pieces.at);
    memcpy(&o->pieces.at[first], new, n_new * sizeof *new);
    o->pieces.n = first + n_new + n_behind;
    return true;
}

bool layout_owners_has(const struct layout_owners *o, int64_t from, int64_t to, uint32_t owner) {
    for (size_t i = find(o, from); from < to; i++) {
        if (i == o->pieces.n || o->pieces.at[i].from > from || o->pieces.at[i].owner != owner)
            return false;
        from = o->pieces.at[i].to;
    }
    return true;
}
