// The structural verifier: every rule is broken once, and must be named.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/text/text.h"

static const char sample[] = "mfc 1\n"
                             "device \"gpu0\"\n"
                             "graph \"g\" {\n"
                             "  input %x : f32[2]\n"
                             "  param %w : f32[2] = {1.0,2.0}\n"
                             "  %a = Add(%x, %w) : f32[2]\n"
                             "  %b = Relu(%a, slope=1, other=2) again(%a) @gpu0\n"
                             "  %y = If(%b, then_branch=graph \"t\" {\n"
                             "    %c = Neg(%a)\n"
                             "    output %c\n"
                             "  })\n"
                             "  output %y\n"
                             "}\n"
                             "function F<d> {\n"
                             "  input %p\n"
                             "  %q = Relu(%p)\n"
                             "  output %q\n"
                             "}\n";

static value_id find(struct graph *g, const char *name) {
    return graph_find(g, name);
}

static struct value *value(struct graph *g, const char *name) {
    return graph_value(g, find(g, name));
}

static struct node *maker(struct graph *g, const char *name) {
    return graph_node(g, value(g, name)->def);
}

static struct graph *branch(struct model *m) {
    return maker(m->graph, "y")->attrs[0].g;
}

// Each breaks one rule.
static void name_twice(struct model *m) {
    value(m->graph, "a")->name = value(m->graph, "x")->name;
}
static void no_name(struct model *m) {
    value(m->graph, "a")->name = "";
}
static void wrong_maker(struct model *m) {
    value(m->graph, "a")->def = value(m->graph, "b")->def;
}
static void two_origins(struct model *m) {
    value(m->graph, "a")->init = value(m->graph, "w")->init;
    (void)VEC_PUSH(m->arena, &m->graph->inits, find(m->graph, "a"));
}
static void no_enclosing_graph(struct model *m) {
    value_id v = graph_add_value(m->graph, "lost", NULL);
    graph_value(m->graph, v)->outer = find(m->graph, "x");
}
static void enclosing_value_out_of_range(struct model *m) {
    value(branch(m), "a")->outer.i = 1000;
}
static void negative_dimension(struct model *m) {
    int64_t dims[] = {-7};
    value(m->graph, "a")->type = type_static(m->arena, ELEM_F32, dims, 1);
}
static void input_twice(struct model *m) {
    (void)VEC_PUSH(m->arena, &m->graph->inputs, find(m->graph, "x"));
}
static void input_not_listed(struct model *m) {
    m->graph->inputs.n = 0;
}
static void input_not_marked(struct model *m) {
    value(m->graph, "x")->is_input = false;
}
static void output_not_listed(struct model *m) {
    m->graph->outputs.n = 0;
}
static void initializer_not_listed(struct model *m) {
    m->graph->inits.n = 0;
}
static void declaration_not_listed(struct model *m) {
    m->graph->infos.n = 0;
}
static void list_out_of_range(struct model *m) {
    m->graph->outputs.at[0].i = 99;
}
static void nobody_makes_the_output(struct model *m) {
    value_id v = graph_add_value(m->graph, "ghost", NULL);
    graph_add_output(m->graph, v);
}
static void order_out_of_range(struct model *m) {
    m->graph->order.at[0].i = 77;
}
static void node_twice_in_order(struct model *m) {
    m->graph->order.at[2] = m->graph->order.at[1];
}
static void node_not_in_order(struct model *m) {
    m->graph->order.n--;
}
static void not_topological(struct model *m) {
    node_id t = m->graph->order.at[0];
    m->graph->order.at[0] = m->graph->order.at[1];
    m->graph->order.at[1] = t;
}
static void reads_nothing(struct model *m) {
    maker(m->graph, "b")->in[0] = graph_add_value(m->graph, "ghost", NULL);
}
static void operand_out_of_range(struct model *m) {
    maker(m->graph, "b")->in[0].i = 99;
}
static void result_out_of_range(struct model *m) {
    maker(m->graph, "b")->out[0].i = 99;
}
static void two_makers(struct model *m) {
    maker(m->graph, "b")->out[0] = find(m->graph, "a");
}
static void too_many_operands(struct model *m) {
    struct node *n = maker(m->graph, "a");
    n->type = pool_intern(m->pool, "Relu");
    n->op = op_find("", "Relu");
}
static void too_few_operands(struct model *m) {
    maker(m->graph, "a")->n_in = 1;
}
static void wrong_operator(struct model *m) {
    maker(m->graph, "a")->op = op_find("", "Mul");
}
static void attribute_twice(struct model *m) {
    maker(m->graph, "b")->attrs[1].name = maker(m->graph, "b")->attrs[0].name;
}
static void attribute_of_no_kind(struct model *m) {
    maker(m->graph, "b")->attrs[1].kind = (enum attr_kind)99;
}
static void subgraph_missing(struct model *m) {
    maker(m->graph, "y")->attrs[0].g = NULL;
}
static void subgraph_of_another(struct model *m) {
    branch(m)->outer = m->functions.at[0].body;
}
static void subgraph_broken(struct model *m) {
    branch(m)->outputs.n = 0;
}
static void captured_too_early(struct model *m) {
    value(branch(m), "a")->outer = find(m->graph, "y");
}
static void recomputes_nothing(struct model *m) {
    maker(m->graph, "b")->again.i = 50;
}
static void on_no_device(struct model *m) {
    maker(m->graph, "b")->device = 2;
}
static void negative_cost(struct model *m) {
    maker(m->graph, "b")->cost = -2;
}
static void function_twice(struct model *m) {
    (void)VEC_PUSH(m->arena, &m->functions, m->functions.at[0]);
}
static void function_broken(struct model *m) {
    m->functions.at[0].body->order.n = 0;
}

