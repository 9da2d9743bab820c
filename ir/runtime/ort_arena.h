// Exact model of ONNX Runtime's default CPU allocator (BFCArena): which address every request gets,
// and which pages are resident after it. The rules are those of versions 1.14 to 1.30:
//
//   - a request is rounded up to 256 bytes and gets the smallest free chunk that is large enough,
//     the one at the lowest address among equals, over all regions;
//   - the chunk is split if it is at least twice as large as the request or if at least 128 MiB
//     would be left; else the request takes all of it;
//   - a freed chunk merges with its free neighbours in the region;
//   - when no chunk fits, a region is added. Its size starts at 1 MiB and doubles until the request
//     fits; after a region that needed no doubling the size of the next one doubles, up to 1 GiB.
//
// Regions stay until the session ends. A page is resident from the first write to it; every kernel
// writes all bytes that it allocates. The arena's own table, 8 bytes per 256, is written when the
// region is added.
#pragma once

#include "ir/base/mem.h"

enum { ORT_ARENA_NONE = 0 }; // the chunk of an empty request; no request got it

struct ort_chunk {
    int64_t at, n_bytes;    // address, size
    uint32_t before, after; // neighbours in the region, or ORT_ARENA_NONE
    uint32_t region;        // index
    bool is_free;
};

struct ort_region {
    int64_t at, n_bytes;
    uint64_t *page; // a bit per page: it is resident
};

struct ort_arena {
    struct arena *a;
    VEC(struct ort_chunk) chunks;   // [0] is unused
    VEC(uint32_t) unused;           // entries of `chunks` without a chunk
    VEC(uint32_t) free;             // free chunks, by size, then address
    VEC(struct ort_region) regions; // n_regions of them are in use
    size_t n_regions;
    int64_t next_region_bytes;
    int64_t region_bytes;   // of all regions
    int64_t resident_bytes; // written pages of all regions
    bool failed;            // out of memory: nothing else holds any more
};

// A session that has not run. The memory of an arena that was made before is used again.
void ort_arena_reset(struct ort_arena *o, struct arena *a);

// The chunk for a request; ORT_ARENA_NONE for 0 bytes. `write`: its pages become resident.
uint32_t ort_arena_alloc(struct ort_arena *o, int64_t n_bytes, bool write);
void ort_arena_free(struct ort_arena *o, uint32_t chunk);
// Writes bytes of a chunk, from `from` (counted from its address) to before `to`.
void ort_arena_write(struct ort_arena *o, uint32_t chunk, int64_t from, int64_t to);

// `to` becomes a copy that shares the pages of `from`: for trials that allocate and free without
// writing. The memory of `to` is used again; false: out of memory.
bool ort_arena_copy(struct ort_arena *to, const struct ort_arena *from);

// What the arena adds to the process: resident pages and tables.
int64_t ort_arena_bytes(const struct ort_arena *o);
