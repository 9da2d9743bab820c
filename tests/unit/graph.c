// ir: graphs, names, uses, tensors, the builder, the operator table.
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#include "ir/build.h"
#include "ir/graph.h"
#include "ir/half.h"

struct parsed {
    struct scene s;
    struct pool pool;
    struct model *m;
};

static void parsed_open(struct parsed *p) {
    scene_open(&p->s);
    p->pool = pool_make(&p->s.arena);
    p->m = model_new(&p->s.arena, &p->pool);
    assert_non_null(p->m);
}

static void names_are_unique_and_fresh_ones_found(void **state) {
    (void)state;
    struct parsed p;
    parsed_open(&p);
    struct graph *g = p.m->graph;
    value_id x = graph_add_value(g, "x", NULL);
    assert_int_equal(x.i, 1);
    assert_int_equal(graph_add_value(g, "x", NULL).i, 0);
    assert_string_equal(graph_fresh_name(g, "y"), "y");
    assert_string_equal(graph_fresh_name(g, "x"), "x.1");
    assert_true(graph_add_value(g, "x.2", NULL).i);
    assert_string_equal(graph_fresh_name(g, "x"), "x.3");
    scene_close(&p.s);
}

static void subgraphs_capture_through_all_levels(void **state) {
    (void)state;
    struct parsed p;
    parsed_open(&p);
    struct graph *g = p.m->graph, *in = graph_new(p.m, g), *deep = graph_new(p.m, in);
    value_id x = graph_add_value(g, "x", NULL), c = graph_add_value(g, "c", NULL),
             y = graph_add_value(g, "y", NULL);
    value_id captured = graph_resolve(deep, "x");
    assert_true(captured.i);
    assert_int_equal(graph_value(in, graph_value(deep, captured)->outer)->outer.i, x.i);
    assert_int_equal(graph_resolve(deep, "nothing").i, 0);

    node_id n = graph_add_node(g, "", "If", (struct values){&c, 1}, (struct values){&y, 1});
    struct attr branch = {.name = "then_branch", .kind = ATTR_GRAPH, .n = 1, .g = in};
    assert_true(graph_set_attr(g, n, branch));
    struct uses u;
    assert_true(graph_uses(g, &p.s.arena, &u));
    assert_int_equal(u.start[x.i + 1] - u.start[x.i], 1); // only through the subgraph
    assert_int_equal(u.node[u.start[x.i]].i, n.i);
    assert_int_equal(u.start[y.i + 1] - u.start[y.i], 0);
    scene_close(&p.s);
}

static void tensors_read_every_form(void **state) {
    (void)state;
    struct parsed p;
    parsed_open(&p);
    static const uint8_t varints[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0x01, 0x96, 0x01};
    struct source *bytes;
    assert_int_equal(source_memory(&p.s.arena, &p.s.diags, varints, sizeof varints, &bytes), ST_OK);
    int64_t dims[] = {2}, *x;
    struct tensor t = {.elem = ELEM_I64,
                       .rank = 1,
                       .dims = dims,
                       .payload = PAYLOAD_INT64S,
                       .data = {bytes, 0, sizeof varints}};
    assert_int_equal(tensor_ints(&t, &p.s.arena, &p.s.diags, &x), ST_OK);
    assert_int_equal(x[0], -1);
    assert_int_equal(x[1], 150);
    dims[0] = 3;
    assert_int_equal(tensor_ints(&t, &p.s.arena, &p.s.diags, &x), ST_MALFORMED);

    static const enum elem kinds[] = {ELEM_F16, ELEM_BF16, ELEM_F32, ELEM_F64, ELEM_I8, ELEM_I64};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double in[] = {-2, 0, 96}, *out;
        struct tensor *made = tensor_from_reals(&p.s.arena, kinds[i], in, (int64_t[]){3}, 1);
        assert_int_equal(tensor_reals(made, &p.s.arena, &p.s.diags, &out), ST_OK);
        assert_memory_equal(in, out, sizeof in);
    }
    // 4-bit integers: the first element lies in the low half of the byte.
    static const uint8_t nibbles[] = {0x8f, 0x07};
    assert_int_equal(source_memory(&p.s.arena, &p.s.diags, nibbles, 2, &bytes), ST_OK);
    struct tensor small = {
        .elem = ELEM_I4, .rank = 1, .dims = dims, .payload = PAYLOAD_RAW, .data = {bytes, 0, 2}};
    assert_int_equal(tensor_ints(&small, &p.s.arena, &p.s.diags, &x), ST_OK);
    assert_int_equal(x[0], -1);
    assert_int_equal(x[1], -8);
    assert_int_equal(x[2], 7);
    scene_close(&p.s);
}

