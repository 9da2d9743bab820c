// External data: files beneath the model's folder are found, everything that could lead outside is
// refused, and what is not there is only referred to.
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frontend/onnx/external.h"
#include "frontend/onnx/onnx_read.h"
#include "tests/sample.h"

static char folder[] = "mfc-external-XXXXXX";

static void put_file(const char *path, size_t n) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(write(fd, &(char){(char)i}, 1), 1);
    close(fd);
}

// secret, outside of the model's folder m; m/w.bin, m/sub/w.bin, links of all kinds, a pipe.
static int set_up(void **state) {
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    put_file("secret", 100);
    assert_int_equal(mkdir("m", 0700), 0);
    assert_int_equal(mkdir("m/sub", 0700), 0);
    put_file("m/w.bin", 100);
    put_file("m/sub/w.bin", 100);
    put_file("m/..data", 100);
    assert_int_equal(symlink("../secret", "m/link"), 0);
    assert_int_equal(symlink("w.bin", "m/near"), 0);
    assert_int_equal(symlink("..", "m/up"), 0);
    assert_int_equal(symlink("sub", "m/side"), 0);
    put_file("m/hard", 100);
    assert_int_equal(link("m/hard", "m/harder"), 0);
    assert_int_equal(mkfifo("m/pipe", 0600), 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    assert_int_equal(chdir(".."), 0);
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

// Looks for a tensor of 4 floats there; *code gets the code of the error, if there is one.
static status find(const char *location, const char *offset, const char *length, struct span *out,
                   enum diag_code *code, size_t *n_absent) {
    struct scene s;
    scene_open(&s);
    struct external e = external_make(&s.arena, "m");
    struct pair pairs[3] = {{.key = "location", .value = location},
                            {.key = "offset", .value = offset},
                            {.key = "length", .value = length}};
    struct tensor t = {
        .elem = ELEM_F32, .rank = 1, .dims = &(int64_t){4}, .payload = PAYLOAD_EXTERNAL};
    t.external = (struct pairs){pairs, length ? 3 : offset ? 2 : 1};
    status st = external_find(&e, &s.diags, loc_none(), &t);
    *out = t.data;
    if (st)
        *code = s.diags.list.at[0].code;
    *n_absent = e.n_absent;
    uint8_t first = 0;
    if (t.data.source) {
        assert_int_equal(source_read(t.data.source, &s.diags, t.data.offset, &first, 1), ST_OK);
        assert_int_equal(first, t.data.offset);
    }
    external_done(&e, &s.diags, "m/model.onnx");
    assert_int_equal(s.diags.list.n, st ? 1 : e.n_absent);
    for (size_t i = 0; i < e.files.n; i++)
        source_close(e.files.at[i].source);
    scene_close(&s);
    return st;
}

static void test_found(void **state) {
    (void)state;
    static const char *const there[] = {"w.bin", "sub/w.bin", "./w.bin", "sub//w.bin", "..data"};
    struct span at;
    enum diag_code code;
    size_t n_absent;
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        assert_int_equal(find(there[i], "32", "16", &at, &code, &n_absent), ST_OK);
        assert_int_equal(at.offset, 32);
        assert_int_equal(at.n_bytes, 16);
        assert_int_equal(find(there[i], NULL, NULL, &at, &code, &n_absent), ST_OK);
        assert_int_equal(at.n_bytes, 16);
        assert_int_equal(n_absent, 0);
    }
}

static void test_absent(void **state) {
    (void)state;
    static const char *const absent[] = {"nothing", "no/folder/here", "w.bin/inside"};
    struct span at;
    enum diag_code code;
    size_t n_absent;
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        assert_int_equal(find(absent[i], "32", "16", &at, &code, &n_absent), ST_OK);
        assert_null(at.source);
        assert_int_equal(n_absent, 1);
    }
}

static void test_outside(void **state) {
    (void)state;
    static const char *const outside[] = {
        "../secret", "/etc/passwd", "sub/../../secret", "sub/../w.bin", "..",
        "link",      "near",        "up/secret",        "side/w.bin",   "hard",
        "harder",    "pipe",        "../absent",        "/absent",      "sub"};
    struct span at;
    size_t n_absent;
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        enum diag_code code = DIAG_INTERNAL;
        if (find(outside[i], NULL, NULL, &at, &code, &n_absent) != ST_MALFORMED ||
            code != DIAG_EXTERNAL_OUTSIDE)
            fail_msg("%s: %s", outside[i], diag_slug(code));
        assert_null(at.source);
    }
}

