// Model of the heap of onnxruntime-web: Emscripten's malloc (dlmalloc) in the linear memory of
// WebAssembly, which grows and never shrinks. There is no arena and no memory pattern. The rules:
//
//   - a tensor lies at a multiple of 64 bytes; what is left before and behind it is free again;
//   - a large request gets the smallest free chunk that is large enough, the one that is free for
//     the longest time among equals; a small one is cut from the chunk that the last small request
//     left over (the *designated victim*), unless a free chunk has its size;
//   - else it is cut from the end of the heap, which moves up as far as it must;
//   - freed neighbours merge.
#pragma once

#include "ir/base/mem.h"

struct web_chunk {
    int64_t at, n_bytes; // with the header
    uint32_t before, after;
    uint64_t freed_at; // counts calls; 0: in use
    uint32_t in_free;  // index in `free`
};

struct web_heap {
    struct arena *a;
    VEC(struct web_chunk) chunks; // [0] ends the list in both directions
    VEC(uint32_t) unused;         // entries of `chunks` without a chunk
    VEC(uint32_t) free;           // free chunks, in any order
    uint32_t victim;              // the designated victim, free; or 0
    uint64_t n_frees;
    int64_t end_at; // the heap ends here; what is behind the last chunk is free
    bool failed;    // out of memory: nothing else holds any more
};

// An empty heap whose first chunk is at `at`.
void web_heap_reset(struct web_heap *h, struct arena *a, int64_t at);

// The chunk of a request. `is_tensor`: aligned. 0: out of memory.
uint32_t web_heap_alloc(struct web_heap *h, int64_t n_bytes, bool is_tensor);
void web_heap_free(struct web_heap *h, uint32_t chunk);
