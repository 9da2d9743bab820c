// A plan that the pass wrap puts into an If, and that unwrap_model takes out again: random models
// come back as they were, also through text, and a wrapper that is changed in any way is left
// alone.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/text/text.h"
#include "ir/wrapper/node_table.h"
#include "ir/wrapper/unwrap.h"
#include "passes/rewrite/wrap.h"
#include "tests/unit/random_graph.h"

enum { N_MODELS = 400 };

static const char *text_of(struct scene *s, const struct model *m) {
    struct str text = str_make(&s->arena);
    assert_int_equal(print_model(&text, m, ".", &s->diags), ST_OK);
    return str_text(&text);
}

static struct model *parsed(struct scene *s, struct pool *pool, const char *text) {
    struct model *m = NULL;
    status st = parse_text((struct model_text){text, strlen(text), "t.mfc"}, &s->arena, pool,
                           &s->diags, &m);
    return st ? NULL : m;
}

static bool wrap(struct scene *s, struct model *m) {
    struct pass_context c = {.arena = &s->arena, .diags = &s->diags};
    bool done = wrap_is_possible(m);
    assert_int_equal(wrap_model(m, &c), ST_OK);
    assert_int_equal(model_verify(m, &s->diags), ST_OK);
    return done;
}

static void unwrap(struct scene *s, struct model *m) {
    assert_int_equal(unwrap_model(m, &s->diags), ST_OK);
    assert_int_equal(model_verify(m, &s->diags), ST_OK);
}

// Takes from a random model what an If cannot hold (functions, training information, annotations)
// and declarations, whose order may change, and puts weights before small constants; adds an input
// for the token, and metadata.
static void prepare(struct model *m) {
    struct graph *g = m->graph;
    m->functions.n = m->training.n = g->quantization.n = 0;
    m->ir_version = 8;
    for (size_t i = 0; i < g->infos.n; i++)
        graph_value(g, g->infos.at[i])->has_info = false;
    g->infos.n = 0;
    size_t n_first = 0; // the constants that go inside come back behind the others
    for (size_t i = 0; i < g->inits.n; i++) {
        value_id v = g->inits.at[i];
        int64_t n_bytes;
        const struct value *at = graph_value(g, v);
        if (at->is_input || at->is_output || at->init->payload == PAYLOAD_EXTERNAL ||
            !tensor_bytes(at->init, &n_bytes) || n_bytes > 1024) {
            memmove(&g->inits.at[n_first + 1], &g->inits.at[n_first], (i - n_first) * sizeof v);
            g->inits.at[n_first++] = v;
        }
    }
    for (size_t i = 0; i < g->order.n; i++) { // at least one output of a node
        const struct node *n = graph_node(g, g->order.at[i]);
        if (n->n_out && n->out[0].i && !graph_value(g, n->out[0])->is_output) {
            assert_true(graph_add_output(g, n->out[0]));
            break;
        }
    }
    for (size_t i = 0; i < g->outputs.n; i++) {
        struct value *v = graph_value(g, g->outputs.at[i]);
        if (!v->type || v->type->kind != TYPE_TENSOR || v->type->elem != ELEM_F16)
            v->type = type_unranked(m->arena, i % 2 ? ELEM_F32 : ELEM_I64);
        if (v->def.i && strncmp(v->name, "out:", 4) != 0) // subgraphs may hide its name
            assert_true(graph_rename(g, g->outputs.at[i], str_format(m->arena, "out:%s", v->name)));
    }
    value_id x = graph_add_value(g, graph_fresh_name(g, "token"),
                                 type_static(m->arena, ELEM_F32, (int64_t[]){2, 3}, 2));
    assert_true(x.i && graph_add_input(g, x));
    m->opsets.n = 0;
    assert_true(VEC_PUSH(m->arena, &m->opsets, (struct opset){.domain = "", .version = 17}));
    for (size_t i = 0; i < g->order.n; i += 3)
        assert_true(pairs_set(&graph_node(g, g->order.at[i])->metadata, m->arena, "dev.mfc.origin",
                              i % 2 ? "a\tb\\\nc" : ""));
}

