// When to end: a flag that anybody may raise (a signal handler, another thread, a caller's cancel),
// a deadline on the clock, and an amount of work. Work is what makes a result repeatable: it counts
// steps of the search, not seconds.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STOP_NEVER INT64_MAX

struct stop {
    atomic_int raised;   // 0, or the reason: the signal's number, or 1
    int64_t deadline_ns; // on stop_clock_ns(); STOP_NEVER: none
};

int64_t stop_clock_ns(void); // monotonic

static inline void stop_raise(struct stop *s, int reason) {
    atomic_store_explicit(&s->raised, reason, memory_order_relaxed);
}

static inline bool stop_raised(const struct stop *s) {
    return atomic_load_explicit(&s->raised, memory_order_relaxed) != 0;
}

// Asks the clock: call it every few microseconds of work, not in the innermost loop.
bool stop_now(const struct stop *s);
double stop_seconds_left(const struct stop *s); // never below 0; INFINITY without a deadline
