// The placement search on several threads: the result does not depend on their number, the checker
// refuses none of its strategies, and no result is below its lower bound.
#include "tests/unit/random_placement.h"

#include <math.h>

#include "solver/place.h"

enum { PROBLEMS = 12, THREADS = 4, WORK = 40000 };

// Called by several threads at once.
static double mixed_value(void *context, const struct mcmc_values *v) {
    return v->makespan + *(const double *)context * v->moved_bytes;
}

static struct place_options options_of(int32_t k, int32_t threads) {
    static double weight = 0.5;
    struct place_options o = place_defaults();
    o.objective.goal = (enum mcmc_goal)(k % 3);
    o.objective.value = mixed_value;
    o.objective.context = &weight;
    o.seconds = 0;
    o.work = WORK;
    o.seed = (uint64_t)k;
    o.threads = threads;
    return o;
}

static void count_improvement(void *context, const struct place_event *event,
                              const struct strategy *best, const struct strategy_facts *facts) {
    int32_t *n = context;
    assert_true(best->n > 0 && facts->excess_bytes == 0);
    assert_true(event->makespan_cost == facts->makespan_cost);
    *n += 1;
}

static void search(struct scene *s, const struct placement *p, int32_t k, int32_t threads,
                   struct place_result *out) {
    struct place_options o = options_of(k, threads);
    int32_t n_improved = 0;
    struct place_hooks hooks = {.improved = count_improvement, .context = &n_improved};
    status st = place(p, &o, &hooks, &s->arena, &s->diags, out);
    assert_true(st == ST_OK || st == ST_NO_PLAN);
    assert_int_equal(n_improved, out->curve.n);
    assert_int_equal(out->n_refused, 0);
    assert_int_equal(s->diags.list.n, 0);
    if (o.objective.goal == MCMC_CUSTOM)
        assert_true(out->bound == -INFINITY);
    else if (st == ST_OK)
        assert_true(out->value >= out->bound);
}

static void the_same_on_any_number_of_threads(void **state) {
    (void)state;
    int32_t n_found = 0, n_exchanged = 0;
    for (int32_t k = 0; k < PROBLEMS; k++) {
        struct scene s;
        struct placement p;
        struct place_result one, several;
        const struct random_shape shape = {.max_nodes = 40,
                                           .n_devices = 2 + k % 2,
                                           .groups = k % 2,
                                           .once = true,
                                           .sizes = true,
                                           .odd_links = true,
                                           .memory = k % 4 ? 60 + 20 * k : 0};
        scene_open(&s);
        random_placement(&s, (uint64_t)k, &shape, &p);
        search(&s, &p, k, 1, &one);
        search(&s, &p, k, THREADS, &several);
        assert_int_equal(one.n_proposals, several.n_proposals);
        assert_int_equal(one.n_exchanges, several.n_exchanges);
        assert_int_equal(one.best.n, several.best.n);
        if (one.best.n > 0)
            assert_memory_equal(one.best.at, several.best.at,
                                (size_t)one.best.n * sizeof *one.best.at);
        n_found += one.best.n > 0;
        n_exchanged += several.n_exchanges > 0;
        scene_close(&s);
    }
    assert_true(n_found > PROBLEMS / 2 && n_exchanged > PROBLEMS / 2);
}

// A stop that another thread raises ends the search.
static void raise_stop(void *context, const struct place_event *event, const struct strategy *best,
                       const struct strategy_facts *facts) {
    (void)event, (void)best, (void)facts;
    stop_raise(context, 15);
}

static void a_stop_ends_all_threads(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    struct place_result r;
    struct stop stop = {.deadline_ns = STOP_NEVER};
    const struct random_shape shape = {
        .max_nodes = 40, .n_devices = 3, .sizes = true, .memory = 150};
    struct place_options o = options_of(0, THREADS);
    struct place_hooks hooks = {.improved = raise_stop, .context = &stop, .stop = &stop};
    scene_open(&s);
    random_placement(&s, 7, &shape, &p);
    o.work = INT64_MAX / 2;
    assert_int_equal(place(&p, &o, &hooks, &s.arena, &s.diags, &r), ST_OK);
    assert_int_equal(r.n_refused, 0);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_on_any_number_of_threads),
                                       cmocka_unit_test(a_stop_ends_all_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
