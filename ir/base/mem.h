// The allocation gate and the arenas behind it. Every byte that mfc allocates for itself passes
// mem_resize, which keeps a budget and which tests make fail at the k-th call. An arena is a list
// of chunks that lives and dies as one: nothing in it is freed alone.
//
//     struct mem mem = mem_make(MEM_UNLIMITED);
//     struct arena a = arena_make(&mem);
//     int64_t *sizes = ARENA_ARRAY(&a, int64_t, n);   // zeroed; NULL: over budget or out of memory
//     ...
//     arena_free(&a);
//
// A gate may be shared by threads: its counters are atomic. An arena may not.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_UNLIMITED INT64_MAX

struct mem {
    int64_t limit_bytes;
    _Atomic int64_t used_bytes;
    _Atomic int64_t peak_bytes;
    _Atomic int64_t fail_after; // calls until one fails; negative: never (for tests)
};

struct arena_chunk;

struct arena {
    struct mem *mem;
    struct arena_chunk *last;
};

struct mem mem_make(int64_t limit_bytes);

// realloc, calloc and free in one: old_bytes = 0 allocates, new_bytes = 0 frees. NULL: it failed,
// the old block is untouched. Bytes gained are not cleared.
void *mem_resize(struct mem *mem, void *block, size_t old_bytes, size_t new_bytes);

struct arena arena_make(struct mem *mem);
void arena_free(struct arena *a); // the arena is empty after it and may be used again

// Zeroed bytes, aligned for any type. NULL when the gate refuses. Zero bytes give a valid pointer.
void *arena_alloc(struct arena *a, size_t n_bytes);
void *arena_array(struct arena *a, size_t n, size_t size); // NULL also when n * size overflows
void *arena_copy(struct arena *a, const void *from, size_t n_bytes);

#define ARENA_NEW(a, T)      ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_array((a), (size_t)(n), sizeof(T)))

// A growing array in an arena; growth doubles, so the abandoned halves cost at most what the array
// does.
//     VEC(int64_t) v = {0};
//     if (!VEC_PUSH(&arena, &v, 7)) return ST_LIMIT;
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *at;                                                                                     \
        size_t n, cap;                                                                             \
    }

#define VEC_PUSH(a, v, ...)                                                                        \
    (vec_room((a), (void **)&(v)->at, (v)->n, &(v)->cap, sizeof *(v)->at)                          \
         ? ((v)->at[(v)->n++] = (__VA_ARGS__), true)                                               \
         : false)

// Room for so many elements in all. False: out of memory, and the array is as before.
#define VEC_RESERVE(a, v, n_all)                                                                   \
    vec_reserve((a), (void **)&(v)->at, (v)->n, &(v)->cap, (n_all), sizeof *(v)->at)

bool vec_reserve(struct arena *a, void **at, size_t n, size_t *cap, size_t n_all, size_t size);
bool vec_room(struct arena *a, void **at, size_t n, size_t *cap, size_t size);
