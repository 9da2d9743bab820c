// Branch and bound over canonical solutions, after MiniMalloc (Moffitt, ASPLOS 2023).
//
// Any solution can be pushed down until every item rests on the floor of the arena, or on an item
// that it overlaps. Such a canonical solution is rebuilt by placing its items in the order of their
// offsets, each at the least offset that the items below it leave. So the search branches only on
// the next item:
//
//   - offsets never fall from one placement to the next (ties: in the given order);
//   - dominance: an item that fits below the next offset could be pushed down, so it goes first;
//   - duplicates (same range, size and alignment) go in their order;
//   - inference: in each section, the least offset that anything unplaced can still get, plus all
//     that is unplaced there, must fit. An item that was passed over needs a new one beneath it,
//     which lifts its least offset;
//   - decomposition: where no unplaced item crosses between sections, the two sides are searched
//     one after the other instead of as a product.
//
// The capacity prunes only through inference, so the least total that was ever pruned is a lower
// bound: when C is proved infeasible, it is the next capacity to try.
#include "solver/offsets/offsets_exact.h"

#include <assert.h>
#include <string.h>

enum verdict {
    FOUND,   // the offsets fit the capacity
    NONE,    // proved: nothing fits
    UNKNOWN, // the work limit is reached
};

struct undo {
    int32_t item;
    int64_t offset; // what it was; -1: the item was placed
};

struct search {
    const struct offsets_part *p;
    struct offsets_work *work;
    int64_t capacity, needed;  // needed: least total that was pruned
    int32_t *rank, *duplicate; // duplicate: the same item earlier in the order, or -1
    bool *placed;
    int64_t *offset;   // placed: where; else the least that the placed ones leave
    int64_t *reach;    // scratch: least offset in any completion
    int64_t *rest;     // per section: sum of unplaced sizes
    int64_t *base;     // scratch per section: least reach
    int32_t *crossing; // per section: unplaced items that also cover the one before
    struct undo *trail;
    size_t n_trail;
    int32_t *stack; // lists of unplaced items, one below the other
};

// The unplaced items of sections lo .. hi-1, in order, and the last placement among them.
struct region {
    int32_t *item;
    int32_t n, lo, hi, rank;
    int64_t floor;
};

static bool exact_alloc(struct search *s, struct arena *a) {
    size_t n = (size_t)s->p->n, n_sections = (size_t)s->p->n_sections;
    size_t n_near = (size_t)s->p->near_start[n];
    s->rank = ARENA_ARRAY(a, int32_t, n);
    s->duplicate = ARENA_ARRAY(a, int32_t, n);
    s->placed = ARENA_ARRAY(a, bool, n);
    s->offset = ARENA_ARRAY(a, int64_t, n);
    s->reach = ARENA_ARRAY(a, int64_t, n);
    s->rest = ARENA_ARRAY(a, int64_t, n_sections);
    s->base = ARENA_ARRAY(a, int64_t, n_sections);
    s->crossing = ARENA_ARRAY(a, int32_t, n_sections);
    // A placement lifts each neighbour at most once, and every item is placed at most once a path.
    s->trail = ARENA_ARRAY(a, struct undo, n + n_near);
    s->stack = ARENA_ARRAY(a, int32_t, n * (n + 1) / 2 + n);
    return s->rank && s->duplicate && s->placed && s->offset && s->reach && s->rest && s->base &&
           s->crossing && s->trail && s->stack;
}

static bool same_kind(const struct offsets_part *p, int32_t i, int32_t j) {
    return p->lo[i] == p->lo[j] && p->hi[i] == p->hi[j] && p->size[i] == p->size[j] &&
           p->align[i] == p->align[j] && p->fixed[i] < 0 && p->fixed[j] < 0;
}

