// The bound for all orders against the dynamic program over all orders: never above the optimum, at
// every budget that matters, and not idle.
#include "tests/unit/unit.h"

#include "solver/solve.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

static void the_bound_is_below_every_order(void **state) {
    (void)state;
    int n_cases = 0, n_raised = 0, n_tight = 0;
    for (uint64_t index = 0; index < 400; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){51, index, 8, index % 2}, &p),
            ST_OK);
        assert_true(remat_dp(&p, true, &front));
        for (int k = 0; k < front.n; k++) {
            struct solve_options o = solve_defaults();
            struct schedule out;
            o.method = "any-order";
            o.budget_bytes = front.at[k].budget_bytes;
            o.gap = 0;
            status st = solve(&p, &o, &(struct solve_hooks){0}, &s.arena, &s.diags, &out);
            assert_true(st == ST_OK || st == ST_NO_PLAN);
            assert_int_equal(out.n_refused, 0);
            assert_true(out.bound_any <= front.at[k].cost);
            assert_true(out.min_bytes <= front.at[front.n - 1].budget_bytes);
            if (front.at[k].cost == problem_base_cost(&p))
                continue;
            n_cases++;
            n_raised += out.bound_any > problem_base_cost(&p);
            n_tight += out.bound_any == front.at[k].cost;
        }
        scene_close(&s);
    }
    print_message("%d cases need recomputation: bound raised in %d, equal to the optimum in %d\n",
                  n_cases, n_raised, n_tight);
    assert_true(n_cases > 100 && n_raised * 2 > n_cases && n_tight * 4 > n_cases);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_is_below_every_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
