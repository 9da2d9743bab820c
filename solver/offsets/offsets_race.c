// Several searches for offsets side by side, each with a seed of its own, one thread each; the best
// answer counts, and so does the best bound. When a search has nothing left to improve, those that
// come after it end; those before it go on where the work is limited, because the first of equals
// is taken and the answer must not depend on which thread is faster.
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "solver/offsets.h"

struct race;

struct runner {
    struct race *race;
    int32_t index;
    pthread_t thread;
    bool started;
    struct offsets_options options;
    struct stop stop;
    struct arena arena;
    struct diags diags;
    int64_t *offset, arena_bytes, bound;
    status st;
};

struct race {
    const struct buffer *buffers;
    size_t n;
    struct runner *at;
    int32_t n_runners;
};

static void *runner_main(void *argument) {
    struct runner *r = argument;
    struct race *race = r->race;
    r->st = offsets_assign(race->buffers, race->n, &r->options, &r->arena, &r->diags, &r->stop,
                           r->offset, &r->arena_bytes, &r->bound);
    bool settled = r->st != ST_NO_PLAN &&
                   (r->options.capacity_bytes > 0 || r->st != ST_OK || r->arena_bytes == r->bound);
    for (int32_t k = 0; k < race->n_runners && settled; k++)
        if (k > r->index || r->options.work == 0)
            stop_raise(&race->at[k].stop, 1);
    return NULL;
}

static status runner_open(struct race *race, int32_t k, const struct offsets_options *options,
                          struct mem *mem, const struct stop *stop) {
    struct runner *r = &race->at[k];
    *r = (struct runner){.race = race, .index = k, .options = *options, .arena_bytes = -1};
    r->options.seed += (uint64_t)k;
    r->stop = stop_child(stop, INFINITY);
    r->arena = arena_make(mem);
    r->offset = ARENA_ARRAY(&r->arena, int64_t, race->n);
    return r->offset ? ST_OK : ST_LIMIT;
}

static void race_wait(struct race *race) {
    for (int32_t k = 0; k < race->n_runners; k++)
        if (race->at[k].started)
            pthread_join(race->at[k].thread, NULL);
}

// An answer that holds before one that does not, then the smaller arena, then the first.
static bool is_better(const struct runner *a, const struct runner *b) {
    if ((a->st == ST_OK) != (b->st == ST_OK))
        return a->st == ST_OK;
    if ((a->st == ST_INFEASIBLE) != (b->st == ST_INFEASIBLE))
        return a->st == ST_INFEASIBLE; // a proof says more than a search that found nothing
    return a->arena_bytes >= 0 && (b->arena_bytes < 0 || a->arena_bytes < b->arena_bytes);
}

status offsets_race(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                    int32_t n_searches, struct arena *a, struct diags *d, const struct stop *stop,
                    int64_t *offset, int64_t *arena_bytes, int64_t *bound) {
    if (n_searches <= 1)
        return offsets_assign(buffers, n, options, a, d, stop, offset, arena_bytes, bound);
    struct race race = {buffers, n, ARENA_ARRAY(a, struct runner, n_searches), n_searches};
    if (!race.at)
        return diag_out_of_memory(d);
    status st = ST_OK;
    for (int32_t k = 0; k < n_searches; k++) {
        status opened = runner_open(&race, k, options, a->mem, stop);
        race.at[k].diags = diags_make(&race.at[k].arena);
        st = st ? st : opened;
    }
    for (int32_t k = 0; k < n_searches && !st; k++) {
        struct runner *r = &race.at[k];
        r->started = pthread_create(&r->thread, NULL, runner_main, r) == 0;
        if (!r->started)
            runner_main(r); // no thread to be had: one after the other
    }
    race_wait(&race);
    const struct runner *best = &race.at[0];
    for (int32_t k = 0; k < n_searches && !st; k++) {
        best = is_better(&race.at[k], best) ? &race.at[k] : best;
        *bound = k && *bound > race.at[k].bound ? *bound : race.at[k].bound;
    }
    if (st) {
        st = diag_out_of_memory(d);
    } else {
        st = best->st;
        *arena_bytes = best->arena_bytes;
        memcpy(offset, best->offset, n * sizeof *offset);
        diags_take(d, &best->diags);
    }
    for (int32_t k = 0; k < n_searches; k++)
        arena_free(&race.at[k].arena);
    return st;
}
