// Files about costs, read and applied by the whole pass: what comes out, and that running out of
// memory at any moment is reported and leaks nothing.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/inputs/cost_files.h"
#include "ir/text/text.h"
#include "passes/pass.h"

static const char model_text[] = "mfc 1\nir_version 8\nopset 17\nopset my 1\ngraph {\n"
                                 "  input %x : f32[4]\n"
                                 "  %a = Relu(%x) name=a\n"
                                 "  %b = my:Op(%a) : f32[4] name=b\n"
                                 "  %c = Neg(%b) name=c\n"
                                 "  output %c\n}\n";
static const char profile_text[] =
    "[{\"cat\":\"Node\",\"name\":\"a_kernel_time\",\"dur\":9,\"args\":{\"op_name\":\"Relu\"}},"
    "{\"cat\":\"Node\",\"name\":\"c_kernel_time\",\"dur\":4},{\"name\":\"model_run\"}]";
static const char costs_text[] =
    "{\"format\":\"mfc-costs\",\"version\":1,\"operators\":{\"my:Op\":\"2 * out_bytes\"},"
    "\"patterns\":[{\"match\":\"c*\",\"cost\":\"time + 1\",\"workspace\":7}]}";

static void write_file(char *path, const char *text) {
    strcpy(path, "/tmp/cost_files_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

// Reads both files and runs the pass; costs[] are those of the three nodes.
static status run_all(struct scene *s, const char *profile, const char *costs, int64_t *result,
                      int64_t *workspace_bytes) {
    struct pool names = pool_make(&s->arena);
    struct options o = options_make(&s->arena);
    struct model *m = NULL;
    struct pass_context c = {.arena = &s->arena, .diags = &s->diags, .options = &o};
    struct pass_pipeline p;
    status st = pass_add_options(&o, &s->diags);
    if (!st)
        st = options_set(&o, &s->diags, "profile", profile);
    if (!st)
        st = options_set(&o, &s->diags, "costs", costs);
    if (!st)
        st = cost_files_read(&s->arena, &s->diags, &o, &c.costs);
    if (!st)
        st = parse_text((struct model_text){model_text, sizeof model_text - 1, "m.mfc"}, &s->arena,
                        &names, &s->diags, &m);
    if (!st)
        st = pass_pipeline_parse(&s->arena, &s->diags, "sort,shapes,costs", &p);
    if (!st)
        st = pass_pipeline_run(&p, m, &c, NULL);
    for (uint32_t i = 1; !st && i <= 3; i++)
        result[i - 1] = graph_node(m->graph, (node_id){i})->cost;
    if (!st)
        *workspace_bytes = graph_node(m->graph, (node_id){3})->workspace_bytes;
    model_close(m);
    return st;
}

static void files_are_applied_in_their_order(void **state) {
    (void)state;
    char profile[64], costs[64];
    int64_t result[3], workspace_bytes = 0;
    struct scene s;
    write_file(profile, profile_text);
    write_file(costs, costs_text);
    scene_open(&s);
    assert_int_equal(run_all(&s, profile, costs, result, &workspace_bytes), ST_OK);
    assert_int_equal(result[0], 9000);
    assert_int_equal(result[1], 32);
    assert_int_equal(result[2], 4001);
    assert_int_equal(workspace_bytes, 7);
    scene_close(&s);
    unlink(profile);
    unlink(costs);
}

static void out_of_memory_is_reported(void **state) {
    (void)state;
    char profile[64], costs[64];
    int64_t result[3], workspace_bytes;
    write_file(profile, profile_text);
    write_file(costs, costs_text);
    status st = ST_LIMIT;
    for (int64_t k = 0; st; k++) {
        struct scene s;
        scene_open(&s);
        s.mem.fail_after = k;
        st = run_all(&s, profile, costs, result, &workspace_bytes);
        s.mem.fail_after = -1;
        assert_true(st == ST_OK || st == ST_LIMIT);
        scene_close(&s);
        assert_true(k < 10000);
    }
    unlink(profile);
    unlink(costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_applied_in_their_order),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
