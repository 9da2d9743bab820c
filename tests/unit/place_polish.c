// Polished strategies are executable and never worse; useless recomputation goes.
#include "solver/place/place_polish.h"

#include "solver/place.h"
#include "tests/unit/random_placement.h"

static const struct mcmc_objective latency = {.goal = MCMC_LATENCY};

static struct strategy_facts replay(struct scene *sc, const struct placement *p,
                                    const struct strategy *s) {
    struct strategy_facts f;
    assert_int_equal(strategy_replay(p, s, &sc->arena, &sc->diags, &f), ST_OK);
    return f;
}

static bool polish(struct scene *sc, const struct placement *p, struct strategy *s) {
    struct stop stop = {.deadline_ns = STOP_NEVER};
    struct polish_effort effort = {.stop = &stop, .work_per_node = 2, .gap = 0.001, .seed = 1};
    struct strategy out;
    struct strategy_facts before = replay(sc, p, s);
    assert_int_equal(place_polish(p, &latency, &effort, *s, &sc->arena, &out), ST_OK);
    if (out.n == 0)
        return false;
    struct strategy_facts after = replay(sc, p, &out);
    assert_true(
        after.excess_bytes < before.excess_bytes ||
        (after.excess_bytes == before.excess_bytes && after.makespan_cost < before.makespan_cost));
    *s = out;
    return true;
}

// States of short searches, with everything that they may hold.
static void random_states(void **state) {
    (void)state;
    int n_better = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct scene sc;
        struct placement p;
        struct mcmc c;
        struct strategy s;
        struct random_shape shape = {.max_nodes = 24,
                                     .n_devices = 1 + (int32_t)(seed % 3),
                                     .groups = seed % 4 == 0,
                                     .once = seed % 2,
                                     .sizes = true,
                                     .odd_links = true,
                                     .memory = 70};
        struct mcmc_allowed all = {true, true, true, true, true};
        scene_open(&sc);
        random_placement(&sc, seed, &shape, &p);
        assert_int_equal(place_initial(&p, true, &sc.arena, &s, 1), 1);
        assert_true(mcmc_make(&sc.arena, &p, &latency, all, rng_make(seed, 0), &c) &&
                    mcmc_start(&c, &s));
        c.temperature = 0.2; // hot, so that there is something to polish
        mcmc_run(&c, 300, NULL);
        s = (struct strategy){ARENA_ARRAY(&sc.arena, struct task, c.sim.n_in), c.sim.n_in};
        sim_save(&c.sim, s.at);
        n_better += polish(&sc, &p, &s);
        scene_close(&sc);
    }
    assert_true(n_better > 5);
}

// Everything runs twice in a row on one device with plenty of memory: once is enough.
static void what_is_for_nothing_goes(void **state) {
    (void)state;
    struct scene sc;
    struct placement p;
    struct random_shape shape = {.max_nodes = 24, .n_devices = 1, .sizes = true};
    scene_open(&sc);
    random_placement(&sc, 3, &shape, &p);
    struct strategy s = {ARENA_ARRAY(&sc.arena, struct task, 2 * p.graph.n), 2 * p.graph.n};
    for (int32_t k = 0; k < s.n; k++)
        s.at[k] = (struct task){k / 2, 0, TASK_RUN};
    assert_true(polish(&sc, &p, &s));
    assert_int_equal(s.n, p.graph.n);
    scene_close(&sc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_states),
        cmocka_unit_test(what_is_for_nothing_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
