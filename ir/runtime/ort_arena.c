// Model of ONNX Runtime's BFCArena: see ort_arena.h. Chunks of a region form a doubly linked list;
// free chunks are also in one array that is sorted by size and address. ONNX Runtime keeps them in
// bins by powers of two, each sorted in the same way, and searches from the bin of the request
// upwards, which finds the same chunk.
#include "ir/runtime/ort_arena.h"

#include <assert.h>
#include <string.h>

enum {
    UNIT_BYTES = 256,
    PAGE_BYTES = 4096,
    TABLE_BYTES = 8,               // per unit
    GAP_BYTES = 2 << 20,           // between regions
    FIRST_REGION_BYTES = 1 << 20,  // before doubling
    MAX_REGION_BYTES = 1 << 30,    // that doubling without need reaches
    MAX_UNSPLIT_BYTES = 128 << 20, // that a request may get too much
};

#define TOP_ADDRESS ((int64_t)1 << 46) // the system places later regions below earlier ones

void ort_arena_reset(struct ort_arena *o, struct arena *a) {
    assert(o && a && (!o->a || o->a == a));
    o->a = a;
    o->chunks.n = o->unused.n = o->free.n = 0;
    for (size_t i = 0; i < o->n_regions; i++) {
        struct ort_region *r = &o->regions.at[i];
        memset(r->page, 0, (size_t)(r->n_bytes / PAGE_BYTES / 64 + 1) * sizeof *r->page);
    }
    o->n_regions = 0;
    o->next_region_bytes = FIRST_REGION_BYTES;
    o->region_bytes = o->resident_bytes = 0;
    o->failed = false;
}

static bool is_before(const struct ort_chunk *x, int64_t n_bytes, int64_t at) {
    return x->n_bytes < n_bytes || (x->n_bytes == n_bytes && x->at < at);
}