static const struct {
    void (*damage)(struct model *m);
    const char *finding; // part of one of the messages
} cases[] = {
    {name_twice, "two values have the name \"x\""},
    {no_name, "has no name"},
    {wrong_maker, "the producer of \"a\" does not have it as an output"},
    {two_origins, "\"a\" has more than one origin"},
    {no_enclosing_graph, "\"lost\" captures a value that the enclosing graph does not have"},
    {enclosing_value_out_of_range, "\"a\" captures a value that the enclosing graph does not have"},
    {negative_dimension, "dimension 0 of \"a\" is -7"},
    {input_twice, "\"x\" is listed twice in the inputs"},
    {input_not_listed, "\"x\" is missing from the inputs"},
    {input_not_marked, "\"x\" is in the inputs without their flag"},
    {output_not_listed, "\"y\" is missing from the outputs"},
    {initializer_not_listed, "\"w\" is missing from the initializers"},
    {declaration_not_listed, "\"a\" is missing from the declarations"},
    {list_out_of_range, "entry 0 of the outputs is not a value"},
    {nobody_makes_the_output, "the output \"ghost\" has no producer"},
    {order_out_of_range, "entry 0 of the order is not a node"},
    {node_twice_in_order, "is listed twice in the order"},
    {node_not_in_order, "is not in the order"},
    {not_topological, "reads \"a\" before its producer: the order is not topological"},
    {reads_nothing, "reads \"ghost\", which has no producer"},
    {operand_out_of_range, "reads a value that does not exist"},
    {result_out_of_range, "produces a value that does not exist"},
    {two_makers, "produces \"a\", which has another producer"},
    {too_many_operands, "has 2 inputs; Relu takes 1 to 1"},
    {too_few_operands, "has 1 inputs; Add takes 2 to 2"},
    {wrong_operator, "has an operator number that does not match its type"},
    {attribute_twice, "has attribute \"slope\" twice"},
    {attribute_of_no_kind, "attribute \"other\" has the unknown kind 99"},
    {subgraph_missing, "attribute \"then_branch\" has no graph"},
    {subgraph_of_another, "the graph in attribute \"then_branch\" belongs to another node"},
    {subgraph_broken, "\"c\" is missing from the outputs"},
    {captured_too_early, "reads \"y\" before its producer"},
    {recomputes_nothing, "recomputes a node that does not exist"},
    {on_no_device, "is on device 2 of 1"},
    {negative_cost, "has a negative cost or workspace"},
    {function_twice, "there are two functions of this name"},
    {function_broken, "is not in the order"},
};

static struct model *parse(struct scene *s, struct pool *names) {
    struct model *m;
    assert_int_equal(parse_text((struct model_text){sample, sizeof sample - 1, "v.mfc"}, &s->arena,
                                names, &s->diags, &m),
                     ST_OK);
    return m;
}

static void the_sample_is_sound(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    assert_int_equal(model_verify(parse(&s, &names), &s.diags), ST_OK);
    assert_int_equal(s.diags.list.n, 0);
    scene_close(&s);
}

static void every_broken_rule_is_named(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = parse(&s, &names);
        cases[i].damage(m);
        assert_int_equal(model_verify(m, &s.diags), ST_MALFORMED);
        bool found = false;
        for (size_t k = 0; k < s.diags.list.n; k++)
            found |= strstr(s.diags.list.at[k].text, cases[i].finding) != NULL;
        if (!found)
            for (size_t k = 0; k < s.diags.list.n; k++)
                print_error("%s: got %s\n", cases[i].finding, s.diags.list.at[k].text);
        assert_true(found);
        scene_close(&s);
    }
}

static void all_findings_come_at_once(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = parse(&s, &names);
    negative_cost(m);
    attribute_of_no_kind(m);
    function_broken(m);
    model_verify(m, &s.diags);
    assert_true(s.diags.n_errors >= 3);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_sound),
        cmocka_unit_test(every_broken_rule_is_named),
        cmocka_unit_test(all_findings_come_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
