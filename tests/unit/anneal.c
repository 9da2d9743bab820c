// The local search: its incremental memory against a replay from scratch, its moves against the
// rules, its results against the exact dynamic program.
#include "tests/unit/unit.h"

#include "ir/base/rng.h"
#include "solver/anneal/anneal.h"
#include "solver/anneal/anneal_moves.h"
#include "solver/cuts/initial.h"
#include "solver/model/sequence.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

// What the state says must be what a replay of its sequence says.
static void state_agrees(struct state *st, struct arena *a) {
    struct sequence s = {ARENA_ARRAY(a, int32_t, st->n_runs), st->n_runs};
    struct sequence_facts facts;
    assert_int_equal(state_save(st, s.at), st->n_runs);
    assert_true(sequence_measure(st->p, s, a, &facts));
    if (!state_is_valid(st))
        return; // a replay of a wrong sequence has no peak
    assert_int_equal(facts.wrong_at, -1);
    assert_int_equal(facts.cost, st->cost);
    assert_int_equal(facts.peak_bytes, profile_peak(&st->profile) + st->p->persistent_bytes);
    assert_true((facts.peak_bytes > st->profile.limit + st->p->persistent_bytes) ==
                (st->profile.total_excess > 0));
}

// Some edits: insertions of nodes before random runs and removals of random runs.
static void random_edits(struct state *st, struct rng *r, int32_t n_edits) {
    int32_t slot = (int32_t)rng_below(r, (uint64_t)st->n_slots);
    while (st->node_at[slot] < 0)
        slot = (slot + 1) % st->n_slots;
    slot = state_room(st, slot, n_edits);
    assert_true(slot >= 0);
    for (int32_t i = 0; i < n_edits; i++) {
        int32_t node = (int32_t)rng_below(r, (uint64_t)st->p->n);
        if (!st->p->once[node])
            state_insert(st, node, slot - n_edits + i);
        int32_t gone = (int32_t)rng_below(r, (uint64_t)st->n_slots);
        if (st->node_at[gone] >= 0 && gone != slot)
            state_remove(st, gone);
    }
}

static void test_state_replays(void **unused) {
    (void)unused;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        scene_open(&s);
        struct problem p;
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){5, index, 40, false}, &p),
            ST_OK);
        struct state st;
        int64_t budget = problem_given_peak(&p, &s.arena) * 3 / 4;
        assert_true(state_make(&s.arena, &p, budget, &st));
        struct sequence given;
        assert_true(sequence_given(&p, &s.arena, &given));
        state_load(&st, given.at, given.n);
        state_agrees(&st, &s.arena);
        struct rng r = rng_make(7, index);
        for (int step = 0; step < 200; step++) {
            int64_t excess = st.profile.total_excess, cost = st.cost;
            random_edits(&st, &r, 1 + (int32_t)rng_below(&r, 3));
            if (rng_below(&r, 2) == 0 && state_is_valid(&st))
                random_edits(&st, &r, 2); // room in the middle of a move
            state_agrees(&st, &s.arena);
            if (!state_is_valid(&st) || rng_below(&r, 3) == 0) {
                state_undo(&st, 0);
                assert_int_equal(st.profile.total_excess, excess);
                assert_int_equal(st.cost, cost);
                state_agrees(&st, &s.arena);
            }
            state_commit(&st);
            assert_false(st.broken);
        }
        scene_close(&s);
    }
}

static struct sequence best_of(struct anneal *an) {
    return (struct sequence){an->best, an->n_best};
}

static void anneal_from_given(struct anneal *an, const struct problem *p, struct arena *a,
                              int64_t budget, bool free_order, int64_t n_moves) {
    struct sequence given;
    assert_true(sequence_given(p, a, &given));
    assert_true(anneal_make(a, p, budget, 3, 1, an));
    an->free_order = free_order;
    anneal_start(an, given.at, given.n);
    assert_true(anneal_run(an, n_moves, 2, 0.01, 0, NULL));
}

// On small problems the search finds the optimum at every budget that matters, and nothing better.
static void reaches_optimum(bool free_order) {
    int64_t n_hit = 0, n_all = 0;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        scene_open(&s);
        struct problem p;
        struct remat_front front;
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){11, index, 8, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, free_order, &front));
        for (int k = 0; k < front.n; k++) {
            struct anneal an;
            anneal_from_given(&an, &p, &s.arena, front.at[k].budget_bytes, free_order, 100000);
            n_all++;
            if (an.n_best == 0)
                continue;
            struct sequence_facts facts;
            assert_true(sequence_measure(&p, best_of(&an), &s.arena, &facts));
            assert_int_equal(facts.wrong_at, -1);
            assert_int_equal(facts.cost, an.best_cost);
            assert_true(facts.peak_bytes <= front.at[k].budget_bytes);
            assert_true(facts.cost >= front.at[k].cost);
            assert_true(free_order || sequence_is_given_order(best_of(&an)));
            n_hit += facts.cost == front.at[k].cost;
        }
        scene_close(&s);
    }
    assert_int_equal(n_hit, n_all);
}

