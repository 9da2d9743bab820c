// The text form: what it looks like, what it refuses, and the law print(parse(print(m))) ==
// print(m).
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/rng.h"
#include "ir/text.h"
#include "tests/unit/random_graph.h"

// Parses; the model's print is the result, NULL when it was refused.
static const char *reprint(struct scene *s, const char *text, struct model **out) {
    static struct pool pool; // as long as the scene that it was made for
    pool = pool_make(&s->arena);
    struct model *m;
    status st = parse_text(text, strlen(text), "test.mfc", &s->arena, &pool, &s->diags, &m);
    if (out)
        *out = m;
    if (st)
        return NULL;
    struct str printed = str_make(&s->arena);
    assert_int_equal(print_model(&printed, m, &s->diags), ST_OK);
    return str_text(&printed);
}

// The canonical text prints as itself.
static void stays(const char *text) {
    struct scene s;
    scene_open(&s);
    const char *again = reprint(&s, text, NULL);
    if (!again)
        for (size_t i = 0; i < s.diags.list.n; i++) {
            struct str line = str_make(&s.arena);
            diag_print(&line, &s.diags.list.at[i]);
            print_error("%s", str_text(&line));
        }
    assert_non_null(again);
    assert_string_equal(again, text);
    scene_close(&s);
}

static void a_small_model_reads_like_this(void **state) {
    (void)state;
    stays("mfc 1\n"
          "ir_version 8\n"
          "opset 17\n"
          "device \"gpu0\"\n"
          "graph \"mlp\" {\n"
          "  input %x : f32[8,784]\n"
          "  param %w0 : f32[2,2] = {1.0,0.5,-3e-07,inf}\n"
          "  %h0 = MatMul(%x, %w0) : f32[8,512] cost=6422528 @gpu0\n"
          "  %a0 = Relu(%h0) : f32[8,512] cost=4096 @gpu0\n"
          "  %h0.1 = MatMul(%x, %w0) : f32[8,512] again(%h0) @gpu0\n"
          "  output %a0\n"
          "}\n");
}

static void complain(struct scene *s) {
    for (size_t i = 0; i < s->diags.list.n; i++) {
        struct str line = str_make(&s->arena);
        diag_print(&line, &s->diags.list.at[i]);
        print_error("%s", str_text(&line));
    }
}

enum { N_RANDOM = 10000 };

static void random_models_keep_the_law(void **state) {
    (void)state;
    size_t n_bytes = 0;
    for (uint64_t seed = 0; seed < N_RANDOM; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct str first = str_make(&s.arena);
        struct model *m = random_model(&s.arena, &names, seed);
        status sound = model_verify(m, &s.diags);
        assert_int_equal(print_model(&first, m, &s.diags), ST_OK);
        const char *second = reprint(&s, str_text(&first), NULL);
        if (sound || !second || strcmp(second, str_text(&first)) != 0 || s.diags.n_errors) {
            complain(&s);
            print_error("seed %llu\n%s\nagain:\n%s", (unsigned long long)seed, str_text(&first),
                        second ? second : "refused");
            fail();
        }
        n_bytes += first.n;
        scene_close(&s);
    }
    assert_true(n_bytes / N_RANDOM > 1000); // they are not all trivial
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_model_reads_like_this),
        cmocka_unit_test(random_models_keep_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
