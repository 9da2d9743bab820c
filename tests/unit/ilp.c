// solver/ilp: the lazy integer program against the dynamic program over retained sets, at every
// budget that matters.
#include "tests/unit/unit.h"

#include "solver/ilp.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

static void solve_case(struct scene *s, const struct problem *p, int64_t budget, enum ilp_kind kind,
                       struct ilp_result *r) {
    struct ilp_task task = {.p = p, .budget_bytes = budget, .kind = kind};
    assert_true(ilp_solve(&task, &s->arena, r));
    if (r->best.n > 0) {
        struct sequence_facts facts;
        assert_true(sequence_measure(p, r->best, &s->arena, &facts));
        assert_int_equal(facts.wrong_at, -1);
        assert_int_equal(facts.cost, r->cost);
        assert_true(facts.peak_bytes <= budget);
        assert_true(sequence_is_given_order(r->best));
    }
}

// The bound is never above the optimum, the schedule never below.
static void optimum_lies_between(void **state) {
    (void)state;
    int n_cases = 0, n_recompute = 0, n_proven = 0;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(random_problem(&s.arena, &s.diags, 7, index, 8, false, &p), ST_OK);
        assert_true(remat_dp(&p, false, &front));
        for (int k = 0; k < front.n; k++)
            for (int kind = ILP_LAZY; kind <= ILP_F3Z; kind++) {
                struct ilp_result r;
                int64_t best = front.at[k].cost;
                solve_case(&s, &p, front.at[k].budget_bytes, (enum ilp_kind)kind, &r);
                assert_true(r.bound <= best && r.cost >= best);
                assert_false(r.denied);
                n_cases++;
                n_recompute += best > problem_base_cost(&p);
                n_proven += r.proven;
            }
        scene_close(&s);
    }
    assert_true(n_recompute * 4 >= n_cases);
    assert_true(n_proven * 10 >= n_cases * 9);
}

// One byte below the least budget, the program says so, and the bound on the budget is true.
static void the_least_budget(void **state) {
    (void)state;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(random_problem(&s.arena, &s.diags, 8, index, 8, false, &p), ST_OK);
        assert_true(remat_dp(&p, false, &front));
        struct ilp_result r;
        solve_case(&s, &p, problem_given_peak(&p, &s.arena), ILP_LEAST, &r);
        int64_t least = front.at[front.n - 1].budget_bytes;
        assert_true(r.least_bytes <= least && r.known_bytes >= least);
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(optimum_lies_between),
        cmocka_unit_test(the_least_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
