// Option tables: kinds, ranges, defaults, lists, messages.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/base/options.h"

static const struct option_spec table[] = {
    {"flag", 'f', OPTION_FLAG, NULL, NULL, 0, 0, "a flag"},
    {"text", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "a text"},
    {"mode", 0, OPTION_CHOICE, "fast|slow", "slow", 0, 0, "a choice"},
    {"count", 'n', OPTION_INT, "N", "3", 1, 10, "a number"},
    {"gap", 0, OPTION_REAL, "X", "0.5", 0, 1, "a real"},
    {"time", 't', OPTION_SECONDS, "TIME", "20s", 0, 0, "a duration"},
    {"limit", 0, OPTION_BYTES, "SIZE", NULL, 0, 0, "bytes"},
    {"budget", 'b', OPTION_BUDGET, "SIZE", "100%", 0, 0, "a budget"},
    {"passes", 0, OPTION_LIST, "LIST", "a,b", 0, 0, "a list"},
    {"words", 0, OPTION_SAME, "FILE", "text", 0, 0, "a second name"},
    {0}};

static void open(struct scene *s, struct options *o) {
    scene_open(s);
    *o = options_make(&s->arena);
    assert_int_equal(options_add(o, &s->diags, table), ST_OK);
}

static void defaults_are_there(void **state) {
    (void)state;
    struct scene s;
    struct options o;
    open(&s, &o);
    assert_false(options_flag(&o, "flag"));
    assert_null(options_text(&o, "text"));
    assert_string_equal(options_text(&o, "mode"), "slow");
    assert_int_equal(options_int(&o, "count"), 3);
    assert_true(options_real(&o, "gap") == 0.5);
    assert_true(options_seconds(&o, "time") == 20);
    assert_int_equal(options_bytes(&o, "limit", 7), 7);
    assert_int_equal(options_budget(&o, "budget", 1000, 7), 1000);
    assert_int_equal(options_get(&o, "passes")->list.n, 2);
    assert_false(options_given(&o, "count"));
    scene_close(&s);
}

