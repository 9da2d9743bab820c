// The default method: exact on small problems, the same bytes for any number of threads, obedient
// to the stop flag, honest when nothing fits.
#include "tests/unit/unit.h"

#include <string.h>

#include "solver/check/schedule_check.h"
#include "solver/parallel.h"
#include "solver/solve.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

static struct solve_options with_work(int64_t budget, bool free_order, int64_t work) {
    struct solve_options o = solve_defaults();
    o.method = "portfolio";
    o.budget_bytes = budget;
    o.free_order = free_order;
    o.seconds = 0;
    o.work = work;
    o.gap = 0;
    o.threads = 1;
    return o;
}

static status run(struct scene *s, const struct problem *p, const struct solve_options *o,
                  struct stop *stop, struct schedule *out) {
    status st = solve(p, o, &(struct solve_hooks){.stop = stop}, &s->arena, &s->diags, out);
    assert_int_equal(out->n_refused, 0);
    return st;
}

static void one_budget(struct scene *s, const struct problem *p, bool free_order, int64_t budget,
                       int64_t cost) {
    struct solve_options o = with_work(budget, free_order, 160);
    struct schedule out;
    status st = run(s, p, &o, NULL, &out);
    if (cost < 0) {
        assert_true(st == ST_INFEASIBLE || st == ST_NO_PLAN);
        assert_true(out.min_bytes <= out.known_bytes || out.known_bytes == 0);
        return;
    }
    assert_int_equal(st, ST_OK);
    assert_int_equal(out.cost, cost);
    assert_true(out.bound <= cost);
}

// At the corners of the trade-off, and one byte below the last.
static void exact(bool free_order) {
    for (uint64_t index = 0; index < 12; index++) {
        struct scene s;
        scene_open(&s);
        struct problem p;
        struct remat_front front;
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){21, index, 7, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, free_order, &front));
        for (int k = 0; k < front.n; k++)
            one_budget(&s, &p, free_order, front.at[k].budget_bytes, front.at[k].cost);
        one_budget(&s, &p, free_order, front.at[front.n - 1].budget_bytes - 1, -1);
        scene_close(&s);
    }
}

static void test_exact_given(void **unused) {
    (void)unused;
    exact(false);
}

static void test_exact_free(void **unused) {
    (void)unused;
    exact(true);
}

// Far too small a budget: what is said to work is right, and on small problems the least.
static void test_least(void **unused) {
    (void)unused;
    for (uint64_t index = 0; index < 40; index++) {
        bool free_order = index % 2;
        struct scene s;
        scene_open(&s);
        struct problem p;
        struct remat_front front;
        struct schedule out;
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){31, index, 7, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, free_order, &front));
        struct solve_options o = with_work(problem_floor(&p, NULL) - 1, free_order, 1);
        assert_int_equal(run(&s, &p, &o, NULL, &out), ST_INFEASIBLE);
        assert_int_equal(out.known_bytes, front.at[front.n - 1].budget_bytes);
        scene_close(&s);
    }
}

// A free order begins with the given one: it is not worse than that with a fourth of the work.
static void test_free_begins_given(void **unused) {
    (void)unused;
    int n_moved = 0;
    for (uint64_t index = 0; index < 8; index++) {
        struct scene s;
        scene_open(&s);
        struct problem p;
        struct schedule given, free;
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){5, index, 40, false}, &p),
            ST_OK);
        int64_t peak = problem_given_peak(&p, &s.arena), floor = problem_floor(&p, NULL);
        int64_t budget = floor + (peak - floor) * 2 / 3;
        struct solve_options o = with_work(budget, false, 100);
        status st = run(&s, &p, &o, NULL, &given);
        o = with_work(budget, true, 400);
        status st_free = run(&s, &p, &o, NULL, &free);
        if (st == ST_OK) {
            assert_int_equal(st_free, ST_OK);
            assert_true(free.cost <= given.cost);
            n_moved += free.cost < given.cost;
        }
        scene_close(&s);
    }
    assert_true(n_moved > 0);
}

