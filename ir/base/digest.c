// Digests by xxHash: see digest.h.
#include "ir/base/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct digest {
    XXH3_state_t *state;
};

struct digest *digest_new(struct arena *a) {
    // xxHash wants its state on a cache line of its own.
    size_t align = _Alignof(XXH3_state_t);
    struct digest *g = ARENA_NEW(a, struct digest);
    char *room = arena_alloc(a, sizeof(XXH3_state_t) + align);
    if (!g || !room)
        return NULL;
    g->state = (void *)(((uintptr_t)room + align - 1) / align * align);
    XXH3_64bits_reset(g->state);
    return g;
}

void digest_add(struct digest *g, const void *bytes, size_t n) {
    XXH3_64bits_update(g->state, bytes, n);
}

uint64_t digest_value(const struct digest *g) {
    return XXH3_64bits_digest(g->state);
}

uint64_t digest_block(const void *bytes, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(bytes, n, seed);
}
