// Several searches for offsets in parallel, one thread and one seed each; the best answer counts,
// and so does the best bound. A search that cannot improve any more stops those with higher
// numbers, and without a work limit all. With one those with lower numbers go on: of equal answers
// the first is taken, and the answer must not depend on which thread is faster.
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
    struct offsets_result result;
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
    r->st = offsets_assign(race->buffers, race->n, &r->options, &r->arena, &r->diags, &r->result);
    bool settled = r->st != ST_NO_PLAN && (r->options.capacity_bytes > 0 || r->st != ST_OK ||
                                           r->result.arena_bytes == r->result.bound);
    for (int32_t k = 0; k < race->n_runners && settled; k++)
        if (k > r->index || r->options.work == 0)
            stop_raise(&race->at[k].stop, 1);
    return NULL;
}

static status runner_open(struct race *race, int32_t k, const struct offsets_options *options,
                          struct mem *mem) {
    struct runner *r = &race->at[k];
    *r = (struct runner){.race = race, .index = k, .options = *options, .result.arena_bytes = -1};
    r->options.seed += (uint64_t)k;
    r->options.stop = &r->stop;
    r->stop = stop_child(options->stop, INFINITY);
    r->arena = arena_make(mem);
    r->result.offset = ARENA_ARRAY(&r->arena, int64_t, race->n);
    return r->result.offset ? ST_OK : ST_LIMIT;
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
    int64_t x = a->result.arena_bytes, y = b->result.arena_bytes;
    return x >= 0 && (y < 0 || x < y);
}

status offsets_race(const struct buffer *buffers, size_t n, const struct offsets_options *options,
                    struct arena *a, struct diags *d, struct offsets_result *out) {
    int32_t n_searches = options->n_searches;
    if (n_searches <= 1)
        return offsets_assign(buffers, n, options, a, d, out);
    struct race race = {buffers, n, ARENA_ARRAY(a, struct runner, n_searches), n_searches};
    if (!race.at)
        return diag_out_of_memory(d);
    status st = ST_OK;
    for (int32_t k = 0; k < n_searches; k++) {
        status opened = runner_open(&race, k, options, a->mem);
        race.at[k].diags = diags_make(&race.at[k].arena);
        st = st ? st : opened;
    }
    for (int32_t k = 0; k < n_searches && !st; k++) {
        struct runner *r = &race.at[k];
        r->started = pthread_create(&r->thread, NULL, runner_main, r) == 0;
        if (!r->started)
            runner_main(r); // without a thread: one after the other
    }
    race_wait(&race);
    const struct runner *best = &race.at[0];
    for (int32_t k = 0; k < n_searches && !st; k++) {
        best = is_better(&race.at[k], best) ? &race.at[k] : best;
        int64_t bound = race.at[k].result.bound;
        out->bound = k && out->bound > bound ? out->bound : bound;
    }
    if (st) {
        st = diag_out_of_memory(d);
    } else {
        st = best->st;
        out->arena_bytes = best->result.arena_bytes;
        memcpy(out->offset, best->result.offset, n * sizeof *out->offset);
        diags_take(d, &best->diags);
    }
    for (int32_t k = 0; k < n_searches; k++)
        arena_free(&race.at[k].arena);
    return st;
}
