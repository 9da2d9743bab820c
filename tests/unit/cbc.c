// solver/cbc: the adapter over CBC and Clp.
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "solver/mip/cbc.h"

// max 5a + 4b + 3c with 2a + 3b + c <= 5, 4a + b + 2c <= 11, 3a + 4b + 2c <= 8; 13 in reals.
static void small_program(struct cbc_model *m, struct arena *a, bool integer) {
    static const double weights[3][3] = {{2, 3, 1}, {4, 1, 2}, {3, 4, 2}};
    static const double most[3] = {5, 11, 8};
    cbc_open(m, a);
    int32_t x[3];
    for (int j = 0; j < 3; j++)
        x[j] = cbc_col(m, 0, 10, -(5.0 - j), integer);
    for (int r = 0; r < 3; r++) {
        cbc_row(m, -CBC_INF, most[r]);
        for (int j = 0; j < 3; j++)
            cbc_term(m, x[j], weights[r][j]);
    }
    assert_false(m->out_of_memory);
}

static void a_linear_program(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    struct cbc_answer answer;
    scene_open(&s);
    small_program(&m, &s.arena, false);
    assert_true(cbc_lp(&m, &(struct cbc_limits){0}, &s.arena, &answer));
    assert_int_equal(answer.result, CBC_OPTIMAL);
    assert_true(fabs(answer.objective + 13) < 1e-9);
    assert_true(cbc_violation(&m, answer.x) < 1e-9);
    double bound = cbc_safe_bound(&m, answer.price);
    assert_true(bound <= -13 && bound > -13 - 1e-9);
    scene_close(&s);
}

// Whatever the prices are, the safe bound stays below the optimum.
static void bad_prices_give_true_bounds(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    scene_open(&s);
    small_program(&m, &s.arena, false);
    double prices[][3] = {{0, 0, 0}, {-1, -1, -1}, {1, 1, 1}, {NAN, -1, INFINITY}, {-7, 3, -1e9}};
    for (size_t k = 0; k < sizeof prices / sizeof *prices; k++)
        assert_true(cbc_safe_bound(&m, prices[k]) <= -13);
    scene_close(&s);
}

static void an_integer_program(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    struct cbc_answer answer;
    scene_open(&s);
    small_program(&m, &s.arena, true);
    double start[3] = {1, 1, 0};
    for (int with_start = 0; with_start < 2; with_start++) {
        assert_true(cbc_mip(&m, with_start ? start : NULL, &(struct cbc_limits){.seconds = 60},
                            &s.arena, &answer));
        assert_int_equal(answer.result, CBC_OPTIMAL);
        assert_true(fabs(answer.objective + 13) < 1e-6);
        assert_true(cbc_violation(&m, answer.x) < 1e-6);
        assert_true(answer.bound <= answer.objective + 1e-6);
    }
    scene_close(&s);
}

static void an_infeasible_program(void **state) {
    (void)state;
    struct scene s;
    struct cbc_model m;
    struct cbc_answer answer;
    scene_open(&s);
    small_program(&m, &s.arena, true);
    cbc_row(&m, 31, CBC_INF);
    for (int32_t j = 0; j < 3; j++)
        cbc_term(&m, j, 1);
    assert_true(cbc_lp(&m, &(struct cbc_limits){0}, &s.arena, &answer));
    assert_int_equal(answer.result, CBC_INFEASIBLE);
    assert_true(cbc_mip(&m, NULL, &(struct cbc_limits){0}, &s.arena, &answer));
    assert_int_equal(answer.result, CBC_INFEASIBLE);
    assert_null(answer.x);
    scene_close(&s);
}

static void out_of_memory_is_reported(void **state) {
    (void)state;
    for (int64_t k = 0;; k++) {
        struct scene s;
        struct cbc_model m;
        struct cbc_answer answer;
        scene_open(&s);
        small_program(&m, &s.arena, true);
        s.mem.fail_after = k;
        bool ok = cbc_mip(&m, NULL, &(struct cbc_limits){0}, &s.arena, &answer);
        s.mem.fail_after = -1;
        scene_close(&s);
        if (ok) {
            assert_true(k > 0);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_linear_program),          cmocka_unit_test(bad_prices_give_true_bounds),
        cmocka_unit_test(an_integer_program),        cmocka_unit_test(an_infeasible_program),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
