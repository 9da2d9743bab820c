// Cost rules on small graphs, by hand: operations, bytes moved, workspace; and the times that come
// of them.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/text/text.h"
#include "passes/cost/cost.h"

struct subject {
    struct scene s;
    struct pool names;
    struct model *m;
    struct cost cost; // of the node that makes %y
};

// `lines` declare operands and define %y.
static void subject_open(struct subject *t, const char *lines) {
    scene_open(&t->s);
    t->names = pool_make(&t->s.arena);
    struct str text = str_make(&t->s.arena);
    str_addf(&text, "mfc 1\nir_version 8\nopset 17\ngraph {\n%s\n  output %%y\n}\n", lines);
    assert_int_equal(parse_text((struct model_text){str_text(&text), text.n, "cost.mfc"},
                                &t->s.arena, &t->names, &t->s.diags, &t->m),
                     ST_OK);
    struct graph *g = t->m->graph;
    for (size_t i = 0; i < g->order.n; i++)
        assert_int_equal(shape_infer(g, g->order.at[i], &t->s.diags), ST_OK);
    node_id id = graph_value(g, graph_find(g, "y"))->def;
    cost_estimate(g, id, &t->s.arena, &t->s.diags, &t->cost);
}

static void subject_close(struct subject *t) {
    model_close(t->m);
    scene_close(&t->s);
}

static void expect(const char *lines, int64_t flops, int64_t bytes, int64_t workspace_bytes) {
    struct subject t;
    subject_open(&t, lines);
    assert_int_equal(t.cost.flops, flops);
    assert_int_equal(t.cost.bytes, bytes);
    assert_int_equal(t.cost.workspace_bytes, workspace_bytes);
    assert_true(t.cost.work >= t.cost.flops);
    subject_close(&t);
}

static void convolutions(void **state) {
    (void)state;
    // 2 x 8 x 6 x 6 outputs of 4 x 3 x 3 products; fewer filters than positions: one segment.
    expect("  input %x : f32[2,4,8,8]\n  input %w : f32[8,4,3,3]\n  %y = Conv(%x, %w)",
           2 * 576 * 36, 4 * (512 + 288 + 576), 65536);
    // More filters (64) than positions (36): the whole image matrix of one example, 36 x 36.
    expect("  input %x : f32[2,4,8,8]\n  input %w : f32[64,4,3,3]\n  %y = Conv(%x, %w)",
           2 * 4608 * 36, 4 * (512 + 2304 + 4608), 4 * 36 * 36);
    // Each of 4 channels by itself.
    expect("  input %x : f32[1,4,8,8]\n  input %w : f32[4,1,3,3]\n  %y = Conv(%x, %w, group=4)",
           2 * 144 * 9, 4 * (256 + 36 + 144), 65536);
    expect("  input %x : f32[1,4,8,8]\n  input %w : f32[6,4,1,1]\n  %y = Conv(%x, %w)", 2 * 384 * 4,
           4 * (256 + 24 + 384), 0);
    // 3 x 16 inputs spread over 5 x 3 x 3 each; the matrix of 45 x 16.
    expect("  input %x : f32[1,3,4,4]\n  input %w : f32[3,5,3,3]\n  %y = ConvTranspose(%x, %w)",
           2 * 48 * 45, 4 * (48 + 135 + 5 * 36), 4 * 45 * 16);
    expect("  input %x : f32[1,2,6,6]\n  %y = MaxPool(%x, kernel_shape=[2,2], strides=[2,2])", 72,
           4 * (72 + 18), 0);
}

