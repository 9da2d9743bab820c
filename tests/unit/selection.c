// Project selection against all selections, and the Lagrangian relaxation of a cut against what it
// stands for.
#include "tests/unit/unit.h"

#include <math.h>

#include "ir/base/rng.h"
#include "solver/cuts/initial.h"
#include "solver/cuts/lagrangian_cut.h"
#include "solver/model/sequence.h"
#include "solver/model/sequence_problem.h"
#include "tests/oracle/random_problem.h"

enum { PROJECTS = 10, TOOLS = 8, CASES = 2000 };

static void make_selection(struct arena *a, struct rng *rng, struct selection *s) {
    *s = (struct selection){.n_projects = 1 + (int32_t)rng_below(rng, PROJECTS),
                            .n_tools = (int32_t)rng_below(rng, TOOLS + 1),
                            .need_start = ARENA_ARRAY(a, int32_t, PROJECTS + 1),
                            .need_of = ARENA_ARRAY(a, int32_t, PROJECTS * TOOLS),
                            .profit = ARENA_ARRAY(a, int64_t, PROJECTS),
                            .price = ARENA_ARRAY(a, int64_t, TOOLS),
                            .taken = ARENA_ARRAY(a, bool, PROJECTS)};
    int32_t n = 0;
    for (int32_t i = 0; i < s->n_projects; i++) {
        s->profit[i] = (int64_t)rng_below(rng, 20);
        for (int32_t t = 0; t < s->n_tools; t++)
            if (rng_below(rng, 3) == 0)
                s->need_of[n++] = t;
        s->need_start[i + 1] = n;
    }
    for (int32_t t = 0; t < s->n_tools; t++)
        s->price[t] = (int64_t)rng_below(rng, 25);
}

static int64_t value_of(const struct selection *s, uint32_t taken) {
    uint32_t bought = 0;
    int64_t value = 0;
    for (int32_t i = 0; i < s->n_projects; i++) {
        if (!(taken >> i & 1))
            continue;
        value += s->profit[i];
        for (int32_t e = s->need_start[i]; e < s->need_start[i + 1]; e++)
            bought |= 1u << s->need_of[e];
    }
    for (int32_t t = 0; t < s->n_tools; t++)
        value -= bought >> t & 1 ? s->price[t] : 0;
    return value;
}

static void the_best_selection_is_found(void **state) {
    (void)state;
    int n_some = 0;
    for (uint64_t index = 0; index < CASES; index++) {
        struct scene scene;
        struct selection s;
        struct rng rng = rng_make(7, index);
        scene_open(&scene);
        make_selection(&scene.arena, &rng, &s);
        assert_true(selection_solve(&s, scene.arena.mem, NULL));
        int64_t most = 0;
        uint32_t taken = 0;
        for (uint32_t set = 0; set < 1u << s.n_projects; set++)
            most = value_of(&s, set) > most ? value_of(&s, set) : most;
        for (int32_t i = 0; i < s.n_projects; i++)
            taken |= s.taken[i] ? 1u << i : 0;
        assert_int_equal(s.value, most);
        assert_int_equal(value_of(&s, taken), most);
        n_some += most > 0;
        scene_close(&scene);
    }
    assert_true(n_some > CASES / 4);
}

// What a choice at a price reports is what its nodes say, and no price holds less than the
// price without limit.
static void a_choice_is_what_it_says(void **state) {
    (void)state;
    int n_tight = 0;
    for (uint64_t index = 0; index < 300; index++) {
        struct scene s;
        struct problem p;
        struct lagrangian_cut cut;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){52, index, 12, index % 2}, &p),
            ST_OK);
        int32_t q = (int32_t)(index % (uint64_t)p.n);
        assert_true(lagrangian_cut_make(&cut, &p, q, NULL, p.once, &s.arena));
        assert_true(lagrangian_cut_price(&cut, INFINITY));
        int64_t least = cut.held_bytes;
        for (double price = 1e-3; price < 1e4; price *= 10) {
            assert_true(lagrangian_cut_price(&cut, price));
            assert_true(cut.held_bytes >= least);
            int64_t cost = 0;
            for (int32_t k = 0; k < cut.selection.n_projects; k++)
                cost += cut.selection.taken[k] ? p.cost[cut.project[k]] : 0;
            assert_int_equal(cost, cut.extra_cost);
            double value = (double)cost + price * (double)(cut.held_bytes - cut.persistent_bytes);
            double proven = (double)cut.min_value / cut.cost_scale;
            assert_true(proven <= value * (1 + 1e-9) + 1e-9);
            double largest = 0;
            for (int32_t i = 0; i < p.n; i++)
                largest = fmax(largest, price * cut.cost_scale * (double)p.bytes[i]);
            if (largest < 1e11) // above, prices are cut off
                assert_true(value <= proven * (1 + 1e-6) + 1e-3);
            n_tight += largest < 1e11;
        }
        scene_close(&s);
    }
    assert_true(n_tight > 1000);
}

// An unrolled sequence costs and holds what the sequence does.
static void an_unrolled_sequence_is_the_same(void **state) {
    (void)state;
    int n_recomputed = 0;
    for (uint64_t index = 0; index < 200; index++) {
        struct scene s;
        struct problem p, order;
        struct sequence start, given;
        struct sequence_facts facts, unrolled;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){53, index, 12, true}, &p),
            ST_OK);
        int64_t peak = problem_given_peak(&p, &s.arena);
        assert_true(initial_by_cuts(&p, peak * 3 / 4, NULL, &s.arena, &start));
        assert_true(unroll(&p, start, &s.arena, &order));
        assert_true(sequence_measure(&p, start, &s.arena, &facts));
        assert_true(sequence_given(&order, &s.arena, &given));
        assert_true(sequence_measure(&order, given, &s.arena, &unrolled));
        assert_int_equal(facts.wrong_at, -1);
        assert_int_equal(unrolled.wrong_at, -1);
        assert_int_equal(facts.peak_bytes, unrolled.peak_bytes);
        assert_int_equal(facts.peak_at, unrolled.peak_at);
        assert_int_equal(facts.cost, unrolled.cost);
        n_recomputed += start.n > p.n;
        scene_close(&s);
    }
    assert_true(n_recomputed > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_selection_is_found),
        cmocka_unit_test(a_choice_is_what_it_says),
        cmocka_unit_test(an_unrolled_sequence_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
