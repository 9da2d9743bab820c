// Damaged text: whatever is done to it, the parser ends, reports what it refuses, and what it
// accepts prints, parses and prints the same again. The same when memory runs out at any point.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/text.h"
#include "tests/unit/random_graph.h"

enum { N_MUTATIONS = 20000, N_BASES = 40 };

// What damage inserts: all that the language is made of, and some that it is not.
static const char *const pieces[] = {"%x",
                                     "%\"a b\"",
                                     "\"text\"",
                                     "x\"0a\"",
                                     "graph ",
                                     "{",
                                     "}",
                                     "(",
                                     ")",
                                     "[",
                                     "]",
                                     "<",
                                     ">",
                                     ",",
                                     "=",
                                     ":",
                                     "?",
                                     "*",
                                     "$",
                                     "@",
                                     "\n",
                                     "#",
                                     "\"",
                                     "\\",
                                     "_",
                                     "input ",
                                     "param ",
                                     "output ",
                                     "value ",
                                     "outer ",
                                     "infos ",
                                     "f32[2]",
                                     "i64[]",
                                     "seq(",
                                     "sparse",
                                     "span(",
                                     "floats",
                                     "ints",
                                     "none",
                                     "again(%x)",
                                     "nan(0x1)",
                                     "-1",
                                     "1e999",
                                     "99999999999999999999",
                                     "0x",
                                     "\x80",
                                     "elem77[1]",
                                     "external{}",
                                     "type ",
                                     "function f {\n",
                                     "opset 3\n",
                                     " as ",
                                     "then=graph {\n",
                                     "tensors[",
                                     "graphs[",
                                     "%h = Relu(%x)\n"};

static void mutate(struct str *out, struct rng *r, const char *text, size_t n) {
    size_t at = rng_below(r, n + 1), len = rng_below(r, 12);
    if (len > n - at)
        len = n - at;
    const char *piece = pieces[rng_below(r, sizeof pieces / sizeof *pieces)];
    switch (rng_below(r, 6)) {
    case 0: // delete
        str_add_n(out, text, at);
        str_add_n(out, text + at + len, n - at - len);
        break;
    case 1: // insert
        str_add_n(out, text, at);
        str_add(out, piece);
        str_add_n(out, text + at, n - at);
        break;
    case 2: // replace
        str_add_n(out, text, at);
        str_add(out, piece);
        str_add_n(out, text + at + len, n - at - len);
        break;
    case 3: // a random byte
        str_add_n(out, text, n);
        if (at < n)
            out->at[at] = (char)rng_next(r);
        break;
    case 4: // copy from elsewhere
        str_add_n(out, text, at);
        str_add_n(out, text + rng_below(r, n - len + 1), len);
        str_add_n(out, text + at, n - at);
        break;
    default: // cut off
        str_add_n(out, text, rng_below(r, 10) ? n : at);
        break;
    }
}

// True when it was accepted.
static bool survives(struct scene *s, const char *damaged, size_t n) {
    // A block of its own, so that a sanitizer sees who reads past its end.
    char *text = malloc(n + 1);
    memcpy(text, damaged, n);
    text[n] = 0;
    struct pool names = pool_make(&s->arena);
    struct model *m = NULL, *again = NULL;
    status st =
        parse_text((struct model_text){text, n, "damaged.mfc"}, &s->arena, &names, &s->diags, &m);
    assert_true(st == ST_OK || st == ST_MALFORMED);
    assert_true((st == ST_OK) == (s->diags.n_errors == 0));
    assert_true(s->diags.n_errors <= PARSE_ERRORS);
    struct str first = str_make(&s->arena), second = str_make(&s->arena);
    struct diags quiet = diags_make(&s->arena);
    if (st == ST_OK) {
        assert_int_equal(print_model(&first, m, ".", &quiet), ST_OK);
        st = parse_text((struct model_text){str_text(&first), first.n, "damaged.mfc"}, &s->arena,
                        &names, &quiet, &again);
        if (st == ST_OK)
            assert_int_equal(print_model(&second, again, ".", &quiet), ST_OK);
        if (st || strcmp(str_text(&first), str_text(&second)) != 0)
            print_error("%.*s\n-- first\n%s\n-- second\n%s\n", (int)n, text, str_text(&first),
                        str_text(&second));
        assert_int_equal(st, ST_OK);
        assert_string_equal(str_text(&first), str_text(&second));
        if (!graph_sort(m->graph, &quiet)) // neither may be harmed by what it is given
            (void)model_verify(m, &quiet);
        model_close(again);
        st = ST_OK;
    }
    model_close(m);
    free(text);
    return st == ST_OK;
}

