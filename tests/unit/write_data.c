// The data files of the ONNX writer: when tensors move into one, how those of the input are named,
// and what is left behind when the disk is full.
#include "tests/unit/write.h"

#include <signal.h>
#include <sys/resource.h>

static void expect_data(const Onnx__TensorProto *t, const char *folder, int64_t n) {
    assert_int_equal(t->data_location, 1);
    assert_false(t->has_raw_data);
    assert_int_equal(t->n_external_data, 3);
    assert_string_equal(t->external_data[0]->key, "location");
    assert_string_equal(t->external_data[1]->key, "offset");
    assert_string_equal(t->external_data[2]->key, "length");
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, t->external_data[0]->value);
    size_t size;
    uint8_t *bytes = slurp(path, &size);
    long long offset = atoll(t->external_data[1]->value);
    assert_int_equal(atoll(t->external_data[2]->value), 4 * n);
    assert_int_equal(offset % 4096, 0);
    assert_true(offset + 4 * n <= (long long)size);
    for (int64_t i = 0; i < n; i++)
        assert_true(((float *)(void *)(bytes + offset))[i] == (float)i);
    free(bytes);
}

static void large_models_get_a_data_file(void **state) {
    struct here *h = *state;
    struct graph *g = h->m->graph;
    add_init(g, "a", floats(h, 2000));
    add_init(g, "small", floats(h, 10));
    struct tensor *shared = floats(h, 3000);
    add_init(g, "b", shared);
    add_init(g, "c", shared);
    assert_int_equal(write_to(h, "plan.onnx", 4000), ST_OK);
    char data[256];
    assert_int_equal(n_entries(".", data), 2);
    assert_int_equal(strncmp(data, "plan.onnx.", 10), 0);
    Onnx__ModelProto *p = decode("plan.onnx");
    expect_data(p->graph->initializer[0], ".", 2000);
    assert_int_equal(p->graph->initializer[1]->raw_data.len, 40);
    expect_data(p->graph->initializer[2], ".", 3000);
    assert_string_equal(p->graph->initializer[2]->external_data[1]->value,
                        p->graph->initializer[3]->external_data[1]->value);
    drop(p);
    // The same again has the same name; another content has another, and the former one goes.
    char again[256];
    assert_int_equal(write_to(h, "plan.onnx", 4000), ST_OK);
    assert_int_equal(n_entries(".", again), 2);
    assert_string_equal(data, again);
    add_init(g, "d", floats(h, 1000));
    assert_int_equal(write_to(h, "plan.onnx", 4000), ST_OK);
    assert_int_equal(n_entries(".", again), 2);
    assert_string_not_equal(data, again);
    assert_int_equal(write_to(h, "plan.onnx", 0), ST_OK); // large enough now
    assert_int_equal(n_entries(".", NULL), 1);
    p = decode("plan.onnx");
    assert_int_equal(p->graph->initializer[0]->raw_data.len, 8000);
    drop(p);
    // Not even that is enough, or there is no place for it.
    assert_int_equal(write_to(h, "plan2.onnx", 100), ST_LIMIT);
    assert_int_equal(write_to(h, "/dev/null", 4000), ST_USAGE);
    assert_int_equal(n_entries(".", NULL), 1);
}

static void attributes_are_moved_last(void **state) {
    struct here *h = *state;
    struct graph *g = h->m->graph;
    add_init(g, "a", floats(h, 1000));
    node_id n = graph_add_node(g, "", "Constant", (struct values){0}, (struct values){0});
    graph_set_attr(
        g, n, (struct attr){.name = "value", .kind = ATTR_TENSOR, .n = 1, .t = floats(h, 500)});
    assert_int_equal(write_to(h, "m.onnx", 4000), ST_OK);
    Onnx__ModelProto *p = decode("m.onnx");
    expect_data(p->graph->initializer[0], ".", 1000);
    assert_int_equal(p->graph->node[0]->attribute[0]->t->raw_data.len, 2000);
    drop(p);
    assert_int_equal(write_to(h, "m.onnx", 1000), ST_OK);
    p = decode("m.onnx");
    expect_data(p->graph->node[0]->attribute[0]->t, ".", 500);
    drop(p);
}

static void expect_reference(const char *path, const char *location) {
    Onnx__ModelProto *p = decode(path);
    const Onnx__TensorProto *t = p->graph->initializer[0];
    assert_int_equal(t->n_external_data, 3);
    assert_string_equal(t->external_data[0]->value, location);
    assert_string_equal(t->external_data[1]->value, "4");
    assert_string_equal(t->external_data[2]->value, "x");
    drop(p);
}

