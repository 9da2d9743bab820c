// The runtime model on graphs whose peak can be worked out by hand. Tensors have 1000 bytes unless
// their type says otherwise; x, the input, is fixed. All types are declared, as value_info, where
// there is no line infos ().
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/runtime/ort_loaded.h"
#include "ir/runtime/runtime.h"
#include "ir/text/text.h"

#define T " : f32[250]\n"

struct opened {
    struct scene s;
    struct pool names;
    struct model *m;
    struct runtime_report r;
};

static void model(struct opened *o, const char *body, enum runtime how) {
    scene_open(&o->s);
    o->names = pool_make(&o->s.arena);
    char *text = str_format(&o->s.arena, "mfc 1\nopset 17\ngraph {\n  input %%x" T "%s}\n", body);
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "t"}, &o->s.arena,
                                &o->names, &o->s.diags, &o->m),
                     ST_OK);
    assert_int_equal(runtime_peak(o->m, how, &o->s.arena, &o->s.diags, &o->r), ST_OK);
}

static void expect_peaks(const char *body, int64_t plain, int64_t fused) {
    struct opened o;
    model(&o, body, RUNTIME_ORT_LEAN);
    assert_int_equal(o.r.plain_peak_bytes, plain);
    assert_int_equal(o.r.fused_peak_bytes, fused);
    assert_int_equal(o.r.peak_bytes, plain > fused ? plain : fused);
    scene_close(&o.s);
}

static void expect_peak(const char *body, int64_t peak) {
    expect_peaks(body, peak, peak);
}

// a and b live while b is made: x + 2000. With declared shapes, d takes the buffer of a.
static void two_at_a_time(void **state) {
    (void)state;
    expect_peak("  %a = Exp(%x)" T "  %b = Neg(%a)" T "  %d = Abs(%b)" T "  output %d\n", 3000);
}

// Neg writes elsewhere, Relu over its dying operand.
static void in_place(void **state) {
    (void)state;
    expect_peak("  %a = Exp(%x)" T "  %b = Neg(%a)" T "  %s = ReduceSum(%b) : f32[1]\n"
                "  output %s\n",
                3000);
    expect_peak("  %a = Exp(%x)" T "  %b = Relu(%a)" T "  %s = ReduceSum(%b) : f32[1]\n"
                "  output %s\n",
                2004);
}

// a is read again later, so Relu needs a buffer of its own.
static void not_in_place_while_read(void **state) {
    (void)state;
    expect_peak("  %a = Exp(%x)" T "  %b = Relu(%a)" T "  %d = Mul(%a, %b)" T
                "  %s = ReduceSum(%d) : f32[1]\n  output %s\n",
                4000);
}

static void not_over_the_input(void **state) {
    (void)state;
    expect_peak("  %a = Relu(%x)" T "  %s = ReduceSum(%a) : f32[1]\n  output %s\n", 2004);
}

static void views_cost_nothing(void **state) {
    (void)state;
    expect_peak("  const %k : i64[2] = {10,25}\n  %a = Exp(%x)" T
                "  %b = Reshape(%a, %k) : f32[10,25]\n  %s = ReduceSum(%b) : f32[1,1]\n"
                "  output %s\n",
                2020);
}

// A view that is an output is handed out as a tensor of its own.
static void views_that_are_outputs_are_copies(void **state) {
    (void)state;
    expect_peak("  %a = Exp(%x)" T "  %b = Identity(%a)" T "  output %b\n", 3000);
}

// The buffer of a, free after b, is taken by e two nodes later and held in between: while the large
// d is made, x, a's idle buffer, b and d are held. Plain liveness would be 1000 less.
#define HELD                                                                                       \
    "  %a = Exp(%x)" T "  %b = ReduceSum(%a, keepdims=1) : f32[1]\n"                               \
    "  %d = Expand(%b, %big) : f32[1000]\n  %s = ReduceSum(%d, keepdims=1) : f32[1]\n"             \
    "  %e = Mul(%x, %s)" T "  %z = ReduceSum(%e, keepdims=1) : f32[1]\n  output %z\n"

