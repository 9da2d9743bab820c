// solver baselines: right on any graph, and of the published size on chains.
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/rng.h"
#include "solver/baselines/articulation.h"
#include "solver/baselines/reversal.h"
#include "solver/solve.h"
#include "tests/oracle/random_problem.h"

static int n_components(const struct problem *p, int32_t n, int32_t without) {
    int32_t group[64];
    int count = 0;
    for (int32_t i = 0; i < n; i++)
        group[i] = i;
    for (int round = 0; round < n; round++)
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = p->in_start[i]; k < p->in_start[i + 1]; k++) {
                int32_t j = p->in_of[k];
                if (i == without || j == without)
                    continue;
                int32_t low = group[i] < group[j] ? group[i] : group[j];
                group[i] = group[j] = low;
            }
    for (int32_t i = 0; i < n; i++)
        count += i != without && group[i] == i;
    return count;
}

static void articulation_points_split_the_graph(void **state) {
    (void)state;
    int n_points = 0;
    for (uint64_t index = 0; index < 1000; index++) {
        struct scene s;
        struct problem p;
        bool is_point[64];
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){11, index, 14, true}, &p),
            ST_OK);
        int32_t n = p.n - (int32_t)(index % 3);
        n = n < 1 ? 1 : n;
        assert_true(articulation_points(&p, n, &s.arena, is_point));
        int before = n_components(&p, n, -1);
        for (int32_t v = 0; v < n; v++) {
            assert_int_equal(is_point[v], n_components(&p, n, v) > before);
            n_points += is_point[v];
        }
        scene_close(&s);
    }
    assert_true(n_points > 300);
}

// Any cuts, any style, any plan: the sequence is right, in the given order, and runs `once` nodes
// once.
static void reversals_are_right_on_any_graph(void **state) {
    (void)state;
    for (uint64_t index = 0; index < 2000; index++) {
        struct scene s;
        struct problem p;
        struct reversal r;
        struct sequence q;
        struct sequence_facts f;
        bool ends[64];
        struct rng rng = rng_make(3, index);
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){13, index, 30, index % 2}, &p),
            ST_OK);
        int32_t n_forward = 1 + (int32_t)rng_below(&rng, (uint64_t)p.n);
        for (int32_t i = 0; i < n_forward; i++)
            ends[i] = rng_below(&rng, 3) == 0;
        struct reversal_style style = {rng_below(&rng, 2) == 0,
                                       rng_below(&rng, 2) ? REVERSAL_SOON : REVERSAL_LATE};
        int32_t states = 1 + (int32_t)rng_below(&rng, 6);
        assert_true(reversal_make(&p, &s.arena, n_forward, ends, style, &r));
        if (rng_below(&rng, 2))
            reversal_binomial(&r, states);
        else
            reversal_multilevel(&r, states);
        assert_true(reversal_finish(&r, &q));
        assert_true(sequence_measure(&p, q, &s.arena, &f));
        assert_int_equal(f.wrong_at, -1);
        assert_true(sequence_is_given_order(q));
        scene_close(&s);
    }
}

static status run(struct scene *s, const struct problem *p, const char *method, int64_t budget,
                  struct schedule *out) {
    struct solve_options o = solve_defaults();
    o.method = method;
    o.budget_bytes = budget;
    status st = solve(p, &o, &(struct solve_hooks){0}, &s->arena, &s->diags, out);
    assert_int_equal(out->n_refused, 0);
    return st;
}

// A chain of L layers: sqrt(L) checkpoints and a segment of sqrt(L), for at most one more forward.
static void chen_takes_the_square_root(void **state) {
    (void)state;
    static const int32_t layers[] = {10000, 40000};
    for (size_t k = 0; k < 2; k++) {
        struct scene s;
        struct problem p;
        struct schedule out;
        scene_open(&s);
        assert_int_equal(random_problem_chain(&s.arena, &s.diags, layers[k], 1000, 7, &p), ST_OK);
        assert_int_equal(run(&s, &p, "chen-sqrt-linear", BUDGET_NONE, &out), ST_OK);
        double formula = 2 * sqrt(layers[k]) * 1000;
        assert_true(fabs((double)out.peak_bytes - formula) <= 0.01 * formula);
        assert_true(out.cost <= out.base_cost + 7 * (int64_t)layers[k]);
        assert_int_equal(run(&s, &p, "chen-sqrt", BUDGET_NONE, &out), ST_OK);
        assert_true(fabs((double)out.peak_bytes - formula) <= 0.01 * formula);
        scene_close(&s);
    }
}