static void random_models_come_back(void **state) {
    (void)state;
    size_t n_wrapped = 0, n_nested = 0;
    for (uint64_t seed = 0; seed < N_MODELS; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool pool = pool_make(&s.arena);
        struct model *m = random_model(&s.arena, &pool, 7000000 + seed);
        prepare(m);
        const char *before = text_of(&s, m);
        for (size_t i = 0; i < m->graph->order.n; i++)
            n_nested += node_subgraph(graph_node(m->graph, m->graph->order.at[i]), 0) != NULL;
        if (wrap(&s, m)) {
            const char *wrapped = text_of(&s, m);
            struct model *again = parsed(&s, &pool, wrapped);
            assert_non_null(again);
            assert_string_equal(text_of(&s, again), wrapped);
            unwrap(&s, m);
            assert_true(m->is_wrapped);
            assert_string_equal(text_of(&s, m), before);
            unwrap(&s, again);
            assert_string_equal(text_of(&s, again), before);
            n_wrapped++;
        } else {
            unwrap(&s, m);
            assert_false(m->is_wrapped);
            assert_string_equal(text_of(&s, m), before);
        }
        scene_close(&s);
    }
    assert_true(n_wrapped > N_MODELS / 2);
    assert_true(n_nested > 50);
}

// Inputs that are outputs, an output listed twice, an unused weight, a subgraph that
// reads an output, names that the wrapper would like.
static const char plan[] =
    "mfc 1\nir_version 8\nopset 17\nmetadata dev.mfc.runtime=\"ort\"\n"
    "graph \"g\" {\n"
    "  input %s : f32[]\n"
    "  input %x : f32[2,3]\n"
    "  input %on : bool[]\n"
    "  input %w : f32[3]\n"
    "  input %unread : f32[3]\n"
    "  param %w : f32[3] = {1, 2, 3}\n"
    "  param %unread : f32[3] = {1, 2, 3}\n"
    "  const %two : f32[] = {2}\n"
    "  %wrap/0 = Mul(%x, %w) : f32[2,3] name=a metadata={dev.mfc.role=\"once\"}\n"
    "  %y = Mul(%wrap/0, %two) : f32[2,3] name=b\n"
    "  %z = If(%on, then_branch=graph \"t\" {\n"
    "    %t = Neg(%y)\n"
    "    output %t\n"
    "  }, else_branch=graph \"e\" {\n"
    "    %wrap1/0 = Abs(%y)\n"
    "    output %wrap1/0\n"
    "  }) : f32[2,3] name=c metadata={dev.mfc.role=\"kept\", dev.mfc.stage=\"1\"}\n"
    "  output %y\n"
    "  output %x\n"
    "  output %z\n"
    "  output %y\n"
    "}\n";

static struct model *wrapped_plan(struct scene *s, struct pool *pool) {
    struct model *m = parsed(s, pool, plan);
    assert_non_null(m);
    assert_true(wrap(s, m));
    return m;
}

static void an_awkward_plan_comes_back(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool pool = pool_make(&s.arena);
    struct model *m = parsed(&s, &pool, plan);
    assert_non_null(m);
    const char *before = text_of(&s, m);
    assert_true(wrap(&s, m));
    assert_int_equal(m->graph->order.n, 5);
    assert_int_equal(m->graph->inputs.n, 5);
    assert_int_equal(m->graph->inits.n, 4); // weights and constants of the wrapper
    assert_int_equal(m->graph->outputs.n, 4);
    assert_null(strstr(text_of(&s, m), "metadata={"));
    unwrap(&s, m);
    assert_true(m->is_wrapped);
    assert_string_equal(text_of(&s, m), before);
    scene_close(&s);
}