static void test_threads(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    assert_int_equal(random_problem(&s.arena, &s.diags, (struct random_spec){2, 4, 24, false}, &p),
                     ST_OK);
    int64_t peak = problem_given_peak(&p, &s.arena), floor = problem_floor(&p, NULL);
    struct schedule first = {0};
    for (int32_t threads = 1; threads <= 4; threads *= 2) {
        struct solve_options o = with_work(floor + (peak - floor) / 2, true, 300);
        struct schedule out;
        o.threads = threads;
        assert_int_equal(run(&s, &p, &o, NULL, &out), ST_OK);
        if (threads == 1)
            first = out;
        assert_int_equal(out.cost, first.cost);
        assert_int_equal(out.bound, first.bound);
        assert_int_equal(out.steps.n, first.steps.n);
        for (int32_t k = 0; k < out.steps.n; k++) {
            assert_int_equal(out.steps.at[k].kind, first.steps.at[k].kind);
            assert_int_equal(out.steps.at[k].node, first.steps.at[k].node);
        }
    }
    scene_close(&s);
}

// A raised flag ends the run at once, with what the starts gave.
static void test_stop(void **unused) {
    (void)unused;
    for (int32_t threads = 1; threads <= 2; threads++) {
        struct scene s;
        scene_open(&s);
        struct problem p;
        struct stop stop = {.deadline_ns = STOP_NEVER};
        struct schedule out;
        assert_int_equal(random_problem_chain(&s.arena, &s.diags, 40, 10, 5, &p), ST_OK);
        struct solve_options o = with_work(problem_given_peak(&p, &s.arena) / 2, true, 0);
        o.threads = threads;
        stop_raise(&stop, 2);
        assert_int_equal(run(&s, &p, &o, &stop, &out), ST_NO_PLAN);
        assert_int_equal(out.outcome, OUTCOME_UNKNOWN);
        scene_close(&s);
    }
}

struct stopper {
    struct stop *stop;
    int n_told;
};

static void stop_at_first(void *context, const struct solve_event *event) {
    struct stopper *w = context;
    w->n_told += event->cost != INT64_MAX;
    stop_raise(w->stop, 2);
}

// Raised in the middle: the schedule that was there goes out.
static void test_stop_keeps_best(void **unused) {
    (void)unused;
    struct scene s;
    scene_open(&s);
    struct problem p;
    struct stop stop = {.deadline_ns = STOP_NEVER};
    struct stopper w = {&stop, 0};
    struct solve_hooks hooks = {.progress = stop_at_first, .context = &w, .stop = &stop};
    struct schedule out;
    assert_int_equal(random_problem_chain(&s.arena, &s.diags, 40, 10, 5, &p), ST_OK);
    struct solve_options o = with_work(problem_given_peak(&p, &s.arena) / 2, true, 0);
    o.threads = 2;
    assert_int_equal(solve(&p, &o, &hooks, &s.arena, &s.diags, &out), ST_OK);
    assert_true(w.n_told > 0);
    assert_int_equal(out.n_refused, 0);
    assert_true(out.peak_bytes <= out.budget_bytes);
    scene_close(&s);
}

static void count_task(void *context, int32_t index) {
    atomic_int *count = context;
    atomic_fetch_add(&count[index], 1);
}

static void test_pool(void **unused) {
    (void)unused;
    for (int32_t threads = 0; threads <= 5; threads++) {
        atomic_int count[20] = {0};
        parallel_run(threads, 20, count_task, count);
        for (int k = 0; k < 20; k++)
            assert_int_equal(count[k], 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_given),     cmocka_unit_test(test_exact_free),
        cmocka_unit_test(test_least),           cmocka_unit_test(test_free_begins_given),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_keeps_best), cmocka_unit_test(test_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