static void damage_is_survived(void **state) {
    (void)state;
    struct scene base;
    scene_open(&base);
    struct pool names = pool_make(&base.arena);
    struct str texts[N_BASES];
    for (uint64_t i = 0; i < N_BASES; i++) {
        texts[i] = str_make(&base.arena);
        struct model *m = random_model(&base.arena, &names, 1000000 + i);
        assert_int_equal(print_model(&texts[i], m, ".", &base.diags), ST_OK);
    }
    int n_accepted = 0;
    for (uint64_t i = 0; i < N_MUTATIONS; i++) {
        struct scene s;
        scene_open(&s);
        struct rng r = rng_make(7, i);
        struct str now = texts[rng_below(&r, N_BASES)];
        for (uint64_t k = 1 + rng_below(&r, 4); k > 0; k--) {
            struct str next = str_make(&s.arena);
            mutate(&next, &r, str_text(&now), now.n);
            now = next;
        }
        n_accepted += survives(&s, str_text(&now), now.n);
        scene_close(&s);
    }
    // Enough of both kinds to mean something.
    assert_true(n_accepted > N_MUTATIONS / 50);
    assert_true(n_accepted < N_MUTATIONS * 9 / 10);
    scene_close(&base);
}

static void every_truncation_is_survived(void **state) {
    (void)state;
    struct scene base;
    scene_open(&base);
    struct pool names = pool_make(&base.arena);
    struct str text = str_make(&base.arena);
    print_model(&text, random_model(&base.arena, &names, 3), ".", &base.diags);
    assert_true(text.n > 1000);
    for (size_t n = 0; n < text.n; n++) {
        struct scene s;
        scene_open(&s);
        (void)survives(&s, str_text(&text), n);
        scene_close(&s);
    }
    scene_close(&base);
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    struct scene base;
    scene_open(&base);
    struct pool names = pool_make(&base.arena);
    struct str text = str_make(&base.arena);
    print_model(&text, random_model(&base.arena, &names, 3), ".", &base.diags);
    status st = ST_LIMIT;
    for (int64_t k = 0; st != ST_OK; k++) {
        struct mem mem = mem_make(MEM_UNLIMITED);
        mem.fail_after = k;
        struct arena a = arena_make(&mem);
        struct pool own = pool_make(&a);
        struct model *m = NULL;
        struct diags d = diags_make(&base.arena);
        struct str out = str_make(&a);
        st =
            parse_text((struct model_text){str_text(&text), text.n, "small.mfc"}, &a, &own, &d, &m);
        if (st == ST_OK)
            st = print_model(&out, m, ".", &d);
        assert_true(st == ST_OK || st == ST_LIMIT);
        assert_true(st == ST_OK || d.n_errors > 0);
        arena_free(&a);
        assert_int_equal(mem.used_bytes, 0);
    }
    scene_close(&base);
}

static void nesting_has_a_limit(void **state) {
    (void)state;
    static const char *const openings[] = {"%a = If(x=graph {\n", "input %x : seq(seq(seq(seq(\n"};
    for (size_t o = 0; o < 2; o++) {
        struct scene s;
        scene_open(&s);
        struct str text = str_make(&s.arena);
        str_add(&text, "mfc 1\ngraph {\n");
        for (int i = 0; i < 100000; i++)
            str_add(&text, openings[o]);
        assert_false(survives(&s, str_text(&text), text.n));
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(every_truncation_is_survived),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(nesting_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
