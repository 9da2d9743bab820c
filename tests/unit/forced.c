// How much of an order is forced by dependencies, on graphs small enough to see it.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/check/forced_order.h"
#include "ir/text/text.h"

static struct forced forced(struct scene *s, const char *body, const char *order) {
    struct pool names = pool_make(&s->arena);
    struct model *m = NULL;
    struct storage storage;
    struct forced f;
    char *text = str_format(&s->arena,
                            "mfc 1\nopset 17\ngraph \"g\" {\n  input %%x : f32[100]\n%s}\n", body);
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "text"}, &s->arena, &names,
                                &s->diags, &m),
                     ST_OK);
    // `order` names the nodes by what they make, one letter each.
    assert_int_equal(m->graph->order.n, strlen(order));
    for (size_t i = 0; order[i]; i++) {
        char name[2] = {order[i], 0};
        m->graph->order.at[i] = graph_value(m->graph, graph_find(m->graph, name))->def;
    }
    assert_int_equal(storage_of(m->graph, &s->arena, &s->diags, &storage), ST_OK);
    assert_int_equal(forced_order(m->graph, &storage, &s->arena, &s->diags, &f), ST_OK);
    model_close(m);
    return f;
}

static void a_chain(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct forced f = forced(&s,
                             "  %a = Relu(%x) : f32[100]\n  %b = Relu(%a) : f32[50]\n"
                             "  %c = Relu(%b) : f32[100]\n  output %c\n",
                             "abc");
    assert_int_equal(f.light_bytes, 0);
    assert_int_equal(f.loose_bytes, 0);
    assert_int_equal(f.n_heavy, 3);
    assert_int_equal(f.before.i, 0);
    scene_close(&s);
}

// Nothing puts b before c: up to their size all is open, and the nodes in the way are named.
static void two_branches(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct forced f = forced(&s,
                             "  %a = Relu(%x) : f32[100]\n  %b = Relu(%a) : f32[50]\n"
                             "  %c = Neg(%a) : f32[50]\n  %d = Add(%b, %c) : f32[200]\n"
                             "  %e = Exp(%d) : f32[200]\n  output %e\n",
                             "abcde");
    assert_int_equal(f.light_bytes, 400); // both read a
    assert_int_equal(f.loose_bytes, 800);
    assert_int_equal(f.n_heavy, 2);
    assert_int_equal(f.before.i, 2);
    assert_int_equal(f.after.i, 3);
    scene_close(&s);
}

// An empty tensor made of b is enough to keep c behind it.
static void a_control_dependency(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct forced f = forced(&s,
                             "  const %n : bool[1] = {0}\n"
                             "  %a = Relu(%x) : f32[100]\n  %b = Relu(%a) : f32[100]\n"
                             "  %t = Compress(%b, %n) : f32[0]\n  %i = Cast(%t, to=7) : i64[0]\n"
                             "  %v = Unsqueeze(%a, %i) : f32[100]\n"
                             "  %c = Neg(%v) : f32[100]\n  %d = Add(%b, %c) : f32[100]\n"
                             "  output %d\n",
                             "abtivcd");
    assert_int_equal(f.light_bytes, 0);
    assert_int_equal(f.n_heavy, 5); // the token reads b, the alias is a view
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_chain), cmocka_unit_test(two_branches),
                                       cmocka_unit_test(a_control_dependency)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
