// Nothing is lost in text: a random model, written as ONNX at once and after a trip through text,
// gives the same bytes. What ONNX has no place for (costs, devices) shows in the text itself, which
// text.c looks at.
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/onnx/onnx_write.h"
#include "ir/text/text.h"
#include "tests/unit/random_graph.h"

enum { N_MODELS = 500 };

// Both under the same name, for files beside a model are named after it.
static const char model_name[] = "model.onnx";

static char *contents(struct scene *s, const char *path, int64_t *n) {
    struct source *f;
    char *bytes;
    assert_int_equal(source_open(&s->arena, &s->diags, path, &f), ST_OK);
    assert_int_equal(source_text(f, &s->arena, &s->diags, INT64_MAX, &bytes), ST_OK);
    *n = f->n_bytes;
    source_close(f);
    return bytes;
}

static void text_loses_nothing(void **state) {
    (void)state;
    size_t n_total = 0;
    for (uint64_t seed = 0; seed < N_MODELS; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool pool = pool_make(&s.arena);
        struct str text = str_make(&s.arena);
        struct model *m[2] = {random_model(&s.arena, &pool, 5000000 + seed), NULL};
        assert_int_equal(print_model(&text, m[0], ".", &s.diags), ST_OK);
        assert_int_equal(parse_text((struct model_text){text.at, text.n, "t.mfc"}, &s.arena, &pool,
                                    &s.diags, &m[1]),
                         ST_OK);
        char *bytes[2];
        int64_t n[2];
        for (int k = 0; k < 2; k++) {
            status st = onnx_write(m[k], model_name, NULL, &s.diags);
            for (size_t i = 0; st && i < s.diags.list.n; i++)
                print_error("%s\n", s.diags.list.at[i].text);
            assert_int_equal(st, ST_OK);
            bytes[k] = contents(&s, model_name, &n[k]);
        }
        if (n[0] != n[1] || memcmp(bytes[0], bytes[1], (size_t)n[0]) != 0)
            print_error("seed %llu\n%s", (unsigned long long)seed, str_text(&text));
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(bytes[0], bytes[1], (size_t)n[0]);
        n_total += (size_t)n[0];
        scene_close(&s);
    }
    assert_true(n_total / N_MODELS > 500);
}

// In memory where that can be had, for every file is synced to its disk.
static int enter_folder(void **state) {
    static char fast[] = "/dev/shm/text_lossless.XXXXXX", usual[] = "/tmp/text_lossless.XXXXXX";
    *state = mkdtemp(fast);
    if (!*state)
        *state = mkdtemp(usual);
    return *state && chdir(*state) == 0 ? 0 : -1;
}

static int leave_folder(void **state) {
    DIR *d = opendir(".");
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        unlink(e->d_name);
    return d && closedir(d) == 0 && chdir("/") == 0 ? rmdir(*state) : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text_loses_nothing, enter_folder, leave_folder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
