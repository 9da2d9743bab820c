// backend: what runs when, and who holds what meanwhile.
#include "tests/unit/unit.h"

#include <string.h>

#include "backend/timeline.h"
#include "ir/text/text.h"
#include "tests/unit/random_graph.h"

struct parsed {
    struct scene s;
    struct pool pool;
    struct model *m;
    struct timeline t;
};

static void open_text(struct parsed *p, const char *text) {
    scene_open(&p->s);
    p->pool = pool_make(&p->s.arena);
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "test.mfc"}, &p->s.arena,
                                &p->pool, &p->s.diags, &p->m),
                     ST_OK);
    assert_int_equal(timeline_make(p->m, &p->s.arena, &p->s.diags, &p->t), ST_OK);
}

// Three layers; b is evicted and recomputed. The first execution of `late` is the copy.
static const char plan[] = "mfc 1\n"
                           "opset 17\n"
                           "graph \"g\" {\n"
                           "  input %x : f32[4]\n"
                           "  %a = Exp(%x) : f32[8] cost=10\n"
                           "  %b = Exp(%a) : f32[16] cost=20 workspace=100\n"
                           "  %late.1 = Neg(%b) : f32[2] cost=1 again(%late)\n"
                           "  %loss = ReduceSum(%late.1, keepdims=0) : f32[] cost=5\n"
                           "  %b.1 = Exp(%a) : f32[16] cost=20 again(%b)\n"
                           "  %late = Neg(%b.1) : f32[2] cost=1\n"
                           "  %g = Mul(%b.1, %late) : f32[16] cost=7\n"
                           "  output %loss\n"
                           "  output %g\n"
                           "  output %late\n"
                           "}\n";

static void kinds_of_work(void **state) {
    (void)state;
    struct parsed p;
    open_text(&p, plan);
    const enum work expected[] = {WORK_FORWARD,   WORK_FORWARD,   WORK_FORWARD, WORK_FORWARD,
                                  WORK_RECOMPUTE, WORK_RECOMPUTE, WORK_BACKWARD};
    assert_int_equal(p.t.n_steps, 7);
    int64_t recompute_cost = 0;
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(p.t.work[i], expected[i]);
        recompute_cost += expected[i] == WORK_RECOMPUTE ? p.t.end[i] - p.t.start[i] : 0;
    }
    assert_int_equal(p.t.cost, 64);
    assert_int_equal(recompute_cost, 21);
    assert_int_equal(p.t.span, 64);
    assert_int_equal(p.t.start[4], 36);
    assert_int_equal(p.t.end[4], 56);
    scene_close(&p.s);
}

static void held_by_kind(void **state) {
    (void)state;
    struct parsed p;
    open_text(&p, plan);
    const int64_t at_b[HOLDER_COUNT_] = {16, 32 + 64, 0, 0, 100};
    const int64_t at_g[HOLDER_COUNT_] = {16, 4, 64 + 8, 64, 0};
    for (int h = 0; h < HOLDER_COUNT_; h++) {
        assert_int_equal(p.t.held[1][h], at_b[h]);
        assert_int_equal(p.t.held[6][h], at_g[h]);
    }
    assert_int_equal(p.t.peak_step, 1);
    uint32_t largest[2];
    assert_int_equal(timeline_held(&p.t, 6, largest, 2), 4); // g, b.1, late, loss
    assert_int_equal(p.t.storage.bytes[largest[0]], 64);
    assert_int_equal(p.t.storage.bytes[largest[1]], 64);
    assert_true(largest[0] < largest[1]);
    scene_close(&p.s);
}

// Two devices work side by side: c on the second does not wait for b on the first.
static void devices_side_by_side(void **state) {
    (void)state;
    struct parsed p;
    open_text(&p, "mfc 1\nopset 17\ndevice \"one\"\ndevice \"two\"\ngraph \"g\" {\n"
                  "  input %x : f32[4]\n"
                  "  %a = Exp(%x) : f32[4] cost=10 @one\n"
                  "  %b = Neg(%a) : f32[4] cost=10 @one\n"
                  "  %c = Abs(%a) : f32[4] cost=10 @two\n"
                  "  %d = Add(%b, %c) : f32[4] cost=10 @one\n"
                  "  output %d\n}\n");
    assert_int_equal(p.t.n_devices, 2);
    assert_string_equal(p.t.device_name[1], "two");
    assert_int_equal(p.t.start[2], 10);
    assert_int_equal(p.t.start[3], 20);
    assert_int_equal(p.t.span, 30);
    assert_int_equal(p.t.held_bytes[2], 16);     // c alone; x and a are on the other device
    assert_int_equal(p.t.held_bytes[1], 3 * 16); // x, a, b
    scene_close(&p.s);
}

// What is sent is held on both sides while both need it.
static void sent_is_held_twice(void **state) {
    (void)state;
    struct parsed p;
    open_text(&p, "mfc 1\nopset 17\ndevice \"one\"\ndevice \"two\"\ngraph \"g\" {\n"
                  "  input %x : f32[4]\n"
                  "  %a = Exp(%x) : f32[4] cost=10 @one\n"
                  "  %sent = Identity(%a) : f32[4] @two metadata={dev.mfc.role=\"transfer\"}\n"
                  "  %b = Neg(%a) : f32[4] cost=10 @one\n"
                  "  %c = Abs(%sent) : f32[4] cost=10 @two\n"
                  "  output %b\n  output %c\n}\n");
    assert_int_equal(p.t.work[1], WORK_TRANSFER);
    assert_int_equal(p.t.held_bytes[1], 16);     // sent
    assert_int_equal(p.t.held_bytes[2], 3 * 16); // x, a, b
    assert_int_equal(p.t.held_bytes[3], 2 * 16); // sent, c
    scene_close(&p.s);
}

// On one device the parts add up to what liveness says, for any graph.
static void parts_are_the_whole(void **state) {
    (void)state;
    size_t n_sized = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = random_model(&s.arena, &names, seed);
        struct timeline t;
        m->device_names.n = 0;
        if (timeline_make(m, &s.arena, &s.diags, &t) == ST_OK) {
            n_sized++;
            for (uint32_t i = 0; i < t.n_steps; i++)
                assert_int_equal(t.held_bytes[i], t.liveness.held_bytes[i]);
        }
        scene_close(&s);
    }
    assert_true(n_sized > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_of_work),        cmocka_unit_test(held_by_kind),
        cmocka_unit_test(devices_side_by_side), cmocka_unit_test(sent_is_held_twice),
        cmocka_unit_test(parts_are_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
