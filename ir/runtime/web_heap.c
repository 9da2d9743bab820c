// Model of dlmalloc in WebAssembly: see web_heap.h. Chunks form one list in the order of addresses,
// without the free chunk at the end. dlmalloc finds free chunks in bins and trees; here all of them
// are compared.
#include "ir/runtime/web_heap.h"

#include <assert.h>

enum {
    HEADER_BYTES = 4,
    MEMORY_OFFSET = 8, // from the start of a chunk to the memory that it gives
    UNIT_BYTES = 8,
    MIN_CHUNK_BYTES = 16,
    MAX_SMALL_BYTES = 248, // of a chunk
    TENSOR_ALIGNMENT = 64,
    TOP_BYTES = 40,             // that the end of the heap keeps for itself
    SEGMENT_UNIT_BYTES = 65536, // by which the heap grows
};

static int64_t round_up(int64_t n, int64_t unit) {
    return (n + unit - 1) / unit * unit;
}

void web_heap_reset(struct web_heap *h, struct arena *a, int64_t at) {
    assert(h && a && (!h->a || h->a == a));
    h->a = a;
    h->chunks.n = h->unused.n = h->free.n = 0;
    h->victim = 0;
    h->n_frees = 0;
    h->end_at = at;
    h->failed = !VEC_PUSH(a, &h->chunks, (struct web_chunk){.at = at});
}

// A chunk in use behind `before`.
static uint32_t insert(struct web_heap *h, uint32_t before, struct web_chunk c) {
    uint32_t i = (uint32_t)h->chunks.n;
    if (h->unused.n) {
        i = h->unused.at[--h->unused.n];
    } else if (!VEC_PUSH(h->a, &h->chunks, c)) {
        h->failed = true;
        return 0;
    }
    c.before = before;
    c.after = h->chunks.at[before].after;
    h->chunks.at[i] = c;
    h->chunks.at[before].after = i;
    h->chunks.at[c.after].before = i;
    return i;
}

static void mark_used(struct web_heap *h, uint32_t i) {
    uint32_t at = h->chunks.at[i].in_free, last = h->free.at[--h->free.n];
    h->free.at[at] = last;
    h->chunks.at[last].in_free = at;
    h->chunks.at[i].freed_at = 0;
    if (i == h->victim)
        h->victim = 0;
}

static void mark_free(struct web_heap *h, uint32_t i) {
    if (!i || !VEC_PUSH(h->a, &h->free, i)) {
        h->failed = true;
        return;
    }
    h->chunks.at[i].in_free = (uint32_t)(h->free.n - 1);
    h->chunks.at[i].freed_at = ++h->n_frees;
}

static void remove_chunk(struct web_heap *h, uint32_t i) {
    struct web_chunk c = h->chunks.at[i];
    h->chunks.at[c.before].after = c.after;
    h->chunks.at[c.after].before = c.before;
    if (!VEC_PUSH(h->a, &h->unused, i))
        h->failed = true;
}

// The first `n_bytes` of a chunk become a chunk; the rest is another one, in use. 0: out of memory.
static uint32_t split(struct web_heap *h, uint32_t i, int64_t n_bytes) {
    struct web_chunk *c = &h->chunks.at[i];
    struct web_chunk rest = {.at = c->at + n_bytes, .n_bytes = c->n_bytes - n_bytes};
    c->n_bytes = n_bytes;
    return insert(h, i, rest);
}

static uint32_t take_end(struct web_heap *h, int64_t n_bytes) {
    const struct web_chunk *last = &h->chunks.at[h->chunks.at[0].before];
    int64_t at = last->at + last->n_bytes;
    if (at + n_bytes + TOP_BYTES > h->end_at)
        h->end_at = round_up(at + n_bytes + TOP_BYTES, SEGMENT_UNIT_BYTES);
    return insert(h, h->chunks.at[0].before, (struct web_chunk){.at = at, .n_bytes = n_bytes});
}

// Whether dlmalloc takes `x` rather than `y`, both free and large enough: the smaller one, of
// equals the one that it finds first, which is the newest of small and the oldest of large ones.
static bool is_preferred(const struct web_chunk *x, const struct web_chunk *y) {
    if (x->n_bytes != y->n_bytes)
        return x->n_bytes < y->n_bytes;
    return (x->freed_at > y->freed_at) == (x->n_bytes <= MAX_SMALL_BYTES);
}