static void values_are_taken(void **state) {
    (void)state;
    struct scene s;
    struct options o;
    open(&s, &o);
    static const char *const given[][2] = {
        {"flag", "true"}, {"text", "x.onnx"},  {"mode", "fast"}, {"count", "10"},
        {"gap", "1e-3"},  {"limit", "1.5KiB"}, {"time", "2m"},   {"budget", "62.5%"},
        {"passes", "c"},  {"passes", ",d,,e"},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        assert_int_equal(options_set(&o, &s.diags, given[i][0], given[i][1]), ST_OK);
    assert_true(options_flag(&o, "flag"));
    assert_string_equal(options_text(&o, "text"), "x.onnx");
    assert_string_equal(options_text(&o, "mode"), "fast");
    assert_int_equal(options_int(&o, "count"), 10);
    assert_true(options_real(&o, "gap") == 1e-3);
    assert_int_equal(options_bytes(&o, "limit", 7), 1536);
    assert_true(options_seconds(&o, "time") == 120);
    assert_int_equal(options_budget(&o, "budget", 1000, 7), 625);
    // A share of a large whole is exact, and of a huge one the largest number there is.
    assert_int_equal(options_budget(&o, "budget", (int64_t)1 << 62, 7), 2882303761517117440);
    options_set(&o, &s.diags, "budget", "300%");
    assert_int_equal(options_budget(&o, "budget", INT64_MAX, 7), INT64_MAX);
    const struct option_value *list = options_get(&o, "passes");
    assert_int_equal(list->list.n, 3); // the default is replaced, the second one is added
    assert_string_equal(list->list.at[0], "c");
    assert_string_equal(list->list.at[2], "e");
    scene_close(&s);
}

static void second_names_set_the_first(void **state) {
    (void)state;
    struct scene s;
    struct options o;
    open(&s, &o);
    assert_false(options_given(&o, "text"));
    assert_int_equal(options_set(&o, &s.diags, "words", "x.json"), ST_OK);
    assert_true(options_given(&o, "text"));
    assert_string_equal(options_text(&o, "text"), "x.json");
    scene_close(&s);
}

static void bad_values_are_refused(void **state) {
    (void)state;
    struct scene s;
    struct options o;
    open(&s, &o);
    static const char *const bad[][2] = {
        {"flag", "yes"},    {"mode", "fas"}, {"mode", ""},     {"count", "0"},
        {"count", "11"},    {"count", "3x"}, {"count", ""},    {"count", "99999999999999999999"},
        {"gap", "nan"},     {"gap", "2"},    {"gap", "inf"},   {"limit", "-1"},
        {"limit", "4Q"},    {"limit", "."},  {"limit", "9e9"}, {"limit", "99999999999GiB"},
        {"budget", "60 %"}, {"budget", "%"}, {"budget", "x"},  {"budget", "-3%"},
        {"nonsense", "1"},  {"time", "20x"}, {"time", "-1s"},
    };
    size_t n = sizeof bad / sizeof *bad;
    for (size_t i = 0; i < n; i++)
        if (options_set(&o, &s.diags, bad[i][0], bad[i][1]) != ST_USAGE)
            fail_msg("--%s=%s was taken", bad[i][0], bad[i][1]);
    assert_int_equal(s.diags.n_errors, n);
    assert_int_equal(options_int(&o, "count"), 3); // as it was
    assert_string_equal(options_text(&o, "mode"), "slow");
    scene_close(&s);
}

static void a_near_miss_is_named(void **state) {
    (void)state;
    struct scene s;
    struct options o;
    open(&s, &o);
    options_set(&o, &s.diags, "bugdet", "1");
    options_set(&o, &s.diags, "completely-else", "1");
    assert_non_null(strstr(s.diags.list.at[0].text, "is it --budget?"));
    assert_null(strstr(s.diags.list.at[1].text, "is it"));
    assert_int_equal(str_distance("kitten", "sitting"), 3);
    assert_int_equal(str_distance("", "abc"), 3);
    scene_close(&s);
}

static void help_is_grouped_and_wrapped(void **state) {
    (void)state;
    static const struct option_spec grouped[] = {
        {"plain", 0, OPTION_FLAG, NULL, NULL, 0, 0, "before any heading"},
        {"Limits", 0, OPTION_GROUP, NULL, NULL, 0, 0, NULL},
        {"limit", 'l', OPTION_BYTES, "SIZE", "1K", 0, 0,
         "a sentence that is much longer than what fits on one line of eighty columns"},
        {"old", 0, OPTION_SAME, "SIZE", "limit", 0, 0, NULL},
        {0}};
    struct scene s;
    scene_open(&s);
    struct str text = str_make(&s.arena);
    options_help(&text, grouped, "Limits");
    assert_string_equal(str_text(&text),
                        "  -l, --limit=SIZE            a sentence that is much longer than what "
                        "fits on\n                              one line of eighty columns (1K)\n");
    text = str_make(&s.arena);
    options_help(&text, grouped, NULL);
    assert_string_equal(str_text(&text), "      --plain                 before any heading\n");
    struct options o = options_make(&s.arena);
    assert_int_equal(options_add(&o, &s.diags, grouped), ST_OK);
    assert_int_equal(o.items.n, 3); // a heading is not an option
    scene_close(&s);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    for (int64_t k = 0; k < 30; k++) {
        struct scene s;
        scene_open(&s);
        s.mem.fail_after = k;
        struct options o = options_make(&s.arena);
        status st = options_add(&o, &s.diags, table);
        if (!st)
            st = options_set(&o, &s.diags, "passes", "x,y,z");
        assert_true(st == ST_OK || st == ST_LIMIT);
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_there),
        cmocka_unit_test(values_are_taken),
        cmocka_unit_test(second_names_set_the_first),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(a_near_miss_is_named),
        cmocka_unit_test(help_is_grouped_and_wrapped),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
