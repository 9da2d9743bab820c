// Counter-based random numbers: a draw is a pure function of (seed, chain, step, draw), so a search
// gives the same result in whatever order and on however many threads its parts run.
#pragma once

#include <stdint.h>

// The finalizer of MurmurHash3 with Stafford's constants: full avalanche on 64 bits.
static inline uint64_t rng_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t rng_at(uint64_t seed, uint64_t chain, uint64_t step, uint64_t draw) {
    uint64_t x = rng_mix(seed + 0x9e3779b97f4a7c15u);
    x = rng_mix(x ^ (chain + 0x9e3779b97f4a7c15u));
    x = rng_mix(x ^ (step * 0xd1342543de82ef95u + 1));
    return rng_mix(x ^ (draw * 0x9e3779b97f4a7c15u + 1));
}

// A stream for loops that draw one number after the other: (seed, chain) name it, `step` counts.
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
