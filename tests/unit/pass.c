// Pipelines: how they are read, what they demand, what they catch; and the passes that belong to no
// family, on random models.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/text/text.h"
#include "passes/pass.h"
#include "tests/unit/random_graph.h"

static void pipelines_are_read(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pass_pipeline p;
    assert_int_equal(pass_pipeline_parse(&s.arena, &s.diags, " sort,dce, ,sort", &p), ST_OK);
    assert_int_equal(p.n, 3);
    assert_ptr_equal(p.at[0], pass_find("sort"));
    assert_ptr_equal(p.at[1], pass_find("dce"));
    assert_ptr_equal(p.at[2], pass_find("sort"));
    assert_int_equal(pass_pipeline_parse(&s.arena, &s.diags, "", &p), ST_OK);
    assert_int_equal(p.n, 0);
    assert_int_equal(pass_pipeline_parse(&s.arena, &s.diags, "sort,sour,dcd", &p), ST_USAGE);
    assert_int_equal(s.diags.n_errors, 2);
    scene_close(&s);
}

static void every_pass_can_be_found(void **state) {
    (void)state;
    for (const struct pass *const *p = pass_table; *p; p++) {
        assert_ptr_equal(pass_find((*p)->name), *p);
        assert_true((*p)->summary && *(*p)->summary && (*p)->run);
    }
    assert_null(pass_find("no such pass"));
}

static void facts_have_words(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct str text = str_make(&s.arena);
    fact_print(&text, FACT_TOPO | FACT_GRAD | FACT_COSTS);
    assert_string_equal(str_text(&text), "topo, grad, costs");
    unsigned fact = 0;
    assert_true(fact_find("grad", &fact));
    assert_int_equal(fact, FACT_GRAD);
    assert_true(fact_find("rewritten", &fact)); // a word of version 0.1
    assert_int_equal(fact, 0);
    assert_false(fact_find("gard", &fact));
    unsigned given = 0;
    for (const struct pass *const *p = pass_table; *p; p++)
        given |= (*p)->gives;
    assert_int_equal(given, FACT_ALL);
    scene_close(&s);
}

static status does_nothing(struct model *m, struct pass_context *c) {
    (void)m;
    (void)c;
    return ST_OK;
}

static status breaks_the_graph(struct model *m, struct pass_context *c) {
    (void)c;
    m->graph->order.n = 0;
    return ST_OK;
}

static status fails(struct model *m, struct pass_context *c) {
    (void)m;
    return diag_error(c->diags, DIAG_UNSUPPORTED, loc_none(), "cannot do it");
}

static const struct pass gives_shapes = {
    .name = "gives", .gives = FACT_SHAPES, .run = does_nothing};
static const struct pass breaks_shapes = {
    .name = "breaks", .breaks = FACT_SHAPES, .run = does_nothing};
static const struct pass needs_shapes = {
    .name = "needs", .needs = FACT_SHAPES, .run = does_nothing};
static const struct pass defect = {.name = "defect", .run = breaks_the_graph};
static const struct pass failure = {.name = "failure", .run = fails};

static const struct pass claims[] = {
    {.name = "claims-shapes", .gives = FACT_SHAPES, .run = does_nothing},
    {.name = "claims-loss", .gives = FACT_LOSS, .run = does_nothing},
    {.name = "claims-grad", .gives = FACT_GRAD, .run = does_nothing},
    {.name = "claims-costs", .gives = FACT_COSTS, .run = does_nothing},
};
enum { N_CLAIMS = sizeof claims / sizeof *claims };

static struct model *small_model(struct scene *s, struct pool *names) {
    static const char text[] = "mfc 1\ngraph {\n  input %x\n  %y = Relu(%x)\n  output %y\n}\n";
    struct model *m;
    assert_int_equal(parse_text((struct model_text){text, sizeof text - 1, "p.mfc"}, &s->arena,
                                names, &s->diags, &m),
                     ST_OK);
    return m;
}

// Counts the calls of the hooks.
static status count_call(void *to, const struct pass *p, size_t i, const struct model *m) {
    (void)p;
    (void)i;
    (void)m;
    ++*(int *)to;
    return ST_OK;
}

static status run(struct scene *s, struct model *m, const struct pass **list, size_t n,
                  int *n_calls) {
    struct pass_context c = {.arena = &s->arena, .diags = &s->diags};
    struct pass_pipeline p = {list, n};
    struct pass_pipeline_hooks hooks = {.to = n_calls, .before = count_call, .after = count_call};
    *n_calls = 0;
    return pass_pipeline_run(&p, m, &c, &hooks);
}

static void needs_are_checked_before_anything_runs(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = small_model(&s, &names);
    int n_calls;
    const struct pass *good[] = {&gives_shapes, &needs_shapes};
    assert_int_equal(run(&s, m, good, 2, &n_calls), ST_OK);
    assert_int_equal(n_calls, 4);
    assert_int_equal(m->facts, FACT_SHAPES);
    const struct pass *bad[] = {&breaks_shapes, &needs_shapes};
    assert_int_equal(run(&s, m, bad, 2, &n_calls), ST_USAGE);
    assert_int_equal(n_calls, 0);
    assert_int_equal(m->facts, FACT_SHAPES);
    assert_non_null(
        strstr(s.diags.list.at[0].text, "pass needs needs the facts shapes: run shapes before it"));
    scene_close(&s);
}

