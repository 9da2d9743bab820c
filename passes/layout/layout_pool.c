// Simulated dynamic allocation: the memory that a pool takes from the system when every tensor is
// allocated as its node starts and freed after its last reader. Nothing is written in place, and
// live ranges are not known in advance: the baseline for static planning. Two kinds of pools:
//
// By size class: sizes are rounded up to a power of two, and a block is reused for its own class
// only, as in the pools of deep learning frameworks.
//
// Best fit: the smallest free block that is large enough is split; adjacent free blocks are merged.
// Memory is taken in regions of the requested size.
#include "passes/layout/layout_inner.h"

#include "ir/base/checked.h"

struct block {
    int64_t bytes;
    bool is_free;
    uint32_t before, after; // neighbours in its region; 0: none
};

struct allocator {
    struct arena *a;
    VEC(struct block) blocks; // [0] is unused
    VEC(uint32_t) unused;     // numbers of blocks that were merged into others
    int64_t taken_bytes;      // from the system
    bool by_class;
};

static int64_t rounded(const struct allocator *p, int64_t n) {
    const int64_t step = 64;
    int64_t class = step;
    if (!p->by_class)
        return n > INT64_MAX - step ? n : (n + step - 1) / step * step;
    while (class < n && class <= INT64_MAX / 2)
        class *= 2;
    return class < n ? n : class;
}

static uint32_t find_free(const struct allocator *p, int64_t bytes) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < p->blocks.n; i++) {
        const struct block *b = &p->blocks.at[i];
        bool fits = b->is_free && (p->by_class ? b->bytes == bytes : b->bytes >= bytes);
        if (fits && (!best || b->bytes < p->blocks.at[best].bytes))
            best = i;
    }
    return best;
}

static uint32_t new_block(struct allocator *p, struct block b) {
    if (p->unused.n) {
        uint32_t i = p->unused.at[--p->unused.n];
        p->blocks.at[i] = b;
        return i;
    }
    return VEC_PUSH(p->a, &p->blocks, b) ? (uint32_t)p->blocks.n - 1 : 0;
}

// Splits off the rest of a block that is larger than needed.
static bool split(struct allocator *p, uint32_t i, int64_t bytes) {
    struct block rest = {.bytes = p->blocks.at[i].bytes - bytes,
                         .is_free = true,
                         .before = i,
                         .after = p->blocks.at[i].after};
    if (rest.bytes == 0)
        return true;
    uint32_t k = new_block(p, rest);
    if (!k)
        return false;
    p->blocks.at[i].bytes = bytes;
    p->blocks.at[i].after = k;
    if (rest.after)
        p->blocks.at[rest.after].before = k;
    return true;
}

static uint32_t allocate(struct allocator *p, int64_t bytes) {
    bytes = rounded(p, bytes);
    uint32_t i = find_free(p, bytes);
    if (!i) {
        if (!checked_add(p->taken_bytes, bytes, &p->taken_bytes))
            p->taken_bytes = INT64_MAX;
        return new_block(p, (struct block){.bytes = bytes});
    }
    p->blocks.at[i].is_free = false;
    return p->by_class || split(p, i, bytes) ? i : 0;
}

// Merges the next block into this one.
static bool merge_next(struct allocator *p, uint32_t i) {
    uint32_t k = p->blocks.at[i].after;
    struct block *b = &p->blocks.at[i], *gone = &p->blocks.at[k];
    b->bytes += gone->bytes;
    b->after = gone->after;
    if (gone->after)
        p->blocks.at[gone->after].before = i;
    *gone = (struct block){0};
    return VEC_PUSH(p->a, &p->unused, k);
}

static bool release(struct allocator *p, uint32_t i) {
    struct block *b = &p->blocks.at[i];
    b->is_free = true;
    bool ok = true;
    if (b->after && p->blocks.at[b->after].is_free)
        ok = merge_next(p, i);
    if (ok && b->before && p->blocks.at[b->before].is_free)
        ok = merge_next(p, b->before);
    return ok;
}

// `dies` and `next` list the buffers that are freed after each step.
static status run_pool(struct allocator *p, const struct layout *l, size_t n_steps, struct arena *a,
                       struct diags *d) {
    uint32_t *block = ARENA_ARRAY(a, uint32_t, l->buffers.n);
    uint32_t *next = ARENA_ARRAY(a, uint32_t, l->buffers.n);
    uint32_t *dies = ARENA_ARRAY(a, uint32_t, n_steps + 1), at = 1;
    bool ok = block && next && dies && VEC_PUSH(a, &p->blocks, (struct block){0});
    for (uint32_t i = 1; i < l->buffers.n && ok; i++) {
        next[i] = dies[l->buffers.at[i].to];
        dies[l->buffers.at[i].to] = i;
    }
    for (uint32_t step = 0; step < n_steps && ok; step++) {
        for (; at < l->buffers.n && l->buffers.at[at].from == step && ok; at++)
            if (l->buffers.at[at].bytes > 0)
                ok = (block[at] = allocate(p, l->buffers.at[at].bytes)) > 0;
        for (uint32_t i = dies[step]; i && ok; i = next[i])
            if (block[i])
                ok = release(p, block[i]);
    }
    return ok ? ST_OK : diag_out_of_memory(d);
}

status layout_pool_bytes(const struct graph *g, bool by_class, struct arena *a, struct diags *d,
                         int64_t *out) {
    struct arena scratch = arena_make(a->mem);
    struct layout l = {.stream = ARENA_ARRAY(&scratch, uint32_t, g->nodes.n)};
    struct allocator p = {.a = &scratch, .by_class = by_class};
    status st = l.stream ? layout_buffers(g, false, &scratch, d, &l) : diag_out_of_memory(d);
    if (!st)
        st = run_pool(&p, &l, g->order.n, &scratch, d);
    *out = p.taken_bytes;
    arena_free(&scratch);
    return st;
}