static void buffers_are_held_for_reuse(void **state) {
    (void)state;
    // At the peak, d is made: x 1000, the constant 8, a's buffer 1000, b 4, d 4000.
    expect_peak("  const %big : i64[1] = {1000}\n" HELD, 6012);
}

// With the shape of the input hidden nothing is held: x 1000, constants 8 + 8 + 1, b 4, d 4000.
static void hidden_shapes_are_not_held(void **state) {
    (void)state;
    struct opened o;
    model(&o,
          "  infos ()\n  const %big : i64[1] = {1000}\n  const %k : i64[1] = {250}\n  const %no : "
          "bool[1] = {0}\n"
          "  %f = Compress(%x, %no) : f32[0]\n  %t = Cast(%f, to=7) : i64[0]\n"
          "  %c = Concat(%k, %t, axis=0) : i64[1]\n"
          "  %h = Reshape(%x, %c, allowzero=1)" T "  %a = Exp(%h)" T
          "  %b = ReduceSum(%a, keepdims=1) : f32[1]\n"
          "  %d = Expand(%b, %big) : f32[1000]\n  %s = ReduceSum(%d, keepdims=1) : f32[1]\n"
          "  %e = Mul(%h, %s)" T "  %z = ReduceSum(%e, keepdims=1) : f32[1]\n  output %z\n",
          RUNTIME_ORT_LEAN);
    assert_int_equal(o.r.persistent_bytes, 1000 + 8 + 8 + 1);
    assert_int_equal(o.r.peak_bytes, o.r.persistent_bytes + 4 + 4000);
    assert_string_equal(graph_value(o.m->graph, o.r.top[0].value)->name, "d");
    struct str top = str_make(&o.s.arena);
    runtime_print_top(&top, o.m, &o.r);
    assert_string_equal(str_text(&top), "d (3.91 KiB), b (4 B)");
    scene_close(&o.s);
}

// An output is held to the end, and its buffer is nobody else's.
static void outputs_are_held(void **state) {
    (void)state;
    expect_peak("  %a = Exp(%x)" T "  %b = Neg(%a)" T "  %d = Abs(%b)" T "  %e = Exp(%d)" T
                "  output %b\n  output %e\n",
                4000);
}

// The indices of a are nobody's: they stay to the end, beside the large d. b is read and goes.
static void what_nobody_reads_stays(void **state) {
    (void)state;
    expect_peak("  const %k : i64[3] = {1,1,250}\n  const %big : i64[1] = {1000}\n"
                "  %v = Reshape(%x, %k) : f32[1,1,250]\n"
                "  %a, %i = MaxPool(%v, kernel_shape=[1]) : f32[1,1,250], i64[1,1,250]\n"
                "  %b = GlobalAveragePool(%a) : f32[1,1,1]\n"
                "  %d = Expand(%b, %big) : f32[1,1,1000]\n"
                "  %e = GlobalAveragePool(%d) : f32[1,1,1]\n  output %e\n",
                1000 + 24 + 8 + 2000 + 4 + 4000);
}

// Conv and Relu are one at the fusing levels. At the others both results are held while Relu runs:
// Conv's shape is not known, since that of the hidden input is not.
static void activations_are_fused(void **state) {
    (void)state;
    const char *body = "  infos ()\n  input %n : i64[0]\n  const %w : f32[1,1,1,1] = {2.0}\n"
                       "  const %k : i64[4] = {1,1,10,25}\n"
                       "  %c = Concat(%k, %n, axis=0) : i64[4]\n"
                       "  %h = Reshape(%x, %c) : f32[1,1,10,25]\n"
                       "  %a = Conv(%h, %w) : f32[1,1,10,25]\n  %b = Relu(%a) : f32[1,1,10,25]\n"
                       "  %s = GlobalAveragePool(%b) : f32[1,1,1,1]\n  output %s\n";
    expect_peaks(body, 1036 + 2000, 1036 + 1004);
}

