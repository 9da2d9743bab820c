// The oracle itself: on problems so small that one can see the answer, and against brute force over
// all sequences of bounded length.
#include "tests/unit/unit.h"

#include <stdio.h>

#include "solver/model/sequence.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

// Tries all sequences of at most `most` computations.
struct brute {
    const struct problem *p;
    struct arena *arena;
    bool free_order;
    int32_t most;
    int32_t at[16];
    const struct remat_front *front;
    bool reached[REMAT_DP_POINTS];
};

static void extend(struct brute *b, int32_t n) {
    const struct problem *p = b->p;
    struct sequence s = {b->at, n};
    struct sequence_facts f;
    assert_true(sequence_measure(p, s, b->arena, &f));
    if (f.wrong_at >= 0 && f.wrong_at < n)
        return;
    if (f.wrong_at == -1 && (b->free_order || sequence_is_given_order(s))) {
        int64_t least = remat_front_cost(b->front, f.peak_bytes);
        assert_true(least >= 0 && least <= f.cost); // nothing beats the oracle
        for (int k = 0; k < b->front->n; k++)
            if (b->front->at[k].budget_bytes == f.peak_bytes && b->front->at[k].cost == f.cost)
                b->reached[k] = true;
    }
    for (int32_t v = 0; n < b->most && v < p->n; v++) {
        b->at[n] = v;
        extend(b, n + 1);
    }
}

static void brute_force_agrees(void **state) {
    (void)state;
    int n_corners = 0;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){7, index, 4, index % 2}, &p),
            ST_OK);
        for (int free_order = 0; free_order < 2; free_order++) {
            assert_true(remat_dp(&p, free_order, &front));
            assert_true(front.n > 0);
            struct brute b = {.p = &p,
                              .arena = &s.arena,
                              .free_order = free_order,
                              .most = p.n < 4 ? 7 : 8,
                              .front = &front};
            extend(&b, 0);
            for (int k = 0; k < front.n; k++)
                assert_true(b.reached[k]); // and what the oracle claims can be done
            n_corners += front.n;
        }
        scene_close(&s);
    }
    assert_true(n_corners > 100);
}

static void a_training_chain(void **state) {
    (void)state;
    struct scene s;
    struct problem p;
    struct remat_front front;
    scene_open(&s);
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 4, 10, 1, &p), ST_OK);
    assert_true(remat_dp(&p, false, &front));
    // Keep-all holds the four forward outputs and the first gradient.
    assert_int_equal(front.at[0].budget_bytes, 50);
    assert_int_equal(front.at[0].cost, 8);
    // The least: a gradient with its three inputs.
    assert_int_equal(front.at[front.n - 1].budget_bytes, 40);
    assert_true(front.at[front.n - 1].cost > 8);
    assert_int_equal(remat_front_cost(&front, 49), front.at[1].cost);
    assert_int_equal(remat_front_cost(&front, 39), -1);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brute_force_agrees),
        cmocka_unit_test(a_training_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
