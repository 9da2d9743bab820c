// Dynamic pools on graphs whose sizes can be added up by hand.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/text/text.h"
#include "passes/layout/layout_inner.h"

static int64_t taken(const char *body, bool by_class) {
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = NULL;
    int64_t n_bytes;
    char *text =
        str_format(&s.arena, "mfc 1\nopset 17\ngraph \"g\" {\n  input %%x : f32[8]\n%s}\n", body);
    assert_int_equal(
        parse_text((struct model_text){text, strlen(text), "text"}, &s.arena, &names, &s.diags, &m),
        ST_OK);
    assert_int_equal(layout_pool_bytes(m->graph, by_class, &s.arena, &s.diags, &n_bytes), ST_OK);
    model_close(m);
    scene_close(&s);
    return n_bytes;
}

// A chain needs two blocks, however long it is; nothing is in place.
static void chain(void **state) {
    (void)state;
    const char body[] = "  %a = Exp(%x) : f32[64]\n  %b = Exp(%a) : f32[64]\n"
                        "  %c = Exp(%b) : f32[64]\n  %d = Exp(%c) : f32[64]\n  output %d\n";
    assert_int_equal(taken(body, false), 512);
    assert_int_equal(taken(body, true), 512);
}

// c fits into what a had, and the rest of it serves d; by class only the same size will do.
static void rests(void **state) {
    (void)state;
    const char body[] = "  %a = Exp(%x) : f32[192]\n  %b = Exp(%a) : f32[16]\n"
                        "  %c = Exp(%b) : f32[64]\n  %d = Exp(%c) : f32[128]\n"
                        "  %y = Add(%c, %d) : f32[16]\n  output %y\n";
    assert_int_equal(taken(body, false), 768 + 64);
    assert_int_equal(taken(body, true), 1024 + 64 + 256 + 512);
}

// Two free neighbours are one block again: e takes all that a and b were cut from.
static void joined(void **state) {
    (void)state;
    const char body[] = "  %p = Exp(%x) : f32[256]\n  %q = Exp(%p) : f32[16]\n"
                        "  %a = Exp(%q) : f32[128]\n  %b = Exp(%q) : f32[128]\n"
                        "  %c = Add(%a, %b) : f32[16]\n  %e = Exp(%c) : f32[256]\n  output %e\n";
    assert_int_equal(taken(body, false), 1024 + 64); // c has the place of q
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chain), cmocka_unit_test(rests),
                                       cmocka_unit_test(joined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
