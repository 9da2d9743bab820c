// The inside of a run, for solve.c and incumbent.c only: the best schedule, the bounds, the lock.
#pragma once

#include <pthread.h>

#include "solver/solve.h"

struct order_bound {
    int32_t *order;
    int64_t bound;
};

struct incumbent {
    pthread_mutex_t lock;
    const struct solve_hooks *hooks;
    bool free_order; // what the caller asked for; a part of the search may keep to the given order
    int64_t start_ns;
    struct arena keep[2]; // steps and order, in turn, so that the old ones can be given back
    int which;
    struct arena lists; // what lives as long as the run
    struct steps steps;
    int32_t *order;           // first executions of the incumbent
    int64_t cost, peak_bytes; // INT64_MAX and 0: there is none
    bool given_order;
    int64_t bound_any, bound_given; // at least base_cost
    int64_t exact_any, exact_given; // those that rest on integers alone; likewise
    int64_t exact_least;
    VEC(struct order_bound) by_order;
    int64_t min_bytes;   // proven for the asked kind of order
    int64_t known_bytes; // INT64_MAX: none
    int32_t *forcing, n_forcing;
    int64_t n_refused; // schedules that the checker did not accept, bounds that a schedule refuted
};

void incumbent_open(struct incumbent *b, struct mem *mem, const struct solve_hooks *hooks,
                    bool free_order, int64_t base_cost);
void incumbent_close(struct incumbent *b);

// What is known now; the steps and lists are those of the incumbent, not copies.
void incumbent_report(const struct solve_run *r, struct schedule *out);