static void exact_init(struct search *s, const int32_t *order) {
    const struct offsets_part *p = s->p;
    for (int32_t r = 0; r < p->n; r++)
        s->rank[order[r]] = r;
    memcpy(s->rest, p->load, (size_t)p->n_sections * sizeof *s->rest);
    for (int32_t i = 0; i < p->n; i++) {
        s->offset[i] = p->fixed[i] < 0 ? 0 : p->fixed[i];
        for (int32_t c = p->lo[i] + 1; c < p->hi[i]; c++)
            s->crossing[c]++;
        s->duplicate[i] = -1;
        for (int32_t e = p->near_start[i]; e < p->near_start[i + 1]; e++) {
            int32_t j = p->near[e], t = s->duplicate[i];
            if (s->rank[j] < s->rank[i] && (t < 0 || s->rank[j] > s->rank[t]) && same_kind(p, i, j))
                s->duplicate[i] = j;
        }
    }
}

// Places an item at its offset; false: a fixed neighbour is in the way.
static bool place(struct search *s, int32_t i) {
    const struct offsets_part *p = s->p;
    int64_t top = s->offset[i] + p->size[i];
    bool fits = true;
    s->placed[i] = true;
    s->trail[s->n_trail++] = (struct undo){i, -1};
    for (int32_t c = p->lo[i]; c < p->hi[i]; c++)
        s->rest[c] -= p->size[i];
    for (int32_t c = p->lo[i] + 1; c < p->hi[i]; c++)
        s->crossing[c]--;
    for (int32_t e = p->near_start[i]; e < p->near_start[i + 1]; e++) {
        int32_t j = p->near[e];
        if (s->placed[j] || s->offset[j] >= top)
            continue;
        fits = fits && p->fixed[j] < 0;
        s->trail[s->n_trail++] = (struct undo){j, s->offset[j]};
        s->offset[j] = offsets_align_up(top, p->align[j]);
    }
    return fits;
}

static void undo_to(struct search *s, size_t n_trail) {
    const struct offsets_part *p = s->p;
    while (s->n_trail > n_trail) {
        struct undo u = s->trail[--s->n_trail];
        int32_t i = u.item;
        if (u.offset >= 0) {
            s->offset[i] = u.offset;
            continue;
        }
        s->placed[i] = false;
        for (int32_t c = p->lo[i]; c < p->hi[i]; c++)
            s->rest[c] += p->size[i];
        for (int32_t c = p->lo[i] + 1; c < p->hi[i]; c++)
            s->crossing[c]++;
    }
}

static bool passed_over(const struct search *s, const struct region *r, int32_t i) {
    return s->offset[i] < r->floor || (s->offset[i] == r->floor && s->rank[i] < r->rank);
}

// The least offset that item i, which was passed over, can get: on top of a neighbour still to
// come.
static int64_t lifted(const struct search *s, const struct region *r, int32_t i) {
    const struct offsets_part *p = s->p;
    int64_t least = INT64_MAX / 2;
    for (int32_t e = p->near_start[i]; e < p->near_start[i + 1]; e++) {
        int32_t j = p->near[e];
        if (s->placed[j])
            continue;
        int64_t from = s->offset[j] > r->floor ? s->offset[j] : r->floor;
        if (from + p->size[j] < least)
            least = from + p->size[j];
    }
    return offsets_align_up(least, p->align[i]);
}

// The inference: false when some section cannot hold what is left. `limit` is the dominance bound:
// the next offset lies below it.
static bool infer(struct search *s, const struct region *r, int64_t *limit) {
    const struct offsets_part *p = s->p;
    *limit = INT64_MAX;
    for (int32_t c = r->lo; c < r->hi; c++)
        s->base[c] = INT64_MAX / 2;
    for (int32_t k = 0; k < r->n; k++) {
        int32_t i = r->item[k];
        int64_t reach = s->offset[i];
        int64_t end = p->fixed[i] < 0 ? reach + p->size[i] : reach + 1;
        if (end < *limit)
            *limit = end;
        if (passed_over(s, r, i)) {
            if (p->fixed[i] >= 0)
                return false;
            reach = lifted(s, r, i);
        }
        for (int32_t c = p->lo[i]; c < p->hi[i]; c++)
            s->base[c] = reach < s->base[c] ? reach : s->base[c];
    }
    for (int32_t c = r->lo; c < r->hi; c++)
        if (s->rest[c] > 0 && s->base[c] + s->rest[c] > s->capacity) {
            if (s->base[c] + s->rest[c] < s->needed)
                s->needed = s->base[c] + s->rest[c];
            return false;
        }
    return true;
}

