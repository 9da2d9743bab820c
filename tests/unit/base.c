// ir/base: gate, arena, strings, maps, checked arithmetic, random numbers.
#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/base/checked.h"
#include "ir/base/map.h"
#include "ir/base/rng.h"
#include "ir/base/stop.h"
#include "ir/base/str.h"

static void gate_keeps_its_budget(void **state) {
    (void)state;
    struct mem mem = mem_make(1000000);
    struct arena a = arena_make(&mem);
    assert_non_null(arena_alloc(&a, 100));
    assert_null(arena_alloc(&a, 1000000));
    assert_non_null(arena_alloc(&a, 500000));
    assert_true(mem.used_bytes <= 1000000);
    arena_free(&a);
    assert_int_equal(mem.used_bytes, 0);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    for (int64_t k = 0; k < 40; k++) {
        struct mem mem = mem_make(MEM_UNLIMITED);
        mem.fail_after = k;
        struct arena a = arena_make(&mem);
        struct pool p = pool_make(&a);
        struct map m = map_make(&a);
        char text[32];
        for (int i = 0; i < 2000; i++) {
            int n = snprintf(text, sizeof text, "name%d", i);
            const char *s = pool_intern_n(&p, text, (size_t)n);
            int64_t v = -1;
            if (s && map_put_text(&m, s, i)) {
                assert_true(map_get_text(&m, s, &v));
                assert_int_equal(v, i);
            }
        }
        arena_free(&a);
        assert_int_equal(mem.used_bytes, 0);
    }
}

static void interned_strings_are_pointers(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool p = pool_make(&s.arena);
    const char *a = pool_intern(&p, "conv");
    assert_ptr_equal(a, pool_intern_n(&p, "convolution", 4));
    assert_ptr_not_equal(a, pool_intern(&p, "conv1"));
    assert_ptr_equal(a, pool_intern_n(&p, "conv", 4));
    scene_close(&s);
}

static void maps_replace(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct map m = map_make(&s.arena);
    for (int64_t i = 0; i < 1000; i++)
        assert_true(map_put_int(&m, i * 7, i));
    assert_true(map_put_int(&m, 14, -5));
    int64_t v;
    assert_true(map_get_int(&m, 14, &v));
    assert_int_equal(v, -5);
    assert_false(map_get_int(&m, 15, &v));
    scene_close(&s);
}

static void utf8_is_told_from_rubbish(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t n, error;
    } cases[] = {
        {"abc", 3, 3},   {"\xc3\xa9", 2, 2},         {"\xc3", 1, 0},
        {"a\xff", 2, 1}, {"\xc0\x80", 2, 0},         {"\xed\xa0\x80", 3, 0},
        {"a\0b", 3, 1},  {"\xf0\x9f\x98\x80", 4, 4}, {"\xf4\x90\x80\x80", 4, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(str_utf8_error(cases[i].text, cases[i].n), cases[i].error);
}

static void quoting_and_patterns(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct str q = str_make(&s.arena);
    str_add_quoted(&q, "a\"\\\n\xff\x01\xc3\xa9", 8);
    assert_string_equal(str_text(&q), "\"a\\\"\\\\\\n\\xff\\x01\xc3\xa9\"");
    assert_true(str_match("conv*.weight", "conv1.weight"));
    assert_true(str_match("*", ""));
    assert_true(str_match("a?c*", "abcde"));
    assert_false(str_match("a?c", "ac"));
    assert_true(str_match("*ab*ab", "aabab"));
    scene_close(&s);
}

static void arithmetic_is_checked(void **state) {
    (void)state;
    int64_t r;
    assert_true(checked_add(INT64_MAX - 1, 1, &r) && r == INT64_MAX);
    assert_false(checked_add(INT64_MAX, 1, &r));
    assert_false(checked_mul(INT64_C(1) << 32, INT64_C(1) << 31, &r));
    assert_true(checked_muldiv(INT64_MAX, 90, 100, &r) && r == INT64_MAX / 10 * 9 + 6);
    assert_false(checked_muldiv(INT64_MAX, 3, 2, &r));
}

static void streams_depend_on_seed_and_chain_alone(void **state) {
    (void)state;
    struct rng one = rng_make(1, 2), same = rng_make(1, 2), other = rng_make(2, 1);
    for (int i = 0; i < 4; i++) {
        uint64_t x = rng_next(&one);
        assert_true(x == rng_next(&same));
        assert_true(x != rng_next(&other));
    }
    int64_t counts[8] = {0};
    struct rng r = rng_make(7, 0);
    for (int i = 0; i < 80000; i++)
        counts[rng_below(&r, 8)]++;
    for (int i = 0; i < 8; i++)
        assert_in_range(counts[i], 9600, 10400); // four standard deviations
}

static void a_child_stop_sees_its_ancestors(void **state) {
    (void)state;
    struct stop root = {.deadline_ns = STOP_NEVER};
    struct stop child = stop_child(&root, INFINITY), grandchild = stop_child(&child, INFINITY);
    assert_false(stop_now(&grandchild));
    assert_true(isinf(stop_seconds_left(&grandchild)));
    stop_raise(&child, 7); // seen by itself and below, not above
    assert_int_equal(stop_reason(&grandchild), 7);
    assert_int_equal(stop_reason(&root), 0);
    assert_true(stop_now(&child) && stop_now(&grandchild) && !stop_now(&root));
    struct stop sibling = stop_child(&root, 1000);
    assert_false(stop_now(&sibling));
    stop_raise(&root, 15);
    assert_int_equal(stop_reason(&sibling), 15);
    assert_int_equal(stop_reason(&child), 7); // the nearest
    assert_true(stop_seconds_left(&sibling) == 0);
}

static void the_first_deadline_counts(void **state) {
    (void)state;
    struct stop root = stop_child(NULL, 1000), early = stop_child(&root, 10);
    struct stop late = stop_child(&root, 5000), never = stop_child(&root, INFINITY);
    struct stop now = stop_child(&root, 0);
    assert_true(stop_seconds_left(&early) <= 10);
    assert_in_range(stop_seconds_left(&late), 11, 1000);
    assert_in_range(stop_seconds_left(&never), 11, 1000);
    assert_int_equal(never.deadline_ns, STOP_NEVER);
    assert_true(stop_now(&now) && stop_seconds_left(&now) == 0);
    assert_false(stop_now(&root) || stop_now(&early) || stop_now(&late) || stop_now(&never));
    struct stop below = stop_child(&now, 1000);
    assert_true(stop_now(&below) && !stop_raised(&below));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gate_keeps_its_budget),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(interned_strings_are_pointers),
        cmocka_unit_test(maps_replace),
        cmocka_unit_test(utf8_is_told_from_rubbish),
        cmocka_unit_test(quoting_and_patterns),
        cmocka_unit_test(arithmetic_is_checked),
        cmocka_unit_test(streams_depend_on_seed_and_chain_alone),
        cmocka_unit_test(a_child_stop_sees_its_ancestors),
        cmocka_unit_test(the_first_deadline_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