static void halves_round_to_even(void **state) {
    (void)state;
    for (uint32_t h = 0; h < 0x7c00; h++) {
        double x = half_to_double((uint16_t)h),
               next = h == 0x7bff ? 65536 : half_to_double((uint16_t)(h + 1));
        assert_int_equal(half_from_double(x), h);
        assert_int_equal(half_from_double((x + next) / 2), h & 1 ? h + 1 : h);
        assert_int_equal(half_from_double(-x), h | 0x8000);
    }
    assert_true(isnan(half_to_double(half_from_double(NAN))));
}

static void builder_reads_as_formula_and_sticks(void **state) {
    (void)state;
    struct parsed p;
    parsed_open(&p);
    struct graph *g = p.m->graph;
    value_id x = graph_add_value(g, "x", NULL);
    struct builder b = builder_make(g, &p.s.diags);
    b.scope = "grad/conv";
    value_id two = build_scalar(&b, ELEM_F32, 2);
    assert_int_equal(two.i, build_scalar(&b, ELEM_F32, 2).i);
    assert_int_not_equal(two.i, build_scalar(&b, ELEM_F64, 2).i);
    value_id y = BUILD(&b, "Mul", x, two);
    int64_t axes[] = {0, 2};
    value_id s = build_op(&b, "ReduceSum", VALUES(y, build_ints(&b, axes, 2)),
                          ATTRS(attr_int("keepdims", 0)));
    assert_int_equal(b.failed, ST_OK);
    assert_string_equal(graph_value(g, y)->name, "grad/conv/Mul");
    const struct node *n = graph_node(g, graph_value(g, s)->def);
    assert_int_equal(n->op, OP_ReduceSum);
    assert_int_equal(node_int(n, "keepdims", 1), 0);

    p.s.mem.fail_after = 0;
    size_t nodes = g->nodes.n;
    while (!b.failed)
        BUILD(&b, "Mul", x, y);
    nodes = g->nodes.n;
    p.s.mem.fail_after = -1;
    assert_int_equal(BUILD(&b, "Mul", x, y).i, 0);
    assert_int_equal(g->nodes.n, nodes);
    scene_close(&p.s);
}

static void operators_are_found(void **state) {
    (void)state;
    for (int op = 1; op < OP_COUNT_; op++) {
        assert_int_equal(op_find("", op_info((enum op)op)->name), op);
        if (op > 1)
            assert_true(strcmp(op_info((enum op)(op - 1))->name, op_info((enum op)op)->name) < 0);
    }
    assert_int_equal(op_find("com.microsoft", "Conv"), OP_UNKNOWN);
    assert_int_equal(op_find("ai.onnx", "Conv"), OP_Conv);
}

static void pairs_are_set_and_replaced(void **state) {
    (void)state;
    struct parsed p;
    parsed_open(&p);
    struct pairs list = {0};
    assert_null(pairs_get(&list, "a"));
    assert_true(pairs_set(&list, &p.s.arena, "a", "1"));
    assert_true(pairs_set(&list, &p.s.arena, "b", "2"));
    struct pairs shared = list;
    assert_true(pairs_set(&list, &p.s.arena, "a", "3"));
    assert_int_equal(list.n, 2);
    assert_string_equal(pairs_get(&list, "a"), "3");
    assert_string_equal(pairs_get(&list, "b"), "2");
    assert_string_equal(pairs_get(&shared, "a"), "1");
    scene_close(&p.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_set_and_replaced),
        cmocka_unit_test(names_are_unique_and_fresh_ones_found),
        cmocka_unit_test(subgraphs_capture_through_all_levels),
        cmocka_unit_test(tensors_read_every_form),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(builder_reads_as_formula_and_sticks),
        cmocka_unit_test(operators_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
