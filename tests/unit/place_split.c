// Contiguous splits by dynamic programming against all contiguous splits, where transfers occupy
// the devices: the replay of each.
#include "tests/unit/random_placement.h"

#include "solver/check/strategy_check.h"
#include "solver/place/place_split.h"

enum { N_DEVICES = 3, MAX_NODES = 8 };

static void make(struct scene *sc, uint64_t seed, struct placement *p) {
    struct rng r = rng_make(seed, 5);
    struct random_shape shape = {.max_nodes = MAX_NODES};
    struct str s = str_make(&sc->arena);
    str_add(&s, "{\"format\":\"mfc-problem\",\"version\":1,\"devices\":["
                "{\"name\":\"d0\",\"kind\":\"a\"},{\"name\":\"d1\",\"kind\":\"b\"},"
                "{\"name\":\"d2\",\"kind\":\"a\"}],\"links\":[");
    for (int32_t d = 0; d < N_DEVICES; d++)
        str_addf(&s, "%s{\"between\":[\"d%d\",\"host\"],\"by_node\":true,\"blocking\":true}",
                 d ? "," : "", d);
    str_add(&s, "]");
    random_nodes(&s, &r, &shape, 2 + random_to(&r, MAX_NODES - 1));
    str_add(&s, "}");
    struct source *source;
    assert_int_equal(source_memory(&sc->arena, &sc->diags, str_text(&s), (int64_t)s.n, &source),
                     ST_OK);
    assert_int_equal(placement_read(&sc->arena, &sc->diags, source, p), ST_OK);
}

static int64_t load_of(struct scene *sc, const struct placement *p, const int32_t *device) {
    bool *on = ARENA_ARRAY(&sc->arena, bool, p->graph.n *N_DEVICES);
    struct strategy s;
    struct strategy_facts f;
    for (int32_t v = 0; v < p->graph.n; v++)
        on[v * N_DEVICES + device[p->group[v]]] = true;
    assert_true(strategy_assign(p, NULL, on, &sc->arena, &s));
    assert_int_equal(strategy_replay(p, &s, &sc->arena, &sc->diags, &f), ST_OK);
    return f.load_cost;
}

static void test_all_splits(void **unused) {
    (void)unused;
    int n_cut = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct scene sc;
        scene_open(&sc);
        struct placement p;
        make(&sc, seed, &p);
        int32_t order[MAX_NODES], device[MAX_NODES], n = p.n_groups;
        int64_t load, best = INT64_MAX;
        for (int32_t g = 0; g < n; g++)
            order[g] = g;
        for (int32_t i = 0; i <= n; i++)
            for (int32_t j = i; j <= n; j++) {
                for (int32_t g = 0; g < n; g++)
                    device[g] = g < i ? 0 : g < j ? 1 : 2;
                int64_t now = load_of(&sc, &p, device);
                best = now < best ? now : best;
            }
        assert_true(place_split(&p, order, &sc.arena, device, &load));
        assert_int_equal(load, best);
        assert_int_equal(load_of(&sc, &p, device), best);
        n_cut += device[0] != device[n - 1];
        scene_close(&sc);
    }
    assert_true(n_cut > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_splits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
