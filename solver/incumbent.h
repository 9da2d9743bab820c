// The inside of a run, for solve.c and incumbent.c only: the best schedule, the bounds, the lock.
#pragma once

#include <pthread.h>

#include "solver/solve.h"

struct incumbent {
    pthread_mutex_t lock;
    const struct solve_hooks *hooks;
    bool free_order; // what the caller asked for; a part of the search may keep to the given order
    int64_t start_ns;
    struct arena keep[2]; // the steps, in turn: the old ones are freed when the new ones are there
    int which;
    struct arena lists; // as long as the run
    struct steps steps;
    int64_t cost, peak_bytes; // INT64_MAX and 0: there is none
    bool given_order;
    int64_t bound_any, bound_given; // at least base_cost
    int64_t exact_any, exact_given; // the part of them that is proven in integers; likewise
    int64_t exact_min_bytes;
    int64_t min_bytes;   // proven for the asked kind of order
    int64_t known_bytes; // INT64_MAX: none
    int32_t *forcing, n_forcing;
    bool lacked_memory; // for a schedule: what is known is not what the run has found
    int64_t n_refused;  // schedules that the checker did not accept: defects, always 0
    int64_t n_refuted;  // bounds that a schedule refuted: errors of floating point
};

void incumbent_open(struct incumbent *b, struct mem *mem, const struct solve_hooks *hooks,
                    bool free_order, int64_t base_cost);
void incumbent_close(struct incumbent *b);

// What is known now; the steps and lists are those of the incumbent, not copies.
void incumbent_report(const struct solve_run *r, struct schedule *out);
