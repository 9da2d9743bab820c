// The order of ONNX Runtime, by hand: leaves from the last, operands by the highest place in the
// file, functions without a kernel behind everything, Constant nodes not at all.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/runtime/ort_order.h"
#include "ir/text/text.h"

// `expected`: first outputs of the nodes in order, each followed by a space.
static void expect_order(const char *body, const char *expected) {
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct str text = str_make(&s.arena), got = str_make(&s.arena);
    struct model *m;
    struct ort_order o;
    str_addf(&text, "mfc 1\nopset 17\ngraph {\n  input %%x : f32[4]\n  input %%c : bool[]\n%s}\n",
             body);
    assert_int_equal(
        parse_text((struct model_text){text.at, text.n, "t"}, &s.arena, &names, &s.diags, &m),
        ST_OK);
    assert_int_equal(ort_order(m->graph, &s.arena, &s.diags, &o), ST_OK);
    for (size_t i = 0; i < o.n; i++)
        str_addf(&got, "%s ", graph_value(m->graph, graph_node(m->graph, o.at[i])->out[0])->name);
    assert_string_equal(str_text(&got), expected);
    scene_close(&s);
}

static void chains_run_as_they_stand(void **state) {
    (void)state;
    expect_order("  %a = Relu(%x)\n  %b = Relu(%a)\n  %d = Relu(%b)\n  output %d\n", "a b d ");
}

// Both leaves need a; the last leaf goes first.
static void the_last_leaf_goes_first(void **state) {
    (void)state;
    expect_order("  %a = Relu(%x)\n  %b = Neg(%a)\n  %d = Abs(%a)\n  output %b\n  output %d\n",
                 "a d b ");
}

// An output that another node reads is no leaf.
static void outputs_that_are_read_are_no_leaves(void **state) {
    (void)state;
    expect_order("  %a = Relu(%x)\n  %b = Neg(%a)\n  %d = Abs(%x)\n  output %a\n  output %b\n"
                 "  output %d\n",
                 "d a b ");
}

static void operands_go_by_their_place_in_the_file(void **state) {
    (void)state;
    expect_order("  %a = Relu(%x)\n  %b = Neg(%x)\n  %d = Abs(%x)\n  %e = Sum(%b, %d, %a)\n"
                 "  output %e\n",
                 "d b a e ");
}

// What an earlier walk has visited is not visited again.
static void shared_operands_run_once(void **state) {
    (void)state;
    expect_order("  %a = Relu(%x)\n  %b = Neg(%a)\n  %d = Abs(%a)\n  %e = Add(%b, %d)\n"
                 "  %f = Mul(%e, %a)\n  output %f\n",
                 "a d b e f ");
}

// In a training step: the recomputed node r runs before the gradient that the plan wants it behind.
static void recomputation_runs_too_early(void **state) {
    (void)state;
    expect_order("  %a = Relu(%x)\n  %b = Neg(%a)\n  %g = Abs(%b)\n  %r = Relu(%x)\n"
                 "  %h = Mul(%g, %r)\n  output %h\n",
                 "r a b g h ");
}

static void constants_do_not_run(void **state) {
    (void)state;
    expect_order("  %k = Constant(value_float=2.0)\n  %a = Mul(%x, %k)\n  output %a\n", "a ");
}

// Mish stands first in the file, but what it is inlined to comes last, so it is visited first.
static void inlined_functions_count_as_last(void **state) {
    (void)state;
    expect_order("  %a = Mish(%x)\n  %b = Neg(%x)\n  %d = Add(%a, %b)\n  output %d\n", "a b d ");
    expect_order("  %a = Exp(%x)\n  %b = Neg(%x)\n  %d = Add(%a, %b)\n  output %d\n", "b a d ");
}

static void subgraphs_need_what_they_read(void **state) {
    (void)state;
    expect_order("  %a = Relu(%x)\n  %b = Neg(%x)\n"
                 "  %y = If(%c, then_branch=graph {\n    %t = Abs(%a)\n    output %t\n  }, "
                 "else_branch=graph {\n    %e = Abs(%b)\n    output %e\n  })\n  output %y\n",
                 "b a y ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_run_as_they_stand),
        cmocka_unit_test(the_last_leaf_goes_first),
        cmocka_unit_test(outputs_that_are_read_are_no_leaves),
        cmocka_unit_test(operands_go_by_their_place_in_the_file),
        cmocka_unit_test(shared_operands_run_once),
        cmocka_unit_test(recomputation_runs_too_early),
        cmocka_unit_test(constants_do_not_run),
        cmocka_unit_test(inlined_functions_count_as_last),
        cmocka_unit_test(subgraphs_need_what_they_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
