// solver/ilp: the lazy integer program against the dynamic program over retained sets, at every
// budget that matters.
#include "tests/unit/unit.h"

#include "solver/mip/ilp.h"
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

static void the_optimum_is_proven(void **state) {
    (void)state;
    int n_cases = 0, n_recompute = 0;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){7, index, 8, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, false, &front));
        for (int k = 0; k < front.n; k++)
            for (int kind = ILP_LAZY; kind <= ILP_F3Z; kind++) {
                struct ilp_result r;
                int64_t best = front.at[k].cost;
                solve_case(&s, &p, front.at[k].budget_bytes, (enum ilp_kind)kind, &r);
                assert_true(r.proven);
                assert_int_equal(r.cost, best);
                assert_int_equal(r.bound, best);
                n_cases++;
                n_recompute += best > problem_base_cost(&p);
            }
        scene_close(&s);
    }
    assert_true(n_recompute * 4 >= n_cases);
}

// The bound on the least budget is true, and mostly sharp.
static void the_least_budget(void **state) {
    (void)state;
    int n_proven = 0;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){8, index, 8, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, false, &front));
        struct ilp_result r;
        solve_case(&s, &p, problem_given_peak(&p, &s.arena), ILP_MIN_BUDGET, &r);
        int64_t least = front.at[front.n - 1].budget_bytes;
        assert_true(r.min_bytes <= least && r.known_bytes >= least);
        n_proven += r.proven;
        scene_close(&s);
    }
    assert_true(n_proven >= 50);
}

// A search that ends early still tells the truth.
static void early_ends_give_true_bounds(void **state) {
    (void)state;
    for (uint64_t index = 0; index < 60; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){9, index, 8, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, false, &front));
        for (int k = 0; k < front.n; k++) {
            struct ilp_task task = {.p = &p, .budget_bytes = front.at[k].budget_bytes};
            struct ilp_result r;
            task.n_rounds = 1 + (int32_t)(index % 3);
            task.gap = index % 2 ? 0.2 : 0;
            task.limits.n_nodes = 1;
            assert_true(ilp_solve(&task, &s.arena, &r));
            assert_true(r.bound <= front.at[k].cost && r.cost >= front.at[k].cost);
        }
        scene_close(&s);
    }
}

// Every allocation may fail: then the call says so, and all is given back.
static void out_of_memory_is_reported(void **state) {
    (void)state;
    for (int64_t k = 0;; k++) {
        struct scene s;
        struct problem p;
        scene_open(&s);
        assert_int_equal(random_problem_chain(&s.arena, &s.diags, 4, 10, 3, &p), ST_OK);
        struct ilp_task task = {.p = &p, .budget_bytes = problem_floor(&p, NULL) + 10};
        struct ilp_result r;
        s.mem.fail_after = k;
        bool ok = ilp_solve(&task, &s.arena, &r);
        s.mem.fail_after = -1;
        scene_close(&s);
        if (ok) {
            assert_true(k > 0 && r.proven);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_optimum_is_proven),
        cmocka_unit_test(the_least_budget),
        cmocka_unit_test(early_ends_give_true_bounds),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
