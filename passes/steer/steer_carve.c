// Carving: see steer_search.h. Every free chunk that could take one of the current requests is
// filled with plugs. In a chunk with a place that the layout wants for a request, they are laid
// from its low end up: those over the place are freed again at once, so that it becomes a hole of
// exactly the wanted size. The arena gives a request the smallest sufficient chunk, so it gets the
// hole.
//
// A plug must get its address as well. It goes to the low end of a chunk if it is at most half as
// large, or if it fits exactly; and only if no smaller chunk suffices for it: such chunks are
// filled first.
#include <assert.h>
#include <stdlib.h>

#include "passes/steer/steer_walk.h"

enum { MIN_PART = 16 }; // requests below this part of the node's largest are not placed

struct carving {
    struct steer_walk *w;
    struct steer_lane *l;
    uint32_t target[STEER_MAX_REQUESTS]; // items, by address
    uint32_t n_targets;
    int64_t min_bytes; // the smallest target
};

static int64_t at(const struct carving *c, uint32_t k) {
    return c->l->fit.at[c->target[k]];
}

static int64_t size(const struct carving *c, uint32_t k) {
    return c->l->t->items[c->target[k]].n_bytes;
}

static void find_targets(struct carving *c) {
    const struct steer_lane *l = c->l;
    int64_t most = 0;
    for (uint32_t k = 0; k < l->n_requests; k++)
        if (l->t->items[l->requests[k]].n_bytes > most)
            most = l->t->items[l->requests[k]].n_bytes;
    c->min_bytes = most;
    for (uint32_t k = 0; k < l->n_requests; k++) {
        uint32_t i = l->requests[k], n = c->n_targets;
        if (!l->t->items[i].is_big || l->fit.at[i] < 0 || l->t->items[i].n_bytes < most / MIN_PART)
            continue;
        for (; n > 0 && at(c, n - 1) > l->fit.at[i]; n--)
            c->target[n] = c->target[n - 1];
        c->target[n] = i;
        c->n_targets++;
        if (l->t->items[i].n_bytes < c->min_bytes)
            c->min_bytes = l->t->items[i].n_bytes;
    }
}

// The chunk that a request would get; 0: none.
static uint32_t best_fit(const struct ort_arena *o, int64_t n_bytes) {
    for (size_t i = 0; i < o->free.n; i++)
        if (o->chunks.at[o->free.at[i]].n_bytes >= n_bytes)
            return o->free.at[i];
    return 0;
}

// A plug at this address of the layout; smaller chunks that would take it are filled first.
static bool plug_at(struct carving *c, int64_t where, int64_t n_bytes, bool is_brief) {
    struct steer_walk *w = c->w;
    struct steer_lane *l = c->l;
    for (;;) {
        uint32_t best = best_fit(&l->trial, n_bytes);
        if (!best)
            return false;
        const struct ort_chunk *chunk = &l->trial.chunks.at[best];
        if (chunk->region == l->region && steer_address(w, l, chunk) == where)
            return steer_add_plug(w, l, (struct steer_plug){n_bytes, is_brief});
        if (chunk->n_bytes >= c->min_bytes ||
            !steer_add_plug(w, l, (struct steer_plug){chunk->n_bytes, true}))
            return false;
    }
}

// Fills [from, to) of a chunk that ends at `end`.
static bool fill(struct carving *c, int64_t from, int64_t to, int64_t end, bool is_brief) {
    while (from < to) {
        int64_t n = to - from, rest = end - from;
        if (n < rest && n > rest / 2)
            n = rest / 2 / STEER_UNIT_BYTES * STEER_UNIT_BYTES;
        if (n <= 0 || !plug_at(c, from, n, is_brief))
            return false;
        from += n;
    }
    return true;
}

static bool fill_chunk(struct carving *c, int64_t from, int64_t end) {
    int64_t low = from;
    for (uint32_t k = 0; k < c->n_targets; k++) {
        if (at(c, k) < low || at(c, k) + size(c, k) > end)
            continue;
        if (!fill(c, low, at(c, k), end, false) ||
            !fill(c, at(c, k), at(c, k) + size(c, k), end, true))
            return false;
        low = at(c, k) + size(c, k);
    }
    return fill(c, low, end, end, false);
}

// Chunks of other regions keep a part that is too small for the targets.
static bool shrink(struct carving *c, int64_t n_bytes) {
    int64_t cut = n_bytes - c->min_bytes + STEER_UNIT_BYTES;
    int64_t half = n_bytes / 2 / STEER_UNIT_BYTES * STEER_UNIT_BYTES;
    return steer_add_plug(c->w, c->l, (struct steer_plug){cut < half ? cut : half, false});
}

bool steer_carve(struct steer_walk *w, struct steer_lane *l) {
    struct carving c = {.w = w, .l = l};
    uint32_t best;
    w->n_plugs = 0;
    find_targets(&c);
    while (c.n_targets && (best = best_fit(&l->trial, c.min_bytes))) {
        struct ort_chunk chunk = l->trial.chunks.at[best];
        int64_t from = steer_address(w, l, &chunk);
        bool ok = chunk.region == l->region ? fill_chunk(&c, from, from + chunk.n_bytes)
                                            : shrink(&c, chunk.n_bytes);
        if (!ok)
            return false;
    }
    return c.n_targets > 0;
}
