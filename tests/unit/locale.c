// Numbers do not depend on the locale of the process that uses the library. The locale with a
// decimal comma is made here, for few machines have one.
#include "tests/unit/unit.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/mfc.h"
#include "ir/base/quantity.h"
#include "ir/json/json_write.h"
#include "ir/text/text.h"

static int enter_locale(void **state) {
    (void)state;
    char folder[] = "/tmp/mfc-locale-XXXXXX", line[200], number[8];
    if (!mkdtemp(folder))
        return -1;
    snprintf(line, sizeof line,
             "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 >/dev/null", folder);
    bool is_made = system(line) == 0;
    setenv("LOCPATH", folder, 1);
    bool is_set = is_made && setlocale(LC_ALL, "de_DE.UTF-8");
    snprintf(line, sizeof line, "rm -r %s", folder);
    if (system(line) != 0 || !is_set)
        return -1;
    snprintf(number, sizeof number, "%.1f", 1.5);
    return strcmp(number, "1,5") == 0 ? 0 : -1;
}

static int leave_locale(void **state) {
    (void)state;
    unsetenv("LOCPATH");
    return setlocale(LC_ALL, "C") ? 0 : -1;
}

static void the_library_takes_points(void **state) {
    (void)state;
    struct mfc *m = mfc_new(0);
    assert_non_null(m);
    assert_int_equal(mfc_set(m, "overhead", "99.5%"), 0);
    assert_int_equal(mfc_set(m, "budget", "99.5%"), 0);
    assert_int_equal(mfc_set(m, "time", "1.5s"), 0);
    assert_int_not_equal(mfc_set(m, "time", "1,5s"), 0);
    mfc_free(m);
}

static void quantities_are_read_with_points(void **state) {
    (void)state;
    double x;
    assert_true(quantity_parse_seconds("2.5MIN", &x));
    assert_true(x == 150);
    assert_true(quantity_parse_share("12.5%", &x));
    assert_true(x == 0.125);
    int64_t n;
    assert_true(quantity_parse_bytes("1.5gib", &n));
    assert_int_equal(n, 3 << 29);
}

static void text_has_points(void **state) {
    (void)state;
    static const char model[] = "mfc 1\n"
                                "graph {\n"
                                "  param %x : f32[2] = {0.5,1.25}\n"
                                "  output %x\n"
                                "}\n";
    struct scene s;
    struct model *m;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    assert_int_equal(parse_text((struct model_text){model, sizeof model - 1, "t.mfc"}, &s.arena,
                                &names, &s.diags, &m),
                     ST_OK);
    struct str out = str_make(&s.arena);
    assert_int_equal(print_model(&out, m, ".", &s.diags), ST_OK);
    assert_string_equal(str_text(&out), model);
    struct str text = str_make(&s.arena);
    struct json_writer w = json_write_begin(&text, JSON_WRITE_COMPACT);
    json_write_real(&w, "x", 6, 2.5);
    json_write_fixed(&w, "y", 2, 0.25);
    json_write_finish(&w);
    assert_string_equal(str_text(&text), "{\"x\":2.5,\"y\":0.25}\n");
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_library_takes_points),
                                       cmocka_unit_test(quantities_are_read_with_points),
                                       cmocka_unit_test(text_has_points)};
    return cmocka_run_group_tests(tests, enter_locale, leave_locale);
}
