// Deadline and stop flag: see stop.h.
#include "ir/base/stop.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <time.h>

#define FOREVER_SECONDS 1e9

int64_t stop_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct stop stop_child(const struct stop *parent, double seconds) {
    assert(seconds >= 0);
    int64_t deadline_ns =
        seconds < FOREVER_SECONDS ? stop_clock_ns() + (int64_t)(seconds * 1e9) : STOP_NEVER;
    return (struct stop){.deadline_ns = deadline_ns, .parent = parent};
}

static int64_t first_deadline_ns(const struct stop *s) {
    int64_t first = STOP_NEVER;
    for (; s; s = s->parent)
        first = s->deadline_ns < first ? s->deadline_ns : first;
    return first;
}

bool stop_now(const struct stop *s) {
    assert(s);
    if (stop_raised(s))
        return true;
    int64_t deadline_ns = first_deadline_ns(s);
    return deadline_ns != STOP_NEVER && stop_clock_ns() >= deadline_ns;
}

double stop_seconds_left(const struct stop *s) {
    assert(s);
    if (stop_raised(s))
        return 0;
    int64_t deadline_ns = first_deadline_ns(s);
    if (deadline_ns == STOP_NEVER)
        return INFINITY;
    double left = (double)(deadline_ns - stop_clock_ns()) * 1e-9;
    return left > 0 ? left : 0;
}
