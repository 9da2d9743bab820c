// backend: text in pages, plots, and the report when memory ends at any moment.
#include "tests/unit/unit.h"

#include <string.h>

#include "backend/plan_json.h"
#include "backend/report/markup.h"
#include "backend/report/report.h"
#include "backend/report/svg.h"
#include "backend/trace.h"
#include "ir/text/text.h"
#include "passes/plan/plan.h"

static const char *marked(struct scene *s, const char *text, size_t most) {
    struct str out = str_make(&s->arena);
    markup_add_short(&out, text, most);
    return str_text(&out);
}

static void names_cannot_leave_their_place(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    assert_string_equal(marked(&s, "<a href=\"x\">&'", 99),
                        "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    assert_string_equal(marked(&s, "a\x01\x1b[31m", 99), "a\\x01\\x1b[31m");
    assert_string_equal(marked(&s, "\xff\xc3", 99), "\\xff\\xc3");
    assert_string_equal(marked(&s,
                               "\xe2\x80\xae"
                               "exe",
                               99),
                        "\\u202eexe");
    assert_string_equal(marked(&s, "ä日𝄞", 99), "ä日𝄞");
    assert_string_equal(marked(&s, "abcdefghijklmnopqrst", 12), "abcdef…qrst");
    assert_string_equal(marked(&s, "ääääääääääää", 6), "äää…ä");
    assert_string_equal(marked(&s, "abcdef", 6), "abcdef");
    scene_close(&s);
}

static const char *written(struct scene *s, svg_add *add, double x) {
    struct str out = str_make(&s->arena);
    add(&out, x);
    return str_text(&out);
}

static void round_ticks(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    assert_true(svg_round_step(7, 7) == 1 && svg_round_step(730, 5) == 200);
    assert_true(svg_round_step(0, 5) == 1);
    assert_true(svg_bytes_step(340 * 1024.0, 5) == 128 * 1024);
    assert_true(svg_bytes_step(3000.0 * (1 << 20), 3) == 1 << 30);
    assert_string_equal(written(&s, svg_add_bytes, 1536), "1.5\u00a0KiB");
    assert_string_equal(written(&s, svg_add_bytes, 0), "0");
    assert_string_equal(written(&s, svg_add_time, 2.5e6), "2.5\u00a0ms");
    assert_string_equal(written(&s, svg_add_time, 3.2e12), "3200\u00a0s");
    assert_string_equal(written(&s, svg_add_percent, 0.125), "12.5\u00a0%");
    scene_close(&s);
}

static const char plan[] = "mfc 1\n"
                           "opset 17\n"
                           "graph \"g\" {\n"
                           "  input %x : f32[4]\n"
                           "  %a = Exp(%x) : f32[8] cost=10\n"
                           "  %b = Exp(%a) : f32[16] cost=20 workspace=100\n"
                           "  %loss = ReduceSum(%b, keepdims=0) : f32[] cost=5\n"
                           "  %b.1 = Exp(%a) : f32[16] cost=20 again(%b)\n"
                           "  %g = Mul(%b.1, %b.1) : f32[16] cost=7\n"
                           "  output %loss\n"
                           "  output %g\n"
                           "}\n";

static status print_all(struct scene *s, const struct model *m) {
    struct arena a = arena_make(&s->mem);
    struct str text = str_make(&a);
    struct plan_facts facts = plan_facts_none();
    struct pass_context c = {.arena = &a, .diags = &s->diags};
    status st = plan_figures(m, m, &c, &facts);
    if (st == ST_OK)
        st = report_print(&text, m, m, &facts, &s->diags);
    if (st == ST_OK)
        st = trace_print(&text, m, &s->diags);
    if (st == ST_OK)
        st = plan_json_print(&text, m, &facts, &s->diags);
    arena_free(&a);
    return st;
}

// Every allocation fails once: each time the answer is ST_LIMIT, and nothing is lost.
static void no_memory_at_any_moment(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m;
    assert_int_equal(parse_text((struct model_text){plan, strlen(plan), "test.mfc"}, &s.arena,
                                &names, &s.diags, &m),
                     ST_OK);
    status st = ST_LIMIT;
    int64_t k = 0;
    for (; st != ST_OK && k < 10000; k++) {
        s.mem.fail_after = k;
        st = print_all(&s, m);
        s.mem.fail_after = -1;
        assert_true(st == ST_OK || st == ST_LIMIT);
    }
    assert_true(st == ST_OK && k > 2);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_cannot_leave_their_place),
        cmocka_unit_test(round_ticks),

        cmocka_unit_test(no_memory_at_any_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