static void products(void **state) {
    (void)state;
    expect("  input %a : f32[3,5,7]\n  input %b : f32[7,2]\n  %y = MatMul(%a, %b)", 2 * 30 * 7,
           4 * (105 + 14 + 30), 0);
    expect("  input %a : f32[7,5]\n  input %b : f32[2,7]\n  %y = Gemm(%a, %b, transA=1, transB=1)",
           2 * 10 * 7, 4 * (35 + 14 + 10), 0);
    // Copies of operands and result, and twice the bytes.
    expect("  input %a : f32[2,3,5]\n  input %b : f32[2,5,7]\n"
           "  %y = Einsum(%a, %b, equation=\"bij,bjk->bik\")",
           2 * 2 * 3 * 5 * 7, 2 * 4 * (30 + 70 + 42), 4 * (30 + 70 + 42));
    // 6 steps of 2 examples, 4 gates of 5: 240 cells of 3 + 5 products; the gates of 7 steps.
    expect("  input %x : f32[6,2,3]\n  input %w : f32[1,20,3]\n  input %r : f32[1,20,5]\n"
           "  %y = LSTM(%x, %w, %r, hidden_size=5)",
           240 * 2 * 8, 4 * (36 + 60 + 100 + 60), 4 * 280);
}

static void moves(void **state) {
    (void)state;
    expect("  input %x : f32[10]\n  %y = Relu(%x)", 10, 80, 0);
    expect("  input %a : f32[4,5]\n  input %b : f32[5]\n  %y = Add(%a, %b)", 20, 4 * 45, 0);
    expect("  input %a : f32[9]\n  %y = Sum(%a, %a, %a, %a)", 27, 4 * (36 + 9 + 36), 2 * 36);
    expect("  input %c : bool[9]\n  input %a : f32[9]\n  %y = Where(%c, %a, %a)", 9,
           9 + 4 * 27 + 4 * 36, 2 * 36);
    expect("  input %x : f32[10]\n  const %s : i64[2] = {2,5}\n  %y = Reshape(%x, %s)", 0, 0, 0);
    // What is looked up counts, not the table.
    expect("  input %x : f32[1000,4]\n  input %i : i64[3]\n  %y = Gather(%x, %i)", 0, 2 * 48 + 24,
           0);
    expect("  input %x : f32[3,4]\n  %y = Transpose(%x)", 0, 3 * 48, 0);
    expect("  input %x : f32[3,4]\n  %y = ReduceMax(%x, axes=[1])", 12, 48 + 12, 0);
    expect("  input %x : f32[3,4]\n  %y = Softmax(%x, axis=0)", 48, 96, 96);
    expect("  input %x : f32[3,4]\n  %y = Softmax(%x, axis=1)", 48, 96, 0);
    // An operator that nothing is known about.
    expect("  input %x : f32[3]\n  %y = some.where:Thing(%x) : f16[5]", 0, 12 + 10, 0);
}

static void times(void **state) {
    (void)state;
    struct subject t;
    subject_open(&t, "  input %x : f32[1000]\n  %y = Relu(%x)");
    struct cost_device device = {.rate = 1, .bandwidth = 4, .overhead = 50};
    assert_int_equal(cost_time(&t.cost, &device), 2050);
    device.rate = 0.25;
    assert_int_equal(cost_time(&t.cost, &device), 4050);
    device = (struct cost_device){.rate = 1e12, .bandwidth = 1e12};
    assert_int_equal(cost_time(&t.cost, &device), 1);
    device.rate = 1e-300;
    assert_int_equal(cost_time(&t.cost, &device), COST_MAX);
    subject_close(&t);
    subject_open(&t, "  %y = Constant(value_float=1.0)");
    assert_int_equal(cost_time(&t.cost, &device), 0);
    subject_close(&t);
}

static void what_overflows_stays_at_the_most(void **state) {
    (void)state;
    struct subject t;
    subject_open(&t, "  input %a : f32[2000000000,1]\n  input %b : f32[1,1000000000]\n"
                     "  %y = MatMul(%a, %b)");
    assert_int_equal(t.cost.flops, 4000000000000000000);
    assert_int_equal(t.cost.work, INT64_MAX);
    subject_close(&t);
    assert_int_equal(cost_product(INT64_MAX, 2), INT64_MAX);
    assert_int_equal(cost_sum(INT64_MAX, 1), INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(products),
        cmocka_unit_test(moves),
        cmocka_unit_test(times),
        cmocka_unit_test(what_overflows_stays_at_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
