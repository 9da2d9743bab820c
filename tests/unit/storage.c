// ir: who shares bytes with whom, when they are held, and copies of models.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/copy.h"
#include "ir/storage.h"
#include "ir/text/text.h"
#include "tests/unit/random_graph.h"

struct parsed {
    struct scene s;
    struct pool pool;
    struct model *m;
    struct storage storage;
};

static status open_text(struct parsed *p, const char *text) {
    scene_open(&p->s);
    p->pool = pool_make(&p->s.arena);
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "test.mfc"}, &p->s.arena,
                                &p->pool, &p->s.diags, &p->m),
                     ST_OK);
    return storage_of(p->m->graph, &p->s.arena, &p->s.diags, &p->storage);
}

static uint32_t storage_named(const struct parsed *p, const char *value) {
    return p->storage.of[graph_find(p->m->graph, value).i];
}

static const char chain[] = "mfc 1\n"
                            "opset 17\n"
                            "graph \"g\" {\n"
                            "  input %x : f32[2,8]\n"
                            "  param %w : f32[2] = {1.0,2.0}\n"
                            "  const %flat : i64[1] = {-1}\n"
                            "  %v = Reshape(%x, %flat) : f32[16]\n"
                            "  %a = Exp(%v) : f32[16] workspace=100\n"
                            "  %b = Reshape(%a, %flat) : f32[16]\n"
                            "  %c = Add(%b, %w) : f32[16]\n"
                            "  %lost = Neg(%c) : f32[16]\n"
                            "  %out = Reshape(%c, %flat) : f32[16]\n"
                            "  output %out\n"
                            "  output %c\n"
                            "}\n";

static void views_share_and_outputs_do_not(void **state) {
    (void)state;
    struct parsed p;
    assert_int_equal(open_text(&p, chain), ST_OK);
    const struct storage *s = &p.storage;
    assert_int_equal(storage_named(&p, "v"), storage_named(&p, "x"));
    assert_int_equal(storage_named(&p, "b"), storage_named(&p, "a"));
    assert_int_not_equal(storage_named(&p, "out"), storage_named(&p, "c"));
    assert_true(s->is_persistent[storage_named(&p, "w")]);
    assert_true(s->is_output[storage_named(&p, "c")]);
    assert_false(s->is_output[storage_named(&p, "a")]);
    assert_int_equal(s->bytes[storage_named(&p, "a")], 64);
    assert_int_equal(s->persistent_bytes, 64 + 8 + 8);
    scene_close(&p.s);
}

static void held_from_first_write_to_last_read(void **state) {
    (void)state;
    struct parsed p;
    assert_int_equal(open_text(&p, chain), ST_OK);
    struct liveness l;
    const struct graph *g = p.m->graph;
    assert_int_equal(liveness_of(g, &p.storage, (struct node_list){g->order.at, g->order.n},
                                 &p.s.arena, &p.s.diags, &l),
                     ST_OK);
    uint32_t a = storage_named(&p, "a"), c = storage_named(&p, "c");
    assert_int_equal(l.from[a], 1);
    assert_int_equal(l.to[a], 3); // through its view
    assert_int_equal(l.from[c], 3);
    assert_int_equal(l.to[c], 6); // an output, held behind the last step
    const int64_t fixed = 80;
    const int64_t expected[] = {fixed,       fixed + 64 + 100, fixed + 64,
                                fixed + 128, fixed + 128,      fixed + 128};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(l.held_bytes[i], expected[i]);
    assert_int_equal(l.peak_bytes, fixed + 164);
    assert_int_equal(l.peak_step, 1);
    scene_close(&p.s);
}

static void unknown_sizes_are_all_named(void **state) {
    (void)state;
    struct parsed p;
    status st = open_text(&p, "mfc 1\nopset 17\ngraph \"g\" {\n  input %x : f32[N,8]\n"
                              "  %y = Exp(%x) : f32[N,8]\n  output %y\n}\n");
    assert_int_equal(st, ST_MALFORMED);
    assert_int_equal(p.s.diags.n_errors, 2);
    scene_close(&p.s);
}

static const char *printed(struct scene *s, const struct model *m) {
    struct str text = str_make(&s->arena);
    assert_int_equal(print_model(&text, m, ".", &s->diags), ST_OK);
    return str_text(&text);
}

// A copy prints as the original does, and the original still does so when the copy was torn apart.
static void copies_are_apart(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct model *m = random_model(&s.arena, &names, seed);
        const char *before = printed(&s, m);
        struct model *copy = model_copy(m, &s.arena);
        assert_non_null(copy);
        assert_string_equal(printed(&s, copy), before);
        struct graph *g = copy->graph;
        for (size_t i = 0; i < g->order.n; i++) {
            struct node *n = graph_node(g, g->order.at[i]);
            for (uint32_t k = 0; k < n->n_in; k++)
                n->in[k] = VALUE_NONE;
            for (uint32_t k = 0; k < n->n_attrs; k++) {
                if (n->attrs[k].kind == ATTR_GRAPH && n->attrs[k].g)
                    n->attrs[k].g->order.n = 0;
                n->attrs[k].name = "gone";
            }
        }
        assert_true(graph_add_value(g, graph_fresh_name(g, "new"), NULL).i);
        g->order.n = g->inputs.n = g->outputs.n = 0;
        assert_string_equal(printed(&s, m), before);
        scene_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_share_and_outputs_do_not),
        cmocka_unit_test(held_from_first_write_to_last_read),
        cmocka_unit_test(unknown_sizes_are_all_named),
        cmocka_unit_test(copies_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