// The best free chunk of at least this size, but not the victim; or 0.
static uint32_t best_fit(const struct web_heap *h, int64_t n_bytes) {
    uint32_t best = 0;
    for (size_t k = 0; k < h->free.n; k++) {
        uint32_t i = h->free.at[k];
        const struct web_chunk *c = &h->chunks.at[i];
        if (i != h->victim && c->n_bytes >= n_bytes &&
            (!best || is_preferred(c, &h->chunks.at[best])))
            best = i;
    }
    return best;
}

// A chunk for a request. What is left of a small one's becomes the victim.
static uint32_t take(struct web_heap *h, int64_t n_bytes) {
    bool is_small = n_bytes <= MAX_SMALL_BYTES;
    uint32_t i = best_fit(h, n_bytes);
    int64_t fit = i ? h->chunks.at[i].n_bytes : INT64_MAX,
            victim = h->victim ? h->chunks.at[h->victim].n_bytes : 0;
    bool is_exact = is_small && fit <= n_bytes + UNIT_BYTES;
    if (victim >= n_bytes && !is_exact && (is_small || victim <= fit))
        i = h->victim;
    if (!i)
        return take_end(h, n_bytes);
    bool was_victim = i == h->victim;
    mark_used(h, i);
    if (is_exact || h->chunks.at[i].n_bytes - n_bytes < MIN_CHUNK_BYTES)
        return i;
    uint32_t rest = split(h, i, n_bytes);
    mark_free(h, rest);
    if (was_victim || is_small)
        h->victim = rest;
    return i;
}

static int64_t chunk_bytes(int64_t n_bytes) {
    int64_t n = round_up(n_bytes + HEADER_BYTES, UNIT_BYTES);
    return n < MIN_CHUNK_BYTES ? MIN_CHUNK_BYTES : n;
}

uint32_t web_heap_alloc(struct web_heap *h, int64_t n_bytes, bool is_tensor) {
    assert(h && h->a && n_bytes >= 0 && n_bytes < (int64_t)1 << 45);
    if (h->failed)
        return 0;
    int64_t size = chunk_bytes(n_bytes);
    if (!is_tensor)
        return take(h, size);
    uint32_t i = take(h, chunk_bytes(size + TENSOR_ALIGNMENT + MIN_CHUNK_BYTES - HEADER_BYTES));
    int64_t memory = i ? h->chunks.at[i].at + MEMORY_OFFSET : 0,
            lead = round_up(memory, TENSOR_ALIGNMENT) - memory;
    if (lead && lead < MIN_CHUNK_BYTES)
        lead += TENSOR_ALIGNMENT;
    if (i && lead) {
        uint32_t first = i;
        i = split(h, i, lead);
        web_heap_free(h, first);
    }
    if (i && h->chunks.at[i].n_bytes - size > MIN_CHUNK_BYTES)
        web_heap_free(h, split(h, i, size));
    return i;
}

// `i` becomes the union of itself and the chunk behind it; neither is free.
static void absorb_after(struct web_heap *h, uint32_t i) {
    uint32_t next = h->chunks.at[i].after;
    h->chunks.at[i].n_bytes += h->chunks.at[next].n_bytes;
    remove_chunk(h, next);
}

void web_heap_free(struct web_heap *h, uint32_t i) {
    assert(h && (h->failed || i < h->chunks.n));
    if (!i || h->failed)
        return;
    assert(!h->chunks.at[i].freed_at);
    uint32_t before = h->chunks.at[i].before, after = h->chunks.at[i].after, victim = h->victim;
    bool is_victim = victim && (victim == before || victim == after);
    if (after && h->chunks.at[after].freed_at) {
        mark_used(h, after);
        absorb_after(h, i);
    }
    if (before && h->chunks.at[before].freed_at) {
        mark_used(h, before);
        absorb_after(h, before);
        i = before;
    }
    if (!h->chunks.at[i].after) {
        remove_chunk(h, i); // it becomes part of the end
        return;
    }
    mark_free(h, i);
    if (is_victim)
        h->victim = i;
}
