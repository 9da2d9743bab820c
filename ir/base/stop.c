// Deadline and stop flag: see stop.h.
#include "ir/base/stop.h"

#include <math.h>
#include <time.h>

int64_t stop_clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool stop_now(const struct stop *s) {
    return stop_raised(s) || (s->deadline_ns != STOP_NEVER && stop_clock_ns() >= s->deadline_ns);
}

double stop_seconds_left(const struct stop *s) {
    if (stop_raised(s))
        return 0;
    if (s->deadline_ns == STOP_NEVER)
        return INFINITY;
    double left = (double)(s->deadline_ns - stop_clock_ns()) * 1e-9;
    return left > 0 ? left : 0;
}