// x * Sigmoid(x) is QuickGelu, which makes no gate. Shapes are not known, so that nothing is in
// place.
static void gates_are_fused(void **state) {
    (void)state;
    const char *body = "  infos ()\n  input %n : i64[0]\n  const %k : i64[4] = {1,1,10,25}\n"
                       "  %c = Concat(%k, %n, axis=0) : i64[4]\n"
                       "  %h = Reshape(%x, %c) : f32[1,1,10,25]\n"
                       "  %a = Exp(%h) : f32[1,1,10,25]\n  %g = Sigmoid(%a) : f32[1,1,10,25]\n"
                       "  %b = Mul(%g, %a) : f32[1,1,10,25]\n"
                       "  %s = GlobalAveragePool(%b) : f32[1,1,1,1]\n  output %s\n";
    expect_peaks(body, 1032 + 3000, 1032 + 2000);
}

// The five nodes of a Gelu make one result.
static void gelu_is_fused(void **state) {
    (void)state;
    const char *body = "  infos ()\n  input %n : i64[0]\n  const %k : i64[4] = {1,1,10,25}\n"
                       "  const %r : f32[] = {1.4142135}\n  const %o : f32[] = {1.0}\n"
                       "  const %f : f32[] = {0.5}\n  %c = Concat(%k, %n, axis=0) : i64[4]\n"
                       "  %h = Reshape(%x, %c) : f32[1,1,10,25]\n"
                       "  %a = Exp(%h) : f32[1,1,10,25]\n  %d = Div(%a, %r) : f32[1,1,10,25]\n"
                       "  %e = Erf(%d) : f32[1,1,10,25]\n  %p = Add(%e, %o) : f32[1,1,10,25]\n"
                       "  %m = Mul(%a, %p) : f32[1,1,10,25]\n  %b = Mul(%m, %f) : f32[1,1,10,25]\n"
                       "  %s = GlobalAveragePool(%b) : f32[1,1,1,1]\n  output %s\n";
    expect_peaks(body, 1044 + 3000, 1044 + 2000);
}

// The columns of a constant matrix are packed by 16; one that is computed is not packed.
static void constant_matrices_are_packed(void **state) {
    (void)state;
    struct opened o;
    model(&o,
          "  const %k : i64[2] = {125,2}\n  const %w : f32[2,2] = {1.0,2.0,3.0,4.0}\n"
          "  %h = Reshape(%x, %k) : f32[125,2]\n  %v = Exp(%w) : f32[2,2]\n"
          "  %a = MatMul(%h, %w) : f32[125,2]\n  %b = Gemm(%a, %w, transB=1) : f32[125,2]\n"
          "  %c = MatMul(%b, %v) : f32[125,2]\n  output %c\n",
          RUNTIME_ORT_LEAN);
    const struct graph *g = o.m->graph;
    int64_t n_bytes, n_products = 0, n_packed = 0;
    for (size_t i = 0; i < g->order.n; i++) {
        const struct node *n = graph_node(g, g->order.at[i]);
        n_products += n->op == OP_MatMul || n->op == OP_Gemm;
        if (!ort_packs(g, n, &n_bytes))
            continue;
        assert_int_equal(n_bytes, 2 * 16 * 4);
        n_packed++;
    }
    assert_int_equal(n_products, 3);
    assert_int_equal(n_packed, 2);
    scene_close(&o.s);
}

