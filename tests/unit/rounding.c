// solver/rounding and the methods over integer programs, through the door of solve().
#include "tests/unit/unit.h"

#include <string.h>

#include "solver/check/schedule_check.h"
#include "solver/solve.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

static status run(struct scene *s, const struct problem *p, const char *method, int64_t budget,
                  struct schedule *out) {
    struct solve_options o = solve_defaults();
    o.method = method;
    o.budget_bytes = budget;
    o.free_order = false;
    o.gap = 0;
    o.seconds = 0;
    o.seed = 5;
    status st = solve(p, &o, &(struct solve_hooks){0}, &s->arena, &s->diags, out);
    assert_int_equal(out->n_refused, 0);
    return st;
}

// The schedule survives its check, fits, and lies with its bound around the optimum.
static void check_answer(struct scene *s, const struct problem *p, int64_t budget, int64_t optimum,
                         status st, const struct schedule *out) {
    assert_true(st == ST_OK || st == ST_NO_PLAN);
    if (out->bound != BOUND_NONE)
        assert_true(out->bound <= optimum);
    if (st != ST_OK)
        return;
    assert_int_equal(schedule_check(p, out, &s->arena, &s->diags), ST_OK);
    assert_true(out->peak_bytes <= budget && out->cost >= optimum);
    assert_true(out->outcome != OUTCOME_OPTIMAL || out->cost == optimum);
}

static void rounding_stays_in_budget(void **state) {
    (void)state;
    int n_cases = 0, n_found = 0;
    double ratio = 0;
    for (uint64_t index = 0; index < 40; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){11, index, 8, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, false, &front));
        for (int k = 0; k < front.n; k++) {
            struct schedule out;
            status st = run(&s, &p, "rounding", front.at[k].budget_bytes, &out);
            check_answer(&s, &p, front.at[k].budget_bytes, front.at[k].cost, st, &out);
            n_cases++;
            n_found += st == ST_OK;
            if (st == ST_OK && front.at[k].cost > 0)
                ratio += (double)out.cost / (double)front.at[k].cost - 1;
        }
        scene_close(&s);
    }
    assert_true(n_found * 4 >= n_cases * 3);
    assert_true(ratio <= 0.06 * n_found);
}

static void programs_prove_the_optimum(void **state) {
    (void)state;
    static const char *const methods[] = {"ilp", "f3", "f3z", "checkmate", "lp-bound"};
    for (uint64_t index = 0; index < 12; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){12, index, 7, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, false, &front));
        for (int k = 0; k < front.n; k++)
            for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
                struct schedule out;
                status st = run(&s, &p, methods[m], front.at[k].budget_bytes, &out);
                check_answer(&s, &p, front.at[k].budget_bytes, front.at[k].cost, st, &out);
                if (m < 3)
                    assert_int_equal(out.outcome, OUTCOME_OPTIMAL);
            }
        scene_close(&s);
    }
}

// Below the least budget of the given order, that is proven.
static void infeasible_is_proven(void **state) {
    (void)state;
    int n_proven = 0, n_cases = 0;
    for (uint64_t index = 0; index < 30; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        struct schedule out;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){13, index, 8, true}, &p),
            ST_OK);
        assert_true(remat_dp(&p, false, &front));
        int64_t least = front.at[front.n - 1].budget_bytes;
        status st = run(&s, &p, "ilp", least - 1, &out);
        assert_true(st == ST_INFEASIBLE || st == ST_NO_PLAN);
        assert_true(out.min_bytes <= least);
        n_cases++;
        n_proven += st == ST_INFEASIBLE && out.min_bytes == least;
        scene_close(&s);
    }
    assert_true(n_proven * 10 >= n_cases * 9);
}

static void same_seed_same_schedule(void **state) {
    (void)state;
    static const char *const methods[] = {"ilp", "rounding"};
    for (size_t m = 0; m < 2; m++) {
        struct scene s;
        struct problem p;
        struct schedule first, again;
        scene_open(&s);
        assert_int_equal(random_problem_chain(&s.arena, &s.diags, 12, 10, 3, &p), ST_OK);
        int64_t budget = problem_given_peak(&p, &s.arena) * 6 / 10;
        assert_int_equal(run(&s, &p, methods[m], budget, &first), ST_OK);
        assert_int_equal(run(&s, &p, methods[m], budget, &again), ST_OK);
        assert_int_equal(first.cost, again.cost);
        assert_int_equal(first.steps.n, again.steps.n);
        for (int32_t k = 0; k < first.steps.n; k++) {
            assert_int_equal(first.steps.at[k].kind, again.steps.at[k].kind);
            assert_int_equal(first.steps.at[k].node, again.steps.at[k].node);
        }
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_stays_in_budget),
        cmocka_unit_test(programs_prove_the_optimum),
        cmocka_unit_test(infeasible_is_proven),
        cmocka_unit_test(same_seed_same_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