static void test_numbers(void **state) {
    (void)state;
    static const char *const wrong[][2] = {{"85", "16"}, // one byte too far
                                           {"101", "16"},
                                           {"9223372036854775807", "16"},
                                           {"9223372036854775808", "16"},
                                           {"-1", "16"},
                                           {"0x10", "16"},
                                           {" 1", "16"},
                                           {"", "16"},
                                           {"0", "15"},
                                           {"0", "17"},
                                           {"0", "-16"},
                                           {"0", "99999999999999999999"}};
    struct span at;
    enum diag_code code;
    size_t n_absent;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(find("w.bin", wrong[i][0], wrong[i][1], &at, &code, &n_absent),
                         ST_MALFORMED);
        assert_int_equal(code, DIAG_EXTERNAL);
    }
    assert_int_equal(find("w.bin", "84", "16", &at, &code, &n_absent), ST_OK);
    assert_int_equal(find("", NULL, NULL, &at, &code, &n_absent), ST_MALFORMED);
}

// The way that old kernels go gives the same answers as openat2.
static void test_by_component(void **state) {
    (void)state;
    static const struct {
        const char *location;
        int error;
    } cases[] = {{"w.bin", 0},          {"sub/w.bin", 0},
                 {"./w.bin", 0},        {"..data", 0},
                 {"nothing", ENOENT},   {"link", ELOOP},
                 {"up/secret", ELOOP},  {"near", ELOOP},
                 {"side/w.bin", ELOOP}, {"../secret", EXDEV},
                 {"/secret", EXDEV},    {"w.bin/x", ENOTDIR},
                 {"no/x", ENOENT},      {"sub/../../secret", EXDEV}};
    int at = open("m", O_PATH | O_DIRECTORY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int by_component = 0; by_component <= 1; by_component++) {
            errno = 0;
            int fd = file_open_beneath(at, cases[i].location, by_component);
            if ((fd < 0) != (cases[i].error != 0) || (fd < 0 && errno != cases[i].error))
                fail_msg("%s (%d): %s", cases[i].location, by_component, strerror(errno));
            if (fd >= 0)
                close(fd);
        }
    close(at);
}

// A model in a file: one warning for all that is absent, files stay open until the model ends.
static void test_model(void **state) {
    (void)state;
    struct msg g = {0};
    static const char *const names[] = {"a", "b", "c"}, *const files[] = {"w.bin", "lost.bin",
                                                                          "lost.bin"};
    for (int i = 0; i < 3; i++) {
        struct msg t = {0};
        msg_int(&t, TENSOR_DIMS, 4);
        msg_int(&t, TENSOR_TYPE, 1);
        msg_text(&t, TENSOR_NAME, names[i]);
        msg_put(&t, TENSOR_EXTERNAL, msg_pair("location", files[i]));
        msg_int(&t, TENSOR_LOCATION, 1);
        msg_put(&g, GRAPH_INIT, t);
    }
    struct msg m = msg_model(g);
    int fd = open("m/model.onnx", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, m.at, m.n), m.n);
    close(fd);
    msg_free(&m);
    struct scene s;
    scene_open(&s);
    struct pool pool = pool_make(&s.arena);
    struct source *source;
    struct model *model;
    assert_int_equal(source_open(&s.arena, &s.diags, "m/model.onnx", &source), ST_OK);
    assert_int_equal(onnx_read(source, &s.arena, &pool, &s.diags, &model), ST_OK);
    assert_int_equal(s.diags.list.n, 1);
    assert_non_null(strstr(s.diags.list.at[0].text, "2 tensors"));
    assert_int_equal(model->sources.n, 2);
    const struct tensor *a = graph_value(model->graph, graph_find(model->graph, "a"))->init;
    uint8_t bytes[16];
    assert_int_equal(span_read(a->data, &s.diags, bytes), ST_OK);
    assert_int_equal(bytes[15], 15);
    model_close(model);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),        cmocka_unit_test(test_absent),
        cmocka_unit_test(test_outside),      cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_by_component), cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
