// Ejection chains (guided local search). All items that reach above the capacity are removed. Then,
// while any item is not placed, one is placed at the offset of least cost, and the items that it
// overlaps are ejected. The cost of an ejection is the item's weight, which grows with each of its
// ejections: so items that are hard to place stay in the end, and easy ones move. A step looks only
// at the neighbours of one item, so the search works at any size.
#include "solver/offsets/offsets_eject.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/rng.h"

struct block {
    int64_t from, to; // bytes
    double weight;
    int32_t item;
};

struct chain {
    const struct offsets_part *p;
    int64_t capacity;
    struct rng rng;
    int64_t *offset;
    bool *placed;
    double *weight;
    int32_t *out; // items that are not placed
    int32_t n_out;
    struct block *by_from, *by_to; // the placed neighbours of the current item
    int32_t n_blocks;
};

static bool chain_alloc(struct chain *c, struct arena *a) {
    size_t n = (size_t)c->p->n;
    c->offset = arena_copy(a, c->p->best, n * sizeof *c->p->best);
    c->placed = ARENA_ARRAY(a, bool, n);
    c->weight = ARENA_ARRAY(a, double, n);
    c->out = ARENA_ARRAY(a, int32_t, n);
    c->by_from = ARENA_ARRAY(a, struct block, n);
    c->by_to = ARENA_ARRAY(a, struct block, n);
    return c->offset && c->placed && c->weight && c->out && c->by_from && c->by_to;
}

static void chain_init(struct chain *c) {
    const struct offsets_part *p = c->p;
    for (int32_t i = 0; i < p->n; i++) {
        double size = (double)p->size[i] / (double)p->bound;
        double length = (double)(p->hi[i] - p->lo[i]) / (double)p->n_sections;
        c->weight[i] = size * length + 1e-4;
        c->placed[i] = p->fixed[i] >= 0 || c->offset[i] + p->size[i] <= c->capacity;
        if (!c->placed[i])
            c->out[c->n_out++] = i;
    }
}

static int from_order(const void *x, const void *y) {
    const struct block *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->item - b->item;
}

static int to_order(const void *x, const void *y) {
    const struct block *a = x, *b = y;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->item - b->item;
}

static void add_block(struct chain *c, int32_t j) {
    if (c->placed[j])
        c->by_from[c->n_blocks++] =
            (struct block){c->offset[j], c->offset[j] + c->p->size[j], c->weight[j], j};
}

// The placed neighbours of an item, in both orders. Returns the steps that it took.
static int64_t gather(struct chain *c, int32_t i) {
    const struct offsets_part *p = c->p;
    int64_t steps = 0;
    c->n_blocks = 0;
    if (p->near) {
        for (int32_t e = p->near_start[i]; e < p->near_start[i + 1]; e++)
            add_block(c, p->near[e]);
        steps = p->near_start[i + 1] - p->near_start[i];
    } else {
        for (int32_t j = 0; j < p->n && p->lo[j] < p->hi[i]; j++, steps++)
            if (p->hi[j] > p->lo[i] && j != i)
                add_block(c, j);
    }
    memcpy(c->by_to, c->by_from, (size_t)c->n_blocks * sizeof *c->by_to);
    qsort(c->by_from, (size_t)c->n_blocks, sizeof *c->by_from, from_order);
    qsort(c->by_to, (size_t)c->n_blocks, sizeof *c->by_to, to_order);
    return steps + 16 * c->n_blocks;
}

static bool is_fixed(const struct chain *c, const struct block *b) {
    return c->p->fixed[b->item] >= 0;
}

// The offset of least cost that overlaps nothing fixed; -1: there is none. The cost changes only
// where the item's lower end passes the end of a block, where it drops, or its upper end the start
// of one, where it rises. So the ends of blocks are the only candidates.
static int64_t best_offset(struct chain *c, int32_t i) {
    const struct offsets_part *p = c->p;
    int64_t best = -1;
    double cost = 0, min_cost = 1e300;
    int32_t n_entered = 0, n_ties = 0, n_fixed = 0;
    for (int32_t k = -1; k < c->n_blocks; k++) {
        if (k >= 0) {
            cost -= c->by_to[k].weight;
            n_fixed -= is_fixed(c, &c->by_to[k]);
        }
        int64_t at = k < 0 ? 0 : offsets_align_up(c->by_to[k].to, p->align[i]);
        if (at + p->size[i] > c->capacity)
            break;
        for (; n_entered < c->n_blocks && c->by_from[n_entered].from < at + p->size[i];
             n_entered++) {
            cost += c->by_from[n_entered].weight;
            n_fixed += is_fixed(c, &c->by_from[n_entered]);
        }
        if (n_fixed > 0)
            continue;
        if (cost < min_cost - 1e-12)
            n_ties = 0;
        if (cost < min_cost + 1e-12 && rng_below(&c->rng, (uint64_t)++n_ties) == 0) {
            min_cost = cost < min_cost ? cost : min_cost;
            best = at;
        }
    }
    return best;
}

static int32_t draw_unplaced(struct chain *c) {
    int32_t k = (int32_t)rng_below(&c->rng, (uint64_t)c->n_out);
    int32_t i = c->out[k];
    c->out[k] = c->out[--c->n_out];
    return i;
}

// One step: places an item and ejects those that it overlaps. False: there is no offset for it.
static bool step(struct chain *c, struct offsets_work *work, bool *more) {
    const struct offsets_part *p = c->p;
    int32_t i = draw_unplaced(c);
    *more = offsets_spend(work, gather(c, i));
    int64_t at = best_offset(c, i);
    if (at < 0)
        return false;
    c->offset[i] = at;
    c->placed[i] = true;
    for (int32_t k = 0; k < c->n_blocks; k++) {
        const struct block *b = &c->by_from[k];
        if (b->from >= at + p->size[i] || b->to <= at)
            continue;
        c->placed[b->item] = false;
        c->weight[b->item] *= 1.05;
        c->out[c->n_out++] = b->item;
    }
    return true;
}

status offsets_eject(struct offsets_part *p, int64_t capacity, uint64_t seed,
                     struct offsets_work *work, struct arena *a, struct diags *d) {
    assert(p->best_bytes < INT64_MAX);
    struct arena scratch = arena_make(a->mem);
    struct chain c = {.p = p, .capacity = capacity, .rng = rng_make(seed, 0)};
    if (!chain_alloc(&c, &scratch)) {
        arena_free(&scratch);
        return diag_out_of_memory(d);
    }
    chain_init(&c);
    bool more = true, fits = true;
    while (more && fits && c.n_out > 0)
        fits = step(&c, work, &more);
    if (fits && c.n_out == 0)
        offsets_part_offer(p, c.offset);
    arena_free(&scratch);
    return ST_OK;
}