// A FusedMatMul reads what the Transpose read.
static void transposes_are_read_through(void **state) {
    (void)state;
    expect_peaks("  const %k : i64[2] = {10,25}\n  %y = Exp(%x)" T
                 "  %a = Reshape(%y, %k) : f32[10,25]\n"
                 "  %b = Transpose(%a, perm=[1,0]) : f32[25,10]\n"
                 "  %z = MatMul(%b, %a) : f32[25,25]\n"
                 "  %s = ReduceSum(%z) : f32[1,1]\n  output %s\n",
                 1016 + 1000 + 1000 + 2500, 1016 + 1000 + 2500);
}

static void file_order_is_liveness(void **state) {
    (void)state;
    struct opened o;
    model(&o,
          "  %a = Exp(%x)" T "  %b = Relu(%a)" T "  %r = Exp(%b)" T "  %d = Mul(%r, %b)" T
          "  output %d\n",
          RUNTIME_FILE_ORDER);
    assert_int_equal(o.r.peak_bytes, 4000);
    assert_int_equal(o.r.n_order, 4);
    assert_int_equal(o.r.held_bytes[0], 2000);
    assert_int_equal(o.r.held_bytes[1], 3000);
    scene_close(&o.s);
}

// With the arena, memory is what its regions have taken, and from the second run on memory patterns
// hold a block beside them, unless the step is in a branch.
static void runs_of_a_session(void **state) {
    (void)state;
    struct opened o;
    const char *body = "  const %k : i64[1] = {1000000}\n  %s = ReduceSum(%x) : f32[1]\n"
                       "  %a = Expand(%s, %k) : f32[1000000]\n  %b = Neg(%a) : f32[1000000]\n"
                       "  %d = Exp(%b) : f32[1000000]\n  %e = ReduceSum(%d) : f32[1]\n"
                       "  output %e\n";
    const int64_t two = 2 * 4000000, table = 8 * (1 << 20) / 32;
    model(&o, body, RUNTIME_ORT);
    assert_true(o.r.run_bytes[0] >= o.r.persistent_bytes + two + table);
    assert_true(o.r.run_bytes[1] >= o.r.run_bytes[0] + two);
    assert_int_equal(o.r.peak_bytes, o.r.run_bytes[RUNTIME_RUNS - 1]);
    int64_t first_bytes = o.r.run_bytes[0];
    o.m->is_wrapped = true;
    assert_int_equal(runtime_peak(o.m, RUNTIME_ORT, &o.s.arena, &o.s.diags, &o.r), ST_OK);
    assert_int_equal(o.r.peak_bytes, first_bytes);
    assert_int_equal(o.r.run_bytes[RUNTIME_RUNS - 1], first_bytes);
    scene_close(&o.s);
}

static void the_name_of_a_runtime(void **state) {
    (void)state;
    enum runtime r;
    assert_true(runtime_find("ort", &r) && r == RUNTIME_ORT);
    assert_true(runtime_find("ort-lean", &r) && r == RUNTIME_ORT_LEAN);
    assert_true(runtime_find("file-order", &r) && r == RUNTIME_FILE_ORDER);
    assert_false(runtime_find("other", &r));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_at_a_time),
        cmocka_unit_test(in_place),
        cmocka_unit_test(not_in_place_while_read),
        cmocka_unit_test(not_over_the_input),
        cmocka_unit_test(views_cost_nothing),
        cmocka_unit_test(views_that_are_outputs_are_copies),
        cmocka_unit_test(buffers_are_held_for_reuse),
        cmocka_unit_test(hidden_shapes_are_not_held),
        cmocka_unit_test(outputs_are_held),
        cmocka_unit_test(what_nobody_reads_stays),
        cmocka_unit_test(activations_are_fused),
        cmocka_unit_test(gates_are_fused),
        cmocka_unit_test(gelu_is_fused),
        cmocka_unit_test(constant_matrices_are_packed),
        cmocka_unit_test(transposes_are_read_through),
        cmocka_unit_test(file_order_is_liveness),
        cmocka_unit_test(runs_of_a_session),
        cmocka_unit_test(the_name_of_a_runtime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