// The index of the first free chunk that is not before (n_bytes, at).
static size_t find(const struct ort_arena *o, int64_t n_bytes, int64_t at) {
    size_t lo = 0, hi = o->free.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (is_before(&o->chunks.at[o->free.at[mid]], n_bytes, at))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void insert_free(struct ort_arena *o, uint32_t chunk) {
    struct ort_chunk *c = &o->chunks.at[chunk];
    size_t i = find(o, c->n_bytes, c->at);
    if (!VEC_PUSH(o->a, &o->free, chunk)) {
        o->failed = true;
        return;
    }
    memmove(o->free.at + i + 1, o->free.at + i, (o->free.n - 1 - i) * sizeof *o->free.at);
    o->free.at[i] = chunk;
    c->is_free = true;
}

static void remove_free(struct ort_arena *o, uint32_t chunk) {
    struct ort_chunk *c = &o->chunks.at[chunk];
    size_t i = find(o, c->n_bytes, c->at);
    assert(i < o->free.n && o->free.at[i] == chunk);
    o->free.n--;
    memmove(o->free.at + i, o->free.at + i + 1, (o->free.n - i) * sizeof *o->free.at);
    c->is_free = false;
}

static uint32_t new_chunk(struct ort_arena *o, struct ort_chunk c) {
    if (o->unused.n) {
        uint32_t i = o->unused.at[--o->unused.n];
        o->chunks.at[i] = c;
        return i;
    }
    if ((!o->chunks.n && !VEC_PUSH(o->a, &o->chunks, (struct ort_chunk){0})) ||
        !VEC_PUSH(o->a, &o->chunks, c)) {
        o->failed = true;
        return ORT_ARENA_NONE;
    }
    return (uint32_t)(o->chunks.n - 1);
}

// Pages for a region of this size: those of an earlier session if it had the same region here.
static uint64_t *region_pages(struct ort_arena *o, int64_t n_bytes) {
    if (o->n_regions < o->regions.n && o->regions.at[o->n_regions].n_bytes == n_bytes)
        return o->regions.at[o->n_regions].page;
    o->regions.n = o->n_regions;
    return ARENA_ARRAY(o->a, uint64_t, n_bytes / PAGE_BYTES / 64 + 1);
}

static void add_region(struct ort_arena *o, int64_t n_bytes) {
    bool doubled = false;
    while (n_bytes > o->next_region_bytes) {
        o->next_region_bytes *= 2;
        doubled = true;
    }
    int64_t size = o->next_region_bytes;
    if (!doubled)
        o->next_region_bytes = size * 2 < MAX_REGION_BYTES ? size * 2 : MAX_REGION_BYTES;
    int64_t below = o->n_regions ? o->regions.at[o->n_regions - 1].at : TOP_ADDRESS;
    struct ort_region r = {below - size - GAP_BYTES, size, region_pages(o, size)};
    if (!r.page || (o->regions.n == o->n_regions && !VEC_PUSH(o->a, &o->regions, r))) {
        o->failed = true;
        return;
    }
    o->regions.at[o->n_regions] = r;
    uint32_t c = new_chunk(
        o, (struct ort_chunk){.at = r.at, .n_bytes = size, .region = (uint32_t)o->n_regions++});
    o->region_bytes += size;
    if (c)
        insert_free(o, c);
}

static void split(struct ort_arena *o, uint32_t chunk, int64_t n_bytes) {
    struct ort_chunk c = o->chunks.at[chunk];
    uint32_t rest = new_chunk(o, (struct ort_chunk){.at = c.at + n_bytes,
                                                    .n_bytes = c.n_bytes - n_bytes,
                                                    .before = chunk,
                                                    .after = c.after,
                                                    .region = c.region});
    if (!rest)
        return;
    if (c.after)
        o->chunks.at[c.after].before = rest;
    o->chunks.at[chunk].after = rest;
    o->chunks.at[chunk].n_bytes = n_bytes;
    insert_free(o, rest);
}

uint32_t ort_arena_alloc(struct ort_arena *o, int64_t n_bytes, bool write) {
    assert(o && o->a && n_bytes >= 0 && n_bytes < (int64_t)1 << 45);
    int64_t size = (n_bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
    if (size == 0 || o->failed)
        return ORT_ARENA_NONE;
    size_t i = find(o, size, 0);
    if (i == o->free.n) {
        add_region(o, size);
        i = find(o, size, 0);
    }
    if (o->failed)
        return ORT_ARENA_NONE;
    uint32_t chunk = o->free.at[i];
    int64_t has = o->chunks.at[chunk].n_bytes;
    remove_free(o, chunk);
    if (has >= 2 * size || has - size >= MAX_UNSPLIT_BYTES)
        split(o, chunk, size);
    if (write)
        ort_arena_write(o, chunk, 0, n_bytes);
    return chunk;
}

// `chunk` becomes the union of itself and the chunk after it. Neither is in `free`.
static void absorb_after(struct ort_arena *o, uint32_t chunk) {
    struct ort_chunk *c = &o->chunks.at[chunk];
    uint32_t next = c->after;
    c->n_bytes += o->chunks.at[next].n_bytes;
    c->after = o->chunks.at[next].after;
    if (c->after)
        o->chunks.at[c->after].before = chunk;
    if (!VEC_PUSH(o->a, &o->unused, next))
        o->failed = true;
}

void ort_arena_free(struct ort_arena *o, uint32_t chunk) {
    assert(o && (o->failed || chunk < o->chunks.n));
    if (!chunk || o->failed)
        return;
    assert(!o->chunks.at[chunk].is_free);
    uint32_t after = o->chunks.at[chunk].after, before = o->chunks.at[chunk].before;
    if (after && o->chunks.at[after].is_free) {
        remove_free(o, after);
        absorb_after(o, chunk);
    }
    if (before && o->chunks.at[before].is_free) {
        remove_free(o, before);
        absorb_after(o, before);
        chunk = before;
    }
    insert_free(o, chunk);
}

void ort_arena_write(struct ort_arena *o, uint32_t chunk, int64_t from, int64_t to) {
    assert(o && 0 <= from && from <= to);
    if (!chunk || o->failed || from == to)
        return;
    const struct ort_chunk *c = &o->chunks.at[chunk];
    struct ort_region *r = &o->regions.at[c->region];
    int64_t first = (c->at - r->at + from) / PAGE_BYTES,
            last = (c->at - r->at + to - 1) / PAGE_BYTES;
    for (int64_t p = first; p <= last;) {
        int64_t bit = p % 64, n = 64 - bit <= last - p + 1 ? 64 - bit : last - p + 1;
        uint64_t mask = (n == 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1) << bit;
        uint64_t fresh = mask & ~r->page[p / 64];
        o->resident_bytes += (int64_t)__builtin_popcountll(fresh) * PAGE_BYTES;
        r->page[p / 64] |= mask;
        p += n;
    }
}

static bool copy_list(struct arena *a, void **to, size_t *cap, const void *from, size_t n,
                      size_t size) {
    if (*cap < n) {
        void *at = arena_array(a, 2 * n, size);
        if (!at)
            return false;
        *to = at;
        *cap = 2 * n;
    }
    if (n)
        memcpy(*to, from, n * size);
    return true;
}

#define COPY_LIST(to, from, list)                                                                  \
    ((to)->list.n = (from)->list.n,                                                                \
     copy_list((to)->a, (void **)&(to)->list.at, &(to)->list.cap, (from)->list.at, (from)->list.n, \
               sizeof *(to)->list.at))

bool ort_arena_copy(struct ort_arena *to, const struct ort_arena *from) {
    assert(to && from && from->a && to != from && (!to->a || to->a == from->a));
    to->a = from->a;
    to->n_regions = from->n_regions;
    to->next_region_bytes = from->next_region_bytes;
    to->region_bytes = from->region_bytes;
    to->resident_bytes = from->resident_bytes;
    to->failed = from->failed;
    return COPY_LIST(to, from, chunks) && COPY_LIST(to, from, unused) &&
           COPY_LIST(to, from, free) && COPY_LIST(to, from, regions);
}

int64_t ort_arena_bytes(const struct ort_arena *o) {
    return o->resident_bytes + o->region_bytes / UNIT_BYTES * TABLE_BYTES;
}
