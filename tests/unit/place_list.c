// List schedules as starts of the placement search: they can be carried out, whatever the problem,
// and copy where that is worth it.
#include "tests/unit/unit.h"

#include "solver/check/strategy_check.h"
#include "solver/place/place_list.h"
#include "tests/unit/random_placement.h"

// Two branches of 100 each that read the same, which takes 5 to make and 40 to send.
static void open_branches(struct scene *s, struct placement *p) {
    struct str json = str_make(&s->arena);
    str_add(&json,
            "{\"format\":\"mfc-problem\",\"version\":1,"
            "\"devices\":[{\"name\":\"d0\"},{\"name\":\"d1\"}],"
            "\"links\":[{\"between\":[\"d0\",\"d1\"],\"bandwidth\":10}],"
            "\"nodes\":[{\"name\":\"x\",\"cost\":5,\"bytes\":400},"
            "{\"name\":\"a\",\"cost\":100,\"bytes\":1},{\"name\":\"b\",\"cost\":100,\"bytes\":1}],"
            "\"edges\":[[0,1],[0,2]]}");
    struct source *source;
    assert_false(json.failed);
    assert_int_equal(source_memory(&s->arena, &s->diags, json.at, (int64_t)json.n, &source), ST_OK);
    assert_int_equal(placement_read(&s->arena, &s->diags, source, p), ST_OK);
    source_close(source);
}

static int64_t makespan(struct scene *s, const struct placement *p, enum list_kind kind) {
    struct strategy made;
    struct strategy_facts facts;
    assert_true(place_list(p, kind, &s->arena, &made));
    assert_int_equal(strategy_replay(p, &made, &s->arena, &s->diags, &facts), ST_OK);
    return facts.makespan_cost;
}

static void copies_what_is_cheap(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    scene_open(&s);
    open_branches(&s, &p);
    assert_int_equal(makespan(&s, &p, LIST_DUPLICATE), 5 + 100);
    assert_int_equal(makespan(&s, &p, LIST_SEND), 5 + 40 + 100);
    scene_close(&s);
}

static void carries_out_anything(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        struct scene s;
        struct placement p;
        scene_open(&s);
        random_placement(&s, i,
                         &(struct random_shape){.max_nodes = 30,
                                                .n_devices = 1 + (int32_t)(i % 3),
                                                .groups = i % 2,
                                                .once = i % 5 == 0,
                                                .sizes = true,
                                                .odd_links = i % 4 > 0,
                                                .memory = 40},
                         &p);
        makespan(&s, &p, LIST_SEND);
        makespan(&s, &p, LIST_DUPLICATE);
        makespan(&s, &p, LIST_DUPLICATE_FORWARD);
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(copies_what_is_cheap),
                                       cmocka_unit_test(carries_out_anything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
