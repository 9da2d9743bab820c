// The price of a byte over the memory limit in a local search (solver/anneal, solver/place).
//
// The cost of a state is its objective plus the price of its excess bytes. The price rises while
// most states are over the limit and falls while most are within: so the search crosses the
// boundary of the feasible states from both sides (strategic oscillation), where the best are.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { EXCESS_PRICE_EVERY = 64 }; // steps between two adjustments
#define EXCESS_PRICE_STEP  1.1
#define EXCESS_PRICE_RANGE 1e6 // how far the price may go from the initial one, as a factor

struct excess_price {
    double now, initial; // cost per byte
    int32_t n_over;      // steps since the last adjustment that ended over the limit
};

static inline void excess_price_reset(struct excess_price *p, double initial) {
    *p = (struct excess_price){.now = initial, .initial = initial};
}

static inline void excess_price_note(struct excess_price *p, bool is_over) {
    p->n_over += is_over;
}

// To be called every EXCESS_PRICE_EVERY steps.
static inline void excess_price_adjust(struct excess_price *p) {
    if (p->n_over > EXCESS_PRICE_EVERY * 3 / 4 && p->now < EXCESS_PRICE_RANGE * p->initial)
        p->now *= EXCESS_PRICE_STEP;
    else if (p->n_over < EXCESS_PRICE_EVERY / 4 && p->now > p->initial / EXCESS_PRICE_RANGE)
        p->now /= EXCESS_PRICE_STEP;
    p->n_over = 0;
}