static void test_optimum_given(void **unused) {
    (void)unused;
    reaches_optimum(false);
}

static void test_optimum_free(void **unused) {
    (void)unused;
    reaches_optimum(true);
}

// The start is right, follows the given order, runs `once` nodes once, and saves something
// somewhere.
static void test_start(void **unused) {
    (void)unused;
    int n_less = 0;
    for (uint64_t index = 0; index < 300; index++) {
        struct scene s;
        scene_open(&s);
        struct problem p;
        struct sequence start;
        struct sequence_facts facts;
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){41, index, 50, false}, &p),
            ST_OK);
        int64_t peak = problem_given_peak(&p, &s.arena);
        assert_true(initial_by_cuts(&p, peak * 4 / 5, NULL, &s.arena, &start));
        assert_true(sequence_measure(&p, start, &s.arena, &facts));
        assert_int_equal(facts.wrong_at, -1);
        assert_true(sequence_is_given_order(start));
        n_less += facts.peak_bytes < peak;
        scene_close(&s);
    }
    assert_true(n_less > 0);
}

// The same seed gives the same result, another one a result of its own right.
static void test_repeats(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct anneal one, two;
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 30, 10, 5, &p), ST_OK);
    int64_t budget = problem_given_peak(&p, &s.arena) / 2;
    anneal_from_given(&one, &p, &s.arena, budget, true, 30000);
    anneal_from_given(&two, &p, &s.arena, budget, true, 30000);
    assert_true(one.n_best > 0);
    assert_int_equal(one.n_best, two.n_best);
    assert_memory_equal(one.best, two.best, (size_t)one.n_best * sizeof *one.best);
    scene_close(&s);
}

// In a long sequence moves begin in one window after another; one without runs is no trap.
static void test_windows(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct anneal an;
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, ANNEAL_WINDOW, 10, 5, &p), ST_OK);
    anneal_from_given(&an, &p, &s.arena, problem_given_peak(&p, &s.arena) / 2, false, 0);
    const struct state *st = &an.st;
    int64_t before = st->profile.total_excess;
    assert_true(anneal_run(&an, 200000, 0.1, 0.01, 0, NULL));
    state_agrees(&an.st, &s.arena);
    assert_true(st->profile.total_excess < before);
    int32_t first = st->n_slots, last = 0;
    for (int k = 0; k < 100; k++) {
        anneal_change_window(&an);
        assert_true(an.window >= 0 && an.n_window <= ANNEAL_WINDOW);
        assert_true(an.window + an.n_window <= st->n_slots);
        int32_t slot = anneal_random_run(&an);
        assert_true(slot >= an.window && slot < an.window + an.n_window);
        first = slot < first ? slot : first;
        last = slot > last ? slot : last;
    }
    assert_true(first < st->n_slots / 4 && last > st->n_slots * 3 / 4);
    an.n_window = 1;
    for (an.window = 0; st->node_at[an.window] >= 0;)
        an.window++;
    assert_true(st->node_at[anneal_random_run(&an)] >= 0);
    scene_close(&s);
}

static void test_stops(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct anneal an;
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 30, 10, 5, &p), ST_OK);
    anneal_from_given(&an, &p, &s.arena, problem_given_peak(&p, &s.arena) / 2, false, 1000);
    struct stop stop = {.deadline_ns = STOP_NEVER};
    stop_raise(&stop, 1);
    int64_t before = an.n_moves;
    assert_true(anneal_run(&an, INT64_MAX / 2, 1, 0.1, 0, &stop));
    assert_int_equal(an.n_moves, before);
    scene_close(&s);
}

// Every allocation may fail: the search says so, and what it holds as best stays right.
static void test_out_of_memory(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct sequence given;
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 20, 10, 5, &p), ST_OK);
    assert_true(sequence_given(&p, &s.arena, &given));
    int64_t budget = problem_given_peak(&p, &s.arena) / 2;
    for (int64_t k = 0; k < 12; k++) {
        struct mem tight = mem_make(MEM_UNLIMITED);
        struct arena a = arena_make(&tight);
        struct anneal an;
        tight.fail_after = k;
        if (anneal_make(&a, &p, budget, 1, 1, &an)) {
            an.free_order = true;
            anneal_start(&an, given.at, given.n);
            anneal_run(&an, 5000, 2, 0.01, 0, NULL);
            tight.fail_after = -1;
            struct sequence_facts facts;
            if (an.n_best > 0) {
                assert_true(sequence_measure(&p, best_of(&an), &s.arena, &facts));
                assert_int_equal(facts.wrong_at, -1);
                assert_true(facts.peak_bytes <= budget);
            }
        }
        arena_free(&a);
        assert_int_equal(tight.used_bytes, 0);
    }
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_replays), cmocka_unit_test(test_optimum_given),
        cmocka_unit_test(test_optimum_free),  cmocka_unit_test(test_start),
        cmocka_unit_test(test_repeats),       cmocka_unit_test(test_stops),
        cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