static void files_are_named_from_the_new_folder(void **state) {
    struct here *h = *state;
    struct tensor *t = external(h, 100, true);
    add_init(h->m->graph, "w", t);
    assert_int_equal(write_to(h, "in/m.onnx", 0), ST_OK);
    expect_reference("in/m.onnx", "w.bin");
    assert_int_equal(n_entries("in", NULL), 2);
    assert_int_equal(write_to(h, "above.onnx", 0), ST_OK);
    expect_reference("above.onnx", "in/w.bin");
    // No way from there: the bytes are copied.
    mkdir("out", 0777);
    assert_int_equal(write_to(h, "out/m.onnx", 0), ST_OK);
    assert_int_equal(n_entries("out", NULL), 2);
    Onnx__ModelProto *p = decode("out/m.onnx");
    expect_data(p->graph->initializer[0], "out", 100);
    drop(p);
    assert_int_equal(h->scene.diags.list.n, 0);
    // The name leads to another file: the bytes that were read are what counts.
    rename("in/w.bin", "in/w.old");
    FILE *f = fopen("in/w.bin", "w");
    fclose(f);
    assert_int_equal(write_to(h, "in/n.onnx", 0), ST_OK);
    p = decode("in/n.onnx");
    expect_data(p->graph->initializer[0], "in", 100);
    drop(p);
    // The output takes the place of the data.
    rename("in/w.old", "in/w.bin");
    assert_int_equal(write_to(h, "in/w.bin", 0), ST_OK);
    p = decode("in/w.bin");
    expect_data(p->graph->initializer[0], "in", 100);
    drop(p);
    source_close((struct source *)t->data.source);
}

static void absent_files_are_still_named(void **state) {
    struct here *h = *state;
    add_init(h->m->graph, "w", external(h, 100, false));
    add_init(h->m->graph, "w2", external(h, 100, false));
    assert_int_equal(write_to(h, "in/n.onnx", 0), ST_OK);
    expect_reference("in/n.onnx", "w.bin");
    assert_int_equal(write_to(h, "n.onnx", 0), ST_OK);
    expect_reference("n.onnx", "in/w.bin");
    assert_int_equal(h->scene.diags.list.n, 0);
    mkdir("out", 0777);
    assert_int_equal(write_to(h, "out/n.onnx", 0), ST_OK);
    expect_reference("out/n.onnx", "w.bin");
    assert_int_equal(h->scene.diags.list.n, 1);
    assert_int_equal(h->scene.diags.list.at[0].severity, DIAG_NOTE);
}

// Reading its own data file and writing it anew: the old one is read to the end before it goes.
static void output_may_be_the_input(void **state) {
    struct here *h = *state;
    struct tensor *t = floats(h, 2000);
    add_init(h->m->graph, "w", t);
    assert_int_equal(write_to(h, "m.onnx", 1000), ST_OK);
    char data[256], now[256];
    n_entries(".", data);
    struct source *s;
    assert_int_equal(source_open(&h->scene.arena, &h->scene.diags, data, &s), ST_OK);
    h->m->path = "m.onnx";
    t->payload = PAYLOAD_EXTERNAL;
    t->data = (struct span){s, 0, 8000};
    struct pair pairs[] = {{.key = "location", .value = data},
                           {.key = "offset", .value = "0"},
                           {.key = "length", .value = "8000"}};
    t->external = (struct pairs){pairs, 3};
    assert_int_equal(write_to(h, "m.onnx", 1000), ST_OK); // named, not copied
    assert_int_equal(n_entries(".", now), 2);
    assert_string_equal(data, now);
    t->data.n_bytes = 4000;
    rename(data, "elsewhere");
    pairs[0].value = "gone";
    assert_int_equal(write_to(h, "m.onnx", 1000), ST_OK);
    assert_int_equal(n_entries(".", now), 3);
    assert_string_not_equal(data, now);
    Onnx__ModelProto *p = decode("m.onnx");
    expect_data(p->graph->initializer[0], ".", 1000);
    drop(p);
    source_close(s);
}

// A limit on file size stands in for a full disk, at every size up to that of the result.
static void full_disk_leaves_nothing(void **state) {
    struct here *h = *state;
    add_init(h->m->graph, "a", floats(h, 5000));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit was, low;
    getrlimit(RLIMIT_FSIZE, &was);
    low = was;
    int n_failed = 0;
    for (int64_t limit = 0; limit <= 2; limit++)
        for (low.rlim_cur = 0; low.rlim_cur < 30000; low.rlim_cur += 3000) {
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
            status st = write_to(h, "m.onnx", limit * 1000);
            setrlimit(RLIMIT_FSIZE, &was);
            if (st) {
                assert_int_equal(st, ST_IO);
                assert_int_equal(n_entries(".", NULL), 0);
                n_failed++;
            }
            assert_int_equal(system("rm -f m.onnx*"), 0);
        }
    signal(SIGXFSZ, SIG_DFL);
    assert_true(n_failed >= 15);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(large_models_get_a_data_file),
        TEST(attributes_are_moved_last),
        TEST(files_are_named_from_the_new_folder),
        TEST(absent_files_are_still_named),
        TEST(output_may_be_the_input),
        TEST(full_disk_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