// The next item to try after the one at (offset, rank): the least offset first, then the order.
static int32_t next_choice(const struct search *s, const struct region *r, int64_t limit,
                           int64_t offset, int32_t rank) {
    int32_t best = -1;
    for (int32_t k = 0; k < r->n; k++) {
        int32_t i = r->item[k];
        int64_t at = s->offset[i];
        if (at >= limit || at < offset || (at == offset && s->rank[i] <= rank) ||
            (best >= 0 && at >= s->offset[best]) ||
            (s->duplicate[i] >= 0 && !s->placed[s->duplicate[i]]))
            continue;
        best = i;
    }
    return best;
}

static enum verdict explore(struct search *s, const struct region *r, int32_t *stack);

// Searches the rest of the region after a placement, component by component.
static enum verdict explore_rest(struct search *s, const struct region *r, int32_t i,
                                 int32_t *stack) {
    const struct offsets_part *p = s->p;
    int64_t floor = s->offset[i];
    for (int32_t lo = r->lo, hi; lo < r->hi; lo = hi) {
        hi = lo + 1;
        while (hi < r->hi && s->crossing[hi] > 0)
            hi++;
        struct region side = {stack, 0, lo, hi, s->rank[i], floor};
        for (int32_t k = 0; k < r->n; k++)
            if (!s->placed[r->item[k]] && p->lo[r->item[k]] >= lo && p->hi[r->item[k]] <= hi)
                stack[side.n++] = r->item[k];
        enum verdict found = explore(s, &side, stack + side.n);
        if (found != FOUND)
            return found;
    }
    return FOUND;
}

static enum verdict explore(struct search *s, const struct region *r, int32_t *stack) {
    if (r->n == 0)
        return FOUND;
    if (!offsets_spend(s->work, 8 * r->n))
        return UNKNOWN;
    int64_t limit;
    if (!infer(s, r, &limit))
        return NONE;
    int64_t offset = r->floor;
    int32_t rank = r->rank;
    for (int32_t i; (i = next_choice(s, r, limit, offset, rank)) >= 0;) {
        size_t mark = s->n_trail;
        offset = s->offset[i];
        rank = s->rank[i];
        int64_t top = offset + s->p->size[i];
        if (top > s->capacity) {
            s->needed = top < s->needed ? top : s->needed;
            continue;
        }
        enum verdict found = NONE;
        if (place(s, i))
            found = explore_rest(s, r, i, stack);
        if (found != NONE)
            return found;
        undo_to(s, mark);
    }
    return NONE;
}

status offsets_exact(struct offsets_part *p, int64_t capacity, const int32_t *order,
                     struct offsets_work *work, struct arena *a, struct diags *d) {
    assert(p->near && p->n <= OFFSETS_EXACT_ITEMS);
    struct arena scratch = arena_make(a->mem);
    struct search s = {.p = p, .work = work, .capacity = capacity, .needed = INT64_MAX};
    if (!exact_alloc(&s, &scratch)) {
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    exact_init(&s, order);
    struct region all = {s.stack, p->n, 0, p->n_sections, -1, -1};
    memcpy(s.stack, order, (size_t)p->n * sizeof *order);
    enum verdict found = explore(&s, &all, s.stack + p->n);
    if (found == FOUND)
        offsets_part_offer(p, s.offset);
    if (found == NONE && s.needed > p->bound)
        p->bound = s.needed;
    arena_free(&scratch);
    return ST_OK;
}
