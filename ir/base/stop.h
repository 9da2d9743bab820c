// When to end: a flag that anyone may raise (a signal handler, another thread, a caller's cancel)
// and a deadline on the clock. Stops form a tree. A child has a flag and a deadline of its own and
// also sees those of its ancestors; nothing that happens to it is seen by its parent. So a callee
// that needs an earlier deadline makes a child and leaves the stop of its caller as it is.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STOP_NEVER INT64_MAX

struct stop {
    atomic_int raised;         // 0, or the reason: the number of the signal, or 1
    int64_t deadline_ns;       // on stop_clock_ns(); STOP_NEVER: none
    const struct stop *parent; // or NULL; must outlive the child
};

int64_t stop_clock_ns(void); // monotonic

// A stop with a deadline `seconds` from now. A billion seconds and more, or INFINITY: no deadline
// of its own. `parent` may be NULL.
struct stop stop_child(const struct stop *parent, double seconds);

static inline void stop_raise(struct stop *s, int reason) {
    atomic_store_explicit(&s->raised, reason, memory_order_relaxed);
}

// The reason of the nearest raised stop, from `s` to the root; 0: none is raised.
static inline int stop_reason(const struct stop *s) {
    int reason = 0;
    for (; s && reason == 0; s = s->parent)
        reason = atomic_load_explicit(&s->raised, memory_order_relaxed);
    return reason;
}

static inline bool stop_raised(const struct stop *s) {
    return stop_reason(s) != 0;
}

// Reads the clock: call it every few microseconds of work, not in the innermost loop.
bool stop_now(const struct stop *s);
double stop_seconds_left(const struct stop *s); // never below 0; INFINITY without a deadline
