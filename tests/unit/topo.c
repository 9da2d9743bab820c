// Topological sorting: an order that is right stays, any other becomes right, cycles are named.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/text/text.h"
#include "tests/unit/random_graph.h"

static struct model *parse(struct scene *s, struct pool *names, const char *text) {
    struct model *m;
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "t.mfc"}, &s->arena, names,
                                &s->diags, &m),
                     ST_OK);
    return m;
}

static void expect_sorted(const char *before, const char *after) {
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = parse(&s, &names, before);
    assert_int_equal(graph_sort(m->graph, &s.diags), ST_OK);
    assert_int_equal(model_verify(m, &s.diags), ST_OK);
    struct str text = str_make(&s.arena);
    print_model(&text, m, ".", &s.diags);
    assert_string_equal(str_text(&text), after);
    scene_close(&s);
}

static void what_is_needed_comes_first(void **state) {
    (void)state;
    expect_sorted("mfc 1\n"
                  "graph {\n"
                  "  input %x\n"
                  "  %c = Add(%b, %a)\n"
                  "  %a = Relu(%x)\n"
                  "  %d = Relu(%c)\n"
                  "  %b = Relu(%a)\n"
                  "  output %d\n"
                  "}\n",
                  "mfc 1\n"
                  "graph {\n"
                  "  input %x\n"
                  "  %a = Relu(%x)\n"
                  "  %b = Relu(%a)\n"
                  "  %c = Add(%b, %a)\n"
                  "  %d = Relu(%c)\n"
                  "  output %d\n"
                  "}\n");
}

static void subgraphs_need_what_they_read(void **state) {
    (void)state;
    expect_sorted("mfc 1\n"
                  "graph {\n"
                  "  input %c\n"
                  "  %y = If(%c, then_branch=graph {\n"
                  "    %q = Neg(%p)\n"
                  "    %p = Relu(%late)\n"
                  "    output %q\n"
                  "  }, else_branch=graph {\n"
                  "    output %late\n"
                  "  })\n"
                  "  %late = Relu(%c)\n"
                  "  output %y\n"
                  "}\n",
                  "mfc 1\n"
                  "graph {\n"
                  "  input %c\n"
                  "  %late = Relu(%c)\n"
                  "  %y = If(%c, then_branch=graph {\n"
                  "    %p = Relu(%late)\n"
                  "    %q = Neg(%p)\n"
                  "    output %q\n"
                  "  }, else_branch=graph {\n"
                  "    output %late\n"
                  "  })\n"
                  "  output %y\n"
                  "}\n");
}

static void expect_cycle(const char *text, const char *expected) {
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = parse(&s, &names, text);
    assert_int_equal(graph_sort(m->graph, &s.diags), ST_MALFORMED);
    assert_int_equal(s.diags.list.n, 1);
    assert_string_equal(s.diags.list.at[0].text, expected);
    scene_close(&s);
}

static void cycles_are_named(void **state) {
    (void)state;
    expect_cycle("mfc 1\ngraph {\n  %a = Relu(%a)\n}\n",
                 "the graph has a cycle: graph/node 0 (Relu a) needs itself");
    expect_cycle("mfc 1\ngraph {\n"
                 "  input %x\n"
                 "  %a = Relu(%x)\n"
                 "  %b = Add(%a, %d)\n"
                 "  %c = Relu(%b) name=middle\n"
                 "  %d = Relu(%c)\n"
                 "}\n",
                 "the graph has a cycle: graph/node 1 (Add b) needs graph/node 3 (Relu d) needs "
                 "graph/node 2 (Relu middle) needs the first");
}

// Swaps neighbours in the order at random, then sorts.
static void shuffled_orders_become_right(void **state) {
    (void)state;
    int n_changed = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = random_model(&s.arena, &names, seed);
        struct graph *g = m->graph;
        struct rng r = rng_make(seed, 1);
        node_id *before = arena_copy(&s.arena, g->order.at, g->order.n * sizeof *before);
        assert_int_equal(graph_sort(g, &s.diags), ST_OK);
        for (size_t i = 0; i < g->order.n; i++) // it was right, so it stays
            assert_int_equal(g->order.at[i].i, before[i].i);
        for (size_t i = g->order.n; i > 1; i--) {
            size_t k = rng_below(&r, i);
            node_id t = g->order.at[i - 1];
            g->order.at[i - 1] = g->order.at[k];
            g->order.at[k] = t;
        }
        struct diags quiet = diags_make(&s.arena);
        n_changed += model_verify(m, &quiet) != ST_OK;
        assert_int_equal(graph_sort(g, &s.diags), ST_OK);
        assert_int_equal(model_verify(m, &s.diags), ST_OK);
        scene_close(&s);
    }
    assert_true(n_changed > 50);
}

// A chain as long as the stack would not survive, given backwards.
static void long_chains_need_no_stack(void **state) {
    (void)state;
    enum { N = 300000 };
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = model_new(&s.arena, &names);
    struct graph *g = m->graph;
    value_id v = graph_add_value(g, "x", NULL);
    graph_add_input(g, v);
    for (int i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        value_id next = graph_add_value(g, name, NULL);
        assert_true(
            graph_add_node(g, "", "Relu", (struct values){&v, 1}, (struct values){&next, 1}).i);
        v = next;
    }
    graph_add_output(g, v);
    for (size_t i = 0; i < N / 2; i++) {
        node_id t = g->order.at[i];
        g->order.at[i] = g->order.at[N - 1 - i];
        g->order.at[N - 1 - i] = t;
    }
    assert_int_equal(graph_sort(g, &s.diags), ST_OK);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(g->order.at[i].i, i + 1);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_needed_comes_first),
        cmocka_unit_test(subgraphs_need_what_they_read),
        cmocka_unit_test(cycles_are_named),
        cmocka_unit_test(shuffled_orders_become_right),
        cmocka_unit_test(long_chains_need_no_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