static void a_pass_that_breaks_the_graph_is_caught(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = small_model(&s, &names);
    const struct pass *list[] = {&defect, &gives_shapes};
    int n_calls;
    assert_int_equal(run(&s, m, list, 2, &n_calls), ST_INTERNAL);
    assert_int_equal(n_calls, 1);
    assert_int_equal(s.diags.n_errors, 1);
    assert_int_equal(s.diags.list.at[0].code, DIAG_INTERNAL);
    assert_true(s.diags.list.n > 1); // what the verifier found, as notes
    scene_close(&s);
}

// A model with a typed input, whose other types, loss, gradients and costs are all missing.
static struct model *typed_model(struct scene *s, struct pool *names, const char *facts) {
    char text[256];
    int n = snprintf(text, sizeof text,
                     "mfc 1\nopset 17\n%sgraph {\n  input %%x : f32[4]\n  %%y = Relu(%%x)\n"
                     "  output %%y\n}\n",
                     facts);
    struct model *m;
    assert_int_equal(
        parse_text((struct model_text){text, (size_t)n, "p.mfc"}, &s->arena, names, &s->diags, &m),
        ST_OK);
    return m;
}

static status run_checked(struct scene *s, struct model *m, const struct pass *pass) {
    struct pass_context c = {.arena = &s->arena, .diags = &s->diags, .checks_facts = true};
    return pass_pipeline_run(&PASS_PIPELINE(pass), m, &c, NULL);
}

static void a_fact_that_a_pass_does_not_establish_is_caught(void **state) {
    (void)state;
    for (size_t i = 0; i < N_CLAIMS; i++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = typed_model(&s, &names, "");
        assert_int_equal(run_checked(&s, m, &claims[i]), ST_INTERNAL);
        assert_int_equal(s.diags.n_errors, 1);
        assert_int_equal(s.diags.list.n, 2);
        assert_non_null(strstr(s.diags.list.at[0].text, claims[i].name));
        assert_non_null(strstr(s.diags.list.at[1].text, "does not hold"));
        scene_close(&s);
    }
}

// A pass must declare the facts that it breaks.
static status forgets_types(struct model *m, struct pass_context *c) {
    (void)c;
    graph_value(m->graph, m->graph->outputs.at[0])->type = NULL;
    return ST_OK;
}

static void a_broken_fact_that_is_not_declared_is_caught(void **state) {
    (void)state;
    static const struct pass silent = {.name = "silent", .run = forgets_types};
    static const struct pass honest = {
        .name = "honest", .breaks = FACT_SHAPES, .run = forgets_types};
    for (int declared = 0; declared < 2; declared++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = typed_model(&s, &names, "");
        struct options o = options_make(&s.arena);
        struct pass_context c = {
            .arena = &s.arena, .diags = &s.diags, .options = &o, .checks_facts = true};
        assert_int_equal(pass_add_options(&o, &s.diags), ST_OK);
        struct pass_pipeline p =
            PASS_PIPELINE(&pass_sort, &pass_shapes, declared ? &honest : &silent);
        assert_int_equal(pass_pipeline_run(&p, m, &c, NULL), declared ? ST_OK : ST_INTERNAL);
        scene_close(&s);
    }
}

static void a_false_fact_of_the_input_is_malformed(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = typed_model(&s, &names, "facts shapes, plan\n");
    assert_int_equal(m->facts, FACT_SHAPES);
    assert_int_equal(run_checked(&s, m, &needs_shapes), ST_MALFORMED);
    scene_close(&s);
}

static void a_failure_ends_the_run(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct model *m = small_model(&s, &names);
    const struct pass *list[] = {&gives_shapes, &failure, &breaks_shapes};
    int n_calls;
    assert_int_equal(run(&s, m, list, 3, &n_calls), ST_UNSUPPORTED);
    assert_int_equal(n_calls, 3);
    scene_close(&s);
}

static size_t n_nodes(const struct model *m) {
    size_t n = m->graph->order.n;
    for (size_t i = 0; i < m->functions.n; i++)
        n += m->functions.at[i].body->order.n;
    return n;
}

// Dead code elimination leaves a sound model, the same interface, and nothing for a second run.
static void dce_on_random_models(void **state) {
    (void)state;
    size_t n_before = 0, n_after = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = random_model(&s.arena, &names, seed);
        m->facts |= FACT_TOPO;
        size_t n_inputs = m->graph->inputs.n, n_outputs = m->graph->outputs.n;
        const struct pass *list[] = {pass_find("dce")};
        struct str once = str_make(&s.arena), twice = str_make(&s.arena);
        int n_calls;
        n_before += n_nodes(m);
        assert_int_equal(run(&s, m, list, 1, &n_calls), ST_OK);
        n_after += n_nodes(m);
        assert_int_equal(m->graph->inputs.n, n_inputs);
        assert_int_equal(m->graph->outputs.n, n_outputs);
        print_model(&once, m, ".", &s.diags);
        assert_int_equal(run(&s, m, list, 1, &n_calls), ST_OK);
        print_model(&twice, m, ".", &s.diags);
        assert_string_equal(str_text(&once), str_text(&twice));
        scene_close(&s);
    }
    assert_true(n_after > 100 && n_after < n_before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelines_are_read),
        cmocka_unit_test(every_pass_can_be_found),
        cmocka_unit_test(facts_have_words),
        cmocka_unit_test(needs_are_checked_before_anything_runs),
        cmocka_unit_test(a_pass_that_breaks_the_graph_is_caught),
        cmocka_unit_test(a_fact_that_a_pass_does_not_establish_is_caught),
        cmocka_unit_test(a_broken_fact_that_is_not_declared_is_caught),
        cmocka_unit_test(a_false_fact_of_the_input_is_malformed),
        cmocka_unit_test(a_failure_ends_the_run),
        cmocka_unit_test(dce_on_random_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
