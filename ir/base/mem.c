// The allocation gate and arenas: see mem.h.
#include "ir/base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"

#ifdef MFC_SMALL
enum { CHUNK_BYTES = 256, VEC_FIRST = 1 }; // test builds: growth paths run all the time
#else
enum { CHUNK_BYTES = 64 << 10, VEC_FIRST = 8 };
#endif

struct arena_chunk {
    struct arena_chunk *before;
    size_t used, size;
    max_align_t bytes[];
};

struct mem mem_make(int64_t limit_bytes) {
    return (struct mem){.limit_bytes = limit_bytes, .fail_after = -1};
}

static bool mem_may(struct mem *mem, int64_t more) {
    if (atomic_load_explicit(&mem->fail_after, memory_order_relaxed) >= 0 &&
        atomic_fetch_sub(&mem->fail_after, 1) <= 0)
        return false;
    int64_t used = atomic_fetch_add(&mem->used_bytes, more) + more;
    if (used > mem->limit_bytes) {
        atomic_fetch_sub(&mem->used_bytes, more);
        return false;
    }
    int64_t peak = atomic_load(&mem->peak_bytes);
    while (peak < used && !atomic_compare_exchange_weak(&mem->peak_bytes, &peak, used)) {
    }
    return true;
}

void *mem_resize(struct mem *mem, void *block, size_t old_bytes, size_t new_bytes) {
    if (new_bytes == 0) {
        free(block);
        atomic_fetch_sub(&mem->used_bytes, (int64_t)old_bytes);
        return NULL;
    }
    if (new_bytes > INT64_MAX / 2)
        return NULL;
    int64_t more = (int64_t)new_bytes - (int64_t)old_bytes;
    if (more > 0 && !mem_may(mem, more))
        return NULL;
    void *grown = realloc(block, new_bytes);
    if (more < 0 && grown)
        atomic_fetch_add(&mem->used_bytes, more);
    if (more > 0 && !grown)
        atomic_fetch_sub(&mem->used_bytes, more);
    return grown;
}

struct arena arena_make(struct mem *mem) {
    return (struct arena){.mem = mem};
}

void arena_free(struct arena *a) {
    for (struct arena_chunk *c = a->last, *before; c; c = before) {
        before = c->before;
        mem_resize(a->mem, c, sizeof *c + c->size, 0);
    }
    a->last = NULL;
}

static struct arena_chunk *chunk_new(struct arena *a, size_t size) {
    struct arena_chunk *c = mem_resize(a->mem, NULL, 0, sizeof *c + size);
    if (c)
        *c = (struct arena_chunk){.size = size};
    return c;
}

void *arena_alloc(struct arena *a, size_t n_bytes) {
    const size_t align = _Alignof(max_align_t);
    if (n_bytes > SIZE_MAX / 2)
        return NULL;
    size_t need = (n_bytes + align - 1) / align * align;
    struct arena_chunk *c = a->last;
    if (!c || c->size - c->used < need) {
        // A large block gets a chunk of its own, put behind the current one so that the room left
        // there stays in use.
        bool own = need > CHUNK_BYTES / 4;
        struct arena_chunk *fresh = chunk_new(a, own ? need : CHUNK_BYTES);
        if (!fresh)
            return NULL;
        if (own && c) {
            fresh->before = c->before;
            c->before = fresh;
        } else {
            fresh->before = c;
            a->last = fresh;
        }
        c = fresh;
    }
    void *p = (char *)c->bytes + c->used;
    c->used += need;
    return memset(p, 0, n_bytes);
}

void *arena_array(struct arena *a, size_t n, size_t size) {
    size_t bytes;
    return checked_size(n, size, &bytes) ? arena_alloc(a, bytes) : NULL;
}

void *arena_copy(struct arena *a, const void *from, size_t n_bytes) {
    void *p = arena_alloc(a, n_bytes);
    if (p && n_bytes)
        memcpy(p, from, n_bytes);
    return p;
}

bool vec_reserve(struct arena *a, void **at, size_t n, size_t *cap, size_t n_all, size_t size) {
    if (n_all <= *cap)
        return true;
    void *p = arena_array(a, n_all, size);
    if (!p)
        return false;
    if (n)
        memcpy(p, *at, n * size);
    *at = p;
    *cap = n_all;
    return true;
}

bool vec_room(struct arena *a, void **at, size_t n, size_t *cap, size_t size) {
    return n < *cap || vec_reserve(a, at, n, cap, *cap ? *cap * 2 : VEC_FIRST, size);
}
