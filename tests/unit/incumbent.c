// What a run believes: schedules over bounds, and bounds in integers over those of a solver in
// floating point.
#include "tests/unit/unit.h"

#include "solver/cuts/initial.h"
#include "solver/incumbent.h"
#include "tests/oracle/random_problem.h"

// A schedule refutes a false bound; bounds proven exactly stay.
static void a_lie_costs_only_itself(void **state) {
    (void)state;
    struct scene s;
    struct problem p;
    struct sequence good;
    struct sequence_facts facts;
    scene_open(&s);
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 20, 10, 5, &p), ST_OK);
    struct solve_options o = solve_defaults();
    o.budget_bytes = problem_given_peak(&p, &s.arena) / 2;
    assert_true(initial_by_cuts(&p, o.budget_bytes, NULL, &s.arena, &good));
    assert_true(sequence_measure(&p, good, &s.arena, &facts));
    assert_true(facts.peak_bytes <= o.budget_bytes && facts.cost > problem_base_cost(&p) + 1);

    struct incumbent best;
    struct stop stop = {.deadline_ns = STOP_NEVER};
    struct solve_run r = {.p = &p,
                          .options = &o,
                          .arena = &s.arena,
                          .diags = &s.diags,
                          .stop = &stop,
                          .base_cost = problem_base_cost(&p),
                          .floor_bytes = problem_floor(&p, NULL),
                          .best = &best};
    incumbent_open(&best, s.arena.mem, &(struct solve_hooks){0}, o.free_order, r.base_cost);
    int64_t exact = facts.cost - 1, least = r.floor_bytes + 1;
    solve_bound_exact(&r, true, exact, 'O');
    solve_infeasible(&r, true, true, least, NULL, 0);
    solve_bound_any(&r, facts.cost + 5, 'C');
    solve_infeasible(&r, true, false, o.budget_bytes + 1, NULL, 0);
    assert_int_equal(solve_best_bound(&r), facts.cost + 5);
    assert_true(solve_settled(&r)); // as far as it is told, nothing fits
    assert_true(solve_offer(&r, good, 'A'));
    assert_int_equal(solve_best_bound(&r), exact);
    assert_int_equal(best.min_bytes, least);
    assert_int_equal(best.n_refuted, 2);
    assert_int_equal(best.n_refused, 0);
    // Once there is a schedule, a bound above it is not taken at all.
    solve_bound_any(&r, facts.cost + 5, 'C');
    assert_int_equal(solve_best_bound(&r), exact);
    solve_bound_any(&r, facts.cost, 'C');
    assert_true(solve_settled(&r));
    incumbent_close(&best);
    scene_close(&s);
}

// A schedule that cannot run is not taken, and is counted in the result.
static void a_wrong_schedule_is_refused_and_counted(void **state) {
    (void)state;
    struct scene s;
    struct problem p;
    struct schedule out;
    struct step last = {STEP_COMPUTE, 0};
    scene_open(&s);
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 20, 10, 5, &p), ST_OK);
    last.node = p.n - 1; // without its inputs
    struct steps wrong = {&last, 1};
    struct solve_options o = solve_defaults();
    o.method = "keep-all";
    assert_int_equal(solve(&p, &o, &(struct solve_hooks){0}, &s.arena, &s.diags, &out), ST_OK);
    assert_int_equal(out.n_refused, 0);
    o.method = "portfolio";
    o.initial = &wrong;
    o.n_initial = 1;
    assert_int_equal(solve(&p, &o, &(struct solve_hooks){0}, &s.arena, &s.diags, &out), ST_OK);
    assert_int_equal(out.n_refused, 1);
    assert_int_equal(out.cost, problem_base_cost(&p));
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lie_costs_only_itself),
        cmocka_unit_test(a_wrong_schedule_is_refused_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
