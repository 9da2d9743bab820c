// Formulas that users write: their values, and what is said about those that are wrong.
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "ir/base/formula.h"

static const char *const names[] = {"flops", "bytes", "in_bytes", NULL};
static const double values[] = {600, 80, 7};

static double value(const char *text) {
    struct scene s;
    struct formula *f;
    scene_open(&s);
    assert_int_equal(formula_parse((struct formula_text){text, names, DIAG_MALFORMED, loc_none()},
                                   &s.arena, &s.diags, &f),
                     ST_OK);
    double x = formula_value(f, values);
    scene_close(&s);
    return x;
}

#define EQUAL(text, x) assert_true(value(text) == (double)(x))

static void numbers_and_names(void **state) {
    (void)state;
    EQUAL("7", 7);
    EQUAL(" 1.5e3 ", 1500);
    EQUAL(".5", 0.5);
    EQUAL("flops", 600);
    EQUAL("in_bytes + bytes", 87);
}

static void operators_bind_as_on_paper(void **state) {
    (void)state;
    EQUAL("1 + 2 * 3", 7);
    EQUAL("(1 + 2) * 3", 9);
    EQUAL("10 - 4 - 3", 3);
    EQUAL("24 / 4 / 2", 3);
    EQUAL("2 ^ 3 ^ 2", 512);
    EQUAL("-2 ^ 2", -4);
    EQUAL("2 ^ -1", 0.5);
    EQUAL("2 * -3", -6);
    EQUAL("1 - -1", 2);
    EQUAL("+4", 4);
}

static void min_and_max(void **state) {
    (void)state;
    EQUAL("min(3, 1, 2)", 1);
    EQUAL("max(3, 1, 2) + 1", 4);
    EQUAL("max(4)", 4);
    EQUAL("max(flops / 50, bytes / 10) + 2000", 2012);
    EQUAL("max (min(1, 2), 0)", 1);
}

static void nothing_stops_at_infinity(void **state) {
    (void)state;
    assert_true(isinf(value("1 / 0")));
    assert_true(isnan(value("0 / 0")));
    assert_true(isnan(value("(-1) ^ 0.5")));
}

static void wrong(const char *text, const char *message) {
    struct scene s;
    struct formula *f;
    scene_open(&s);
    assert_int_equal(formula_parse((struct formula_text){text, names, DIAG_MALFORMED, loc_none()},
                                   &s.arena, &s.diags, &f),
                     ST_MALFORMED);
    assert_null(f);
    assert_int_equal(s.diags.list.n, 1);
    if (!strstr(s.diags.list.at[0].text, message))
        fail_msg("%s: %s", text, s.diags.list.at[0].text);
    scene_close(&s);
}

static void mistakes_have_a_column(void **state) {
    (void)state;
    wrong("", "column 1 of \"\": a number, a name or \"(\" is wanted");
    wrong("1 +", "column 4 of");
    wrong("1 + * 2", "column 5 of \"1 + * 2\": a number");
    wrong("2 flop", "column 3 of \"2 flop\": an operator or the end is wanted");
    wrong("2 * flop", "column 5 of \"2 * flop\": there is no \"flop\"; there are: flops, bytes, "
                      "in_bytes, min(), max()");
    wrong("(1", "column 3 of \"(1\": \")\" is wanted");
    wrong("1)", "column 2 of \"1)\": an operator");
    wrong("min(1; 2)", "column 6 of \"min(1; 2)\": \",\" or \")\" is wanted");
    wrong("min", "there is no \"min\"");
    wrong("0x10", "column 1 of");
    wrong("inf", "there is no \"inf\"");
    wrong("1e999", "column 1 of");
    wrong("-nan", "there is no \"nan\"");
}

static void depth_is_bounded(void **state) {
    (void)state;
    char deep[4096];
    memset(deep, '(', 2000);
    strcpy(deep + 2000, "1");
    wrong(deep, "is nested more than 64 deep");
    memset(deep, '-', 2000);
    wrong(deep, "is nested more than 64 deep");
    // Nearly as many operands wait as can.
    char *at = deep;
    for (int i = 0; i < 20; i++)
        at = stpcpy(at, "max(0,1+1*1^(");
    at = stpcpy(at, "1");
    for (int i = 0; i < 20; i++)
        at = stpcpy(at, "))");
    EQUAL(deep, 2);
}

static void out_of_memory_is_reported(void **state) {
    (void)state;
    for (int64_t k = 0;; k++) {
        struct scene s;
        struct formula *f;
        scene_open(&s);
        s.mem.fail_after = k;
        status st = formula_parse((struct formula_text){"max(1, 2, 3) + min(flops, bytes) * 2",
                                                        names, DIAG_MALFORMED, loc_none()},
                                  &s.arena, &s.diags, &f);
        s.mem.fail_after = -1;
        scene_close(&s);
        if (st == ST_OK) {
            assert_true(k > 0);
            return;
        }
        assert_int_equal(st, ST_LIMIT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_names),
        cmocka_unit_test(operators_bind_as_on_paper),
        cmocka_unit_test(min_and_max),
        cmocka_unit_test(nothing_stops_at_infinity),
        cmocka_unit_test(mistakes_have_a_column),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
