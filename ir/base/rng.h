// Counter-based random numbers: the k-th draw of a stream is a pure function of (seed, chain, k),
// so a search gives the same result in any order and on any number of threads.
#pragma once

#include <stdint.h>

// The finalizer of MurmurHash3 with Stafford's constants: full avalanche on 64 bits.
static inline uint64_t rng_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// A stream, identified by (seed, chain); `step` counts its draws.
struct rng {
    uint64_t key, step;
};

static inline struct rng rng_make(uint64_t seed, uint64_t chain) {
    return (struct rng){.key = rng_mix(rng_mix(seed + 0x9e3779b97f4a7c15u) ^ (chain + 1))};
}

static inline uint64_t rng_next(struct rng *r) {
    return rng_mix(r->key + r->step++ * 0x9e3779b97f4a7c15u);
}

// 0 .. n-1, n > 0. The bias of the multiply-shift is below n / 2^64.
static inline uint64_t rng_below(struct rng *r, uint64_t n) {
    return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

// [0, 1)
static inline double rng_unit(struct rng *r) {
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
