// Starts of the placement search that recompute: they can be carried out, and they fit where
// keeping everything does not.
#include "tests/unit/unit.h"

#include <string.h>

#include "solver/check/strategy_check.h"
#include "solver/place/place_remat.h"

// A training step of n layers: f0 .. f(n-1), the loss, then g(n-1) .. g0, where g(i) reads g(i+1)
// and f(i-1) and f(i); on devices with the given memory.
static void open_chain(struct scene *s, int n, int n_devices, int64_t memory, struct placement *p) {
    struct str json = str_make(&s->arena);
    str_add(&json, "{\"format\":\"mfc-problem\",\"version\":1,\"devices\":[");
    for (int d = 0; d < n_devices; d++)
        str_addf(&json, "%s{\"name\":\"d%d\",\"memory\":%lld}", d ? "," : "", d, (long long)memory);
    str_add(&json, "],\"links\":[");
    for (int d = 0; d < n_devices; d++)
        str_addf(&json, "%s{\"between\":[\"d%d\",\"host\"],\"bandwidth\":10}", d ? "," : "", d);
    str_add(&json, "],\"nodes\":[");
    for (int i = 0; i < 2 * n + 1; i++)
        str_addf(&json, "%s{\"name\":\"%d\",\"cost\":%d,\"bytes\":%d%s}", i ? "," : "", i,
                 10 + i % 3, i == n ? 1 : 100, i > n ? ",\"backward\":true" : "");
    str_add(&json, "],\"edges\":[");
    for (int i = 1; i < 2 * n + 1; i++)
        str_addf(&json, "%s[%d,%d]", i > 1 ? "," : "", i - 1, i);
    for (int i = n + 1; i < 2 * n + 1; i++) {
        int layer = 2 * n - i;
        str_addf(&json, ",[%d,%d]", layer, i);
        if (layer > 0)
            str_addf(&json, ",[%d,%d]", layer - 1, i);
    }
    str_add(&json, "]}");
    struct source *source;
    assert_false(json.failed);
    assert_int_equal(source_memory(&s->arena, &s->diags, json.at, (int64_t)json.n, &source), ST_OK);
    assert_int_equal(placement_read(&s->arena, &s->diags, source, p), ST_OK);
    source_close(source);
}

static int n_that_fit(struct scene *s, const struct placement *p, int *n_made) {
    struct stop stop = {.deadline_ns = STOP_NEVER};
    struct strategy made[2];
    int n_fit = 0;
    *n_made = place_remat(p, &(struct remat_effort){.stop = &stop, .seed = 1}, &s->arena, made, 2);
    assert_true(*n_made >= 0);
    for (int i = 0; i < *n_made; i++) {
        struct strategy_facts facts;
        assert_int_equal(strategy_replay(p, &made[i], &s->arena, &s->diags, &facts), ST_OK);
        n_fit += facts.excess_bytes == 0;
    }
    return n_fit;
}

static void cut_there_and_back(void **state) {
    (void)state;
    for (int n_devices = 1; n_devices <= 3; n_devices += 2)
        for (int n = 4; n <= 28; n += 24)
            for (int64_t memory = 300; memory <= 900; memory += 600) {
                struct scene s;
                struct placement p;
                int n_made;
                scene_open(&s);
                open_chain(&s, n, n_devices, memory, &p);
                n_that_fit(&s, &p, &n_made);
                assert_int_equal(n_made, 2);
                scene_close(&s);
            }
}

// Two devices with 40 layers: 20 activations on each if all are kept; a third of that is enough.
static void small_memories_are_kept_to(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    int n_made;
    scene_open(&s);
    open_chain(&s, 40, 2, 900, &p);
    assert_true(n_that_fit(&s, &p, &n_made) > 0);
    scene_close(&s);
    scene_open(&s);
    open_chain(&s, 40, 2, 250, &p); // below what a single node needs
    assert_int_equal(n_that_fit(&s, &p, &n_made), 0);
    scene_close(&s);
}

static void needs_to_know_the_forward_pass(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    int n_made;
    scene_open(&s);
    open_chain(&s, 8, 2, 1000, &p);
    p.graph.has_forward = false;
    n_that_fit(&s, &p, &n_made);
    assert_int_equal(n_made, 0);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_there_and_back),
        cmocka_unit_test(small_memories_are_kept_to),
        cmocka_unit_test(needs_to_know_the_forward_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