// Each change makes another model. None is taken for a wrapped plan.
static const struct {
    const char *what, *from, *to;
} changes[] = {
    {"another operator of the condition", "= Equal(", "= Greater("},
    {"a condition that may be false", "%wrap2/const.1 : i64[] = {1}",
     "%wrap2/const.1 : i64[] = {2}"},
    {"a constant that callers may replace",
     "  input %x :", "  input %wrap2/const.1 : i64[]\n  input %x :"},
    {"a mask that keeps an element", "%wrap2/const : bool[1] = {0}",
     "%wrap2/const : bool[1] = {1}"},
    {"a longer sequence", "SequenceConstruct(%wrap2/Compress)",
     "SequenceConstruct(%wrap2/Compress, %wrap2/Compress)"},
    {"an axis", "Compress(%x, %wrap2/const)", "Compress(%x, %wrap2/const, axis=0)"},
    {"a token of a weight", "Compress(%x, %wrap2/const)", "Compress(%w, %wrap2/const)"},
    {"a condition that reads an input", "= If(%wrap2/Equal,", "= If(%on,"},
    {"swapped branches", "then_branch=graph \"plan\"", "else_branch=graph \"plan\""},
    {"an operator of another domain", "= Equal(", "= other.Equal("},
    {"an extra node outside", "  %wrap2/Equal = ", "  %more = Neg(%x)\n  %wrap2/Equal = "},
    {"an extra node in the else-branch", "    output %wrap2/else/Cast\n",
     "    %more = Neg(%wrap2/else/Cast)\n    output %wrap2/else/Cast\n"},
    {"an else-branch without the sequence",
     "SequenceLength(%wrap2/SequenceConstruct) name=wrap2/else",
     "Neg(%wrap2/SequenceLength) name=wrap2/else"},
    {"an else-branch without the length outside",
     "Add(%wrap2/else/SequenceLength, %wrap2/SequenceLength)",
     "Add(%wrap2/else/SequenceLength, %wrap2/else/SequenceLength)"},
    {"another element type", "Cast(%wrap2/else/Add, to=1)", "Cast(%wrap2/else/Add, to=7)"},
    {"a second number of one type", "    output %wrap2/else/Cast\n",
     "    %more = Cast(%wrap2/else/Add, to=1) : f32[*]\n    output %more\n"},
    {"a length as an output", "    output %wrap2/else/Cast\n",
     "    output %wrap2/else/SequenceLength\n"},
    {"a shape of an output of the branch", "%wrap2/0 = Mul(%wrap/0, %two) : f32[*]",
     "%wrap2/0 = Mul(%wrap/0, %two) : f32[2,3]"},
    {"an output of the branch that nothing computes", "    output %wrap2/0\n", "    output %x\n"},
    {"an output of the branch twice", "    output %wrap2/0\n", "    output %wrap2/1\n"},
    {"a dead output of the If", "  output %z\n", ""},
    {"the condition as an output", "  output %z\n", "  output %z\n  output %wrap2/Equal\n"},
    {"a plan that reads the sequence's length", "Mul(%wrap/0, %two)",
     "Mul(%wrap/0, %wrap2/SequenceLength)"},
    {"a plan that reads a constant of the wrapper", "Mul(%wrap/0, %two)",
     "Mul(%wrap/0, %wrap2/const.1)"},
    {"an input of the plan", "    const %two :", "    input %in : f32[]\n    const %two :"},
    {"a constant as an output of the branch", "    output %wrap2/0\n", "    output %two\n"},
    {"a name hidden by the plan", "    %wrap/0 = Mul(%x, %w)",
     "    %unread = Mul(%x, %w)\n    %wrap/0 = Neg(%unread)"},
    {"metadata of the If", "name=wrap2/If", "name=wrap2/If metadata={a=\"b\"}"},
    {"an older opset", "opset 17", "opset 10"},
};

static const char *replaced(struct scene *s, const char *text, const char *from, const char *to) {
    struct str out = str_make(&s->arena);
    const char *at = strstr(text, from);
    if (!at)
        print_error("not found: %s in\n%s", from, text);
    assert_non_null(at);
    str_add_n(&out, text, (size_t)(at - text));
    str_add(&out, to);
    str_add(&out, at + strlen(from));
    return str_text(&out);
}

