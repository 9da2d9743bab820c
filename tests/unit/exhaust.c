// The exact search of small problems: the dynamic program's optimum at every corner of the
// trade-off, with its proof, and a proof of infeasibility below the last; larger problems in
// moments; limits.
#include "tests/unit/unit.h"

#include "solver/exhaust/exhaust.h"
#include "solver/solve.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

static status run(struct scene *s, const struct problem *p, int64_t budget, bool free_order,
                  struct schedule *out) {
    struct solve_options o = solve_defaults();
    o.method = "exact";
    o.budget_bytes = budget;
    o.free_order = free_order;
    o.seconds = 0;
    status st = solve(p, &o, &(struct solve_hooks){0}, &s->arena, &s->diags, out);
    assert_int_equal(out->n_refused, 0);
    return st;
}

static void one_problem(uint64_t index, bool free_order) {
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct remat_front front;
    struct schedule out;
    assert_int_equal(
        random_problem(&s.arena, &s.diags, (struct random_spec){77, index, 8, index % 2}, &p),
        ST_OK);
    assert_true(remat_dp(&p, free_order, &front));
    for (int k = 0; k < front.n; k++) {
        assert_int_equal(run(&s, &p, front.at[k].budget_bytes, free_order, &out), ST_OK);
        assert_int_equal(out.cost, front.at[k].cost);
        assert_int_equal(out.outcome, OUTCOME_OPTIMAL);
    }
    int64_t least = front.at[front.n - 1].budget_bytes;
    assert_int_equal(run(&s, &p, least - 1, free_order, &out), ST_INFEASIBLE);
    assert_int_equal(out.min_bytes, least);
    scene_close(&s);
}

static void test_optimum(void **unused) {
    (void)unused;
    for (uint64_t index = 0; index < 100; index++) {
        one_problem(index, false);
        one_problem(index, true);
    }
}

// A step of 20 layers at half of its memory, where the integer program took seconds.
static void test_step(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct schedule out;
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 20, 10, 5, &p), ST_OK);
    int64_t budget = problem_given_peak(&p, &s.arena) / 2;
    assert_int_equal(run(&s, &p, budget, true, &out), ST_OK);
    assert_int_equal(out.outcome, OUTCOME_OPTIMAL);
    scene_close(&s);
}

static void test_too_many(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct schedule out;
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, EXHAUST_MAX_NODES / 2 + 1, 10, 5, &p),
                     ST_OK);
    assert_int_equal(run(&s, &p, problem_given_peak(&p, &s.arena) / 2, true, &out), ST_USAGE);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