// One state a level: every doubling of the chain costs one more state, and one more forward pass.
static void recursion_takes_the_logarithm(void **state) {
    (void)state;
    int64_t before = 0;
    for (int32_t level = 3; level <= 13; level++) {
        struct scene s;
        struct problem p;
        struct reversal r;
        struct sequence q;
        struct sequence_facts f;
        scene_open(&s);
        int32_t n = 1 << level;
        assert_int_equal(random_problem_chain(&s.arena, &s.diags, n, 1, 1, &p), ST_OK);
        bool *ends = ARENA_ARRAY(&s.arena, bool, n);
        memset(ends, true, (size_t)n);
        assert_true(reversal_make(&p, &s.arena, n, ends,
                                  (struct reversal_style){false, REVERSAL_LATE}, &r));
        reversal_multilevel(&r, 1);
        assert_true(reversal_finish(&r, &q));
        assert_true(sequence_measure(&p, q, &s.arena, &f));
        assert_true(f.peak_bytes <= level + 4);
        assert_true(before == 0 || f.peak_bytes <= before + 1);
        assert_true(f.cost <= 2 * n + (int64_t)n * level);
        before = f.peak_bytes;
        struct schedule out;
        if (level <= 9)
            assert_int_equal(run(&s, &p, "recursive", level + 4, &out), ST_OK);
        scene_close(&s);
    }
}

#define STEPS 60
#define SLOTS 8

// The fewest reruns by dynamic programming over where the next state goes.
static void fewest_reruns(int64_t t[STEPS + 1][SLOTS + 1]) {
    for (int n = 1; n <= STEPS; n++)
        for (int c = 1; c <= SLOTS; c++) {
            t[n][c] = c == 1 ? (int64_t)n * (n - 1) / 2 : INT64_MAX;
            for (int m = 1; c > 1 && m < n; m++) {
                int64_t cost = m + t[n - m][c - 1] + t[m][c];
                t[n][c] = cost < t[n][c] ? cost : t[n][c];
            }
            if (n == 1)
                t[n][c] = 0;
        }
}

static void the_binomial_schedule_is_the_best_one(void **state) {
    (void)state;
    static int64_t t[STEPS + 1][SLOTS + 1];
    fewest_reruns(t);
    for (int32_t n = 2; n <= STEPS; n++)
        for (int32_t c = 1; c <= SLOTS; c++) {
            struct scene s;
            struct problem p;
            struct reversal r;
            bool ends[STEPS];
            struct sequence q;
            struct sequence_facts f;
            scene_open(&s);
            memset(ends, true, sizeof ends);
            assert_int_equal(random_problem_chain(&s.arena, &s.diags, n, 1, 1, &p), ST_OK);
            assert_true(reversal_make(&p, &s.arena, n, ends,
                                      (struct reversal_style){false, REVERSAL_LATE}, &r));
            reversal_binomial(&r, c);
            assert_true(reversal_finish(&r, &q));
            assert_true(sequence_measure(&p, q, &s.arena, &f));
            // Advances are t; that many or fewer, since a state that is still there is not rerun.
            assert_true(f.cost <= 2 * n + t[n][c]);
            // The stored states, the pair that a gradient reads, and two gradients.
            assert_true(f.peak_bytes <= c + 4);
            scene_close(&s);
        }
}

static void every_baseline_answers(void **state) {
    (void)state;
    size_t n;
    const struct solve_method *m = solve_methods(&n);
    for (uint64_t index = 0; index < 40; index++) {
        struct scene s;
        struct problem p;
        struct schedule out;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){17, index, 40, true}, &p),
            ST_OK);
        int64_t given = problem_given_peak(&p, &s.arena);
        for (size_t k = 0; k < n; k++) {
            if (!m[k].baseline)
                continue;
            for (int64_t percent = 60; percent <= 120; percent += 20) {
                int64_t budget = given * percent / 100;
                status st = run(&s, &p, m[k].name, budget, &out);
                if (st == ST_OK)
                    assert_true(out.peak_bytes <= budget && out.steps.n > 0);
                else
                    assert_true(st == ST_NO_PLAN || st == ST_INFEASIBLE);
                if (st == ST_NO_PLAN) // it says what it would need
                    assert_true(out.known_bytes > budget);
            }
        }
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(articulation_points_split_the_graph),
        cmocka_unit_test(reversals_are_right_on_any_graph),
        cmocka_unit_test(chen_takes_the_square_root),
        cmocka_unit_test(recursion_takes_the_logarithm),
        cmocka_unit_test(the_binomial_schedule_is_the_best_one),
        cmocka_unit_test(every_baseline_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