static void a_changed_wrapper_is_left_alone(void **state) {
    (void)state;
    size_t n_parsed = 0;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct scene s;
        scene_open(&s);
        struct pool pool = pool_make(&s.arena);
        const char *text = text_of(&s, wrapped_plan(&s, &pool));
        text = replaced(&s, text, changes[i].from, changes[i].to);
        if (strcmp(changes[i].what, "swapped branches") == 0)
            text = replaced(&s, text, "else_branch=graph \"never\"", "then_branch=graph \"never\"");
        struct model *m = parsed(&s, &pool, text);
        if (!m || model_verify(m, &s.diags)) {
            print_error("%s is no model:\n%s\n", changes[i].what, s.diags.list.at[0].text);
        } else {
            const char *before = text_of(&s, m);
            unwrap(&s, m);
            if (m->is_wrapped)
                print_error("%s is taken for a wrapped plan\n", changes[i].what);
            assert_false(m->is_wrapped);
            assert_string_equal(text_of(&s, m), before);
            n_parsed++;
        }
        scene_close(&s);
    }
    assert_int_equal(n_parsed, sizeof changes / sizeof *changes);
}

// The outputs of the If and of the plan belong together by position.
static void outputs_are_taken_by_position(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool pool = pool_make(&s.arena);
    const char *text = text_of(&s, wrapped_plan(&s, &pool));
    text = replaced(&s, text, "  %y, %z = If(", "  %z, %y = If(");
    struct model *m = parsed(&s, &pool, text);
    assert_non_null(m);
    unwrap(&s, m);
    assert_true(m->is_wrapped);
    const struct graph *g = m->graph;
    assert_string_equal(graph_node(g, graph_value(g, graph_find(g, "y"))->def)->type, "If");
    assert_string_equal(graph_node(g, graph_value(g, graph_find(g, "z"))->def)->type, "Mul");
    scene_close(&s);
}

static void a_wrong_table_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } tables[] = {{"role\\tstage\\n", "role\\tstages\\n"},
                  {"role\\tstage\\n", "role\\trole\\n"},
                  {"once\\n\\n", "once\\n"},
                  {"once\\n\\n", "once\\n\\n\\n"},
                  {"kept\\t1", "kept\\t1\\t1"},
                  {"kept\\t1", "kept\\\\x\\t1"},
                  {"role\\tstage\\n", "\\n"}};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct scene s;
        scene_open(&s);
        struct pool pool = pool_make(&s.arena);
        const char *text = text_of(&s, wrapped_plan(&s, &pool));
        struct model *m = parsed(&s, &pool, replaced(&s, text, tables[i].from, tables[i].to));
        assert_non_null(m);
        assert_int_equal(unwrap_model(m, &s.diags), ST_MALFORMED);
        scene_close(&s);
    }
}

// Without memory: an error, never a model that is half taken apart.
static void out_of_memory_is_an_error(void **state) {
    (void)state;
    status st = ST_LIMIT;
    int64_t n_calls = 0;
    for (; st; n_calls++) {
        struct scene s;
        scene_open(&s);
        struct pool pool = pool_make(&s.arena);
        struct model *m = wrapped_plan(&s, &pool);
        s.mem.fail_after = n_calls;
        st = unwrap_model(m, &s.diags);
        s.mem.fail_after = -1;
        assert_true(st == ST_LIMIT || (!st && m->is_wrapped));
        scene_close(&s);
    }
    assert_true(n_calls > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_models_come_back),
        cmocka_unit_test(an_awkward_plan_comes_back),
        cmocka_unit_test(a_changed_wrapper_is_left_alone),
        cmocka_unit_test(outputs_are_taken_by_position),
        cmocka_unit_test(a_wrong_table_is_refused),
        cmocka_unit_test(out_of_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
