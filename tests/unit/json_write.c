// The JSON writer: layouts, escapes, number formats, and failing allocations.
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "ir/json/json_write.h"

static void print_everything(struct str *out, enum json_style style) {
    struct json_writer w = json_write_document(out, style, "mfc-test");
    json_write_line(&w);
    json_write_array(&w, "list");
    for (int i = 0; i < 3; i++) {
        if (i != 1)
            json_write_line(&w);
        json_write_object(&w, NULL);
        json_write_int(&w, "i", i - 1);
        json_write_int_if(&w, "j", i > 0, INT64_MIN);
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_array(&w, "none");
    json_write_end(&w);
    json_write_object(&w, "lines");
    json_write_line(&w);
    json_write_bool(&w, "yes", true);
    json_write_bool(&w, "no", false);
    json_write_null(&w, "null");
    json_write_line(&w);
    json_write_end(&w);
    json_write_finish(&w);
}

static void layouts(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct str compact = str_make(&s.arena), spaced = str_make(&s.arena);
    print_everything(&compact, JSON_WRITE_COMPACT);
    assert_string_equal(str_text(&compact),
                        "{\"format\":\"mfc-test\",\"version\":1,\n"
                        "\"list\":[\n"
                        "{\"i\":-1,\"j\":null},{\"i\":0,\"j\":-9223372036854775808},\n"
                        "{\"i\":1,\"j\":-9223372036854775808}],\"none\":[],\"lines\":{\n"
                        "\"yes\":true,\"no\":false,\"null\":null\n}}\n");
    print_everything(&spaced, JSON_WRITE_SPACED);
    assert_string_equal(str_text(&spaced),
                        "{\"format\": \"mfc-test\", \"version\": 1,\n"
                        " \"list\": [\n"
                        "  {\"i\": -1, \"j\": null}, {\"i\": 0, \"j\": -9223372036854775808},\n"
                        "  {\"i\": 1, \"j\": -9223372036854775808}], \"none\": [], \"lines\": {\n"
                        "  \"yes\": true, \"no\": false, \"null\": null\n }}\n");
    scene_close(&s);
}

static void strings(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct str out = str_make(&s.arena);
    struct json_writer w = json_write_begin(&out, JSON_WRITE_COMPACT);
    json_write_text(&w, "a\"b", "a\"\\\n\x01/\x7f");
    json_write_text(&w, "c", "\xff\xc3\xa9\xc3");
    json_write_text(&w, "d", NULL);
    json_write_text(&w, "e", "");
    json_write_textf(&w, "f", "%d\"%s", 7, "x");
    json_write_finish(&w);
    assert_string_equal(str_text(&out),
                        "{\"a\\\"b\":\"a\\\"\\\\\\u000a\\u0001/\\u007f\","
                        "\"c\":\"\\ufffd\xc3\xa9\\ufffd\",\"d\":null,\"e\":\"\",\"f\":\"7\\\"x\"}"
                        "\n");
    scene_close(&s);
}

static void reals(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct str out = str_make(&s.arena);
    struct json_writer w = json_write_begin(&out, JSON_WRITE_COMPACT);
    json_write_array(&w, "x");
    json_write_real(&w, NULL, 17, 0.1);
    json_write_real(&w, NULL, 6, 1e10);
    json_write_real(&w, NULL, 6, (double)INFINITY);
    json_write_fixed(&w, NULL, 3, 2.0);
    json_write_fixed(&w, NULL, 1, (double)NAN);
    json_write_thousandths(&w, NULL, 12007);
    json_write_hex(&w, NULL, 0.75);
    json_write_end(&w);
    json_write_finish(&w);
    assert_string_equal(
        str_text(&out),
        "{\"x\":[0.10000000000000001,1e+10,null,2.000,null,12.007,\"0x1.8p-1\"]}\n");
    scene_close(&s);
}

static void failed_allocations_are_kept_in_the_str(void **state) {
    (void)state;
    for (int64_t k = 0;; k++) {
        struct scene s;
        scene_open(&s);
        s.mem.fail_after = k;
        struct str out = str_make(&s.arena);
        struct json_writer w = json_write_begin(&out, JSON_WRITE_COMPACT);
        for (int i = 0; i < 100; i++)
            json_write_textf(&w, "key", "%d", i);
        json_write_finish(&w);
        bool failed = out.failed;
        s.mem.fail_after = -1;
        scene_close(&s);
        if (!failed) {
            assert_true(k > 0);
            return;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts),
        cmocka_unit_test(strings),
        cmocka_unit_test(reals),
        cmocka_unit_test(failed_allocations_are_kept_in_the_str),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
