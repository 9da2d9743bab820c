// The comparison of two models by value numbering: what is the same is accepted, in all the forms
// that control dependencies have, and what is not is refused with the node that is the reason.
// Random plans and thousands of changes to them: same_mutants.c.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/check/equivalence.h"
#include "ir/text/text.h"

// A step and a plan share the inputs and constants of this head.
static const char head[] = "mfc 1\n"
                           "ir_version 8\n"
                           "opset 17\n"
                           "graph \"g\" {\n"
                           "  input %x : f32[2,3]\n"
                           "  input %w : f32[2,3]\n"
                           "  param %w : f32[2,3] = {1.0,2.0,3.0,4.0,5.0,6.0}\n"
                           "  const %c : f32[] = {0.5}\n"
                           "  const %flat : i64[1] = {-1}\n"
                           "  const %zero : i64[1] = {0}\n"
                           "  const %one : i64[1] = {1}\n"
                           "  const %shape : i64[2] = {2,3}\n"
                           "  const %other : i64[2] = {3,2}\n"
                           "  const %no : bool[1] = {0}\n"
                           "  const %yes : bool[1] = {1}\n";

static struct model *parse(struct scene *s, struct pool *names, const char *first,
                           const char *body) {
    struct model *m = NULL;
    char *text = str_format(&s->arena, "%s%s}\n", first, body);
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "text"}, &s->arena, names,
                                &s->diags, &m),
                     ST_OK);
    assert_int_equal(graph_sort(m->graph, &s->diags), ST_OK);
    assert_int_equal(model_verify(m, &s->diags), ST_OK);
    return m;
}

static status compare_under(struct scene *s, const char *first, const char *step,
                            const char *second, const char *plan) {
    struct pool names = pool_make(&s->arena), others = pool_make(&s->arena);
    struct model *a = parse(s, &names, first, step), *b = parse(s, &others, second, plan);
    status st = equivalence_check(a, b, &s->diags);
    model_close(a);
    model_close(b);
    return st;
}

static void accept(const char *step, const char *plan) {
    struct scene s;
    scene_open(&s);
    status st = compare_under(&s, head, step, head, plan);
    if (st)
        print_message("%s\n", s.diags.list.n ? s.diags.list.at[0].text : "");
    assert_int_equal(st, ST_OK);
    scene_close(&s);
}

static void expect_refused(struct scene *s, status st, const char *part) {
    assert_int_equal(st, ST_VERIFY);
    assert_true(s->diags.list.n > 0);
    const char *text = s->diags.list.at[0].text, *path = s->diags.list.at[0].where.path;
    bool told = strstr(text, part) || (path && strstr(path, part));
    if (!told)
        print_message("%s: %s\n", path ? path : "", text);
    assert_true(told);
}

static void refuse(const char *step, const char *plan, const char *part) {
    struct scene s;
    scene_open(&s);
    expect_refused(&s, compare_under(&s, head, step, head, plan), part);
    scene_close(&s);
}

#define STEP                                                                                       \
    "  %a = Mul(%x, %w) : f32[2,3]\n"                                                              \
    "  %b = Exp(%a) : f32[2,3]\n"                                                                  \
    "  %y = Sub(%b, %a) : f32[2,3]\n"                                                              \
    "  output %y\n"

static void repeated_nodes(void **state) {
    (void)state;
    accept(STEP, STEP);
    accept(STEP, "  %a = Mul(%x, %w)\n  %b = Exp(%a)\n  %a2 = Mul(%x, %w) again(%a)\n"
                 "  %y = Sub(%b, %a2)\n  output %y\n");
    refuse(STEP,
           "  %a = Mul(%x, %w)\n  %b = Exp(%a)\n  %a2 = Mul(%w, %x) again(%a)\n"
           "  %y = Sub(%b, %a2)\n  output %y\n",
           "Mul(%w, %x), which the step does not have");
    refuse(STEP, "  %a = Mul(%x, %w)\n  %b = Exp(%a)\n  %y = Sub(%a, %b)\n  output %y\n",
           "node 2 (Sub y)");
    refuse(STEP, "  %a = Mul(%x, %w)\n  %b = Exp(%a)\n  %y = Sub(%b, %x)\n  output %y\n",
           "Sub(%b, %x) where the step has Sub(%b, %a)");
    refuse(STEP, "  %a = Mul(%x, %w)\n  %b = Log(%a)\n  %y = Sub(%b, %a)\n  output %y\n",
           "node 1 (Log b)");
    // A copy that lies about what it repeats, although no output depends on it.
    refuse(STEP, STEP "  %z = Exp(%x) again(%b)\n", "recomputed value \"z\"");
}

// t is an alias of a that exists only after b: in each of the forms.
#define ANCHORED(anchor)                                                                           \
    "  %a = Mul(%x, %w)\n  %b = Exp(%a)\n" anchor "  %y = Sub(%b, %t)\n  output %y\n"
#define TOKEN "  %f = Reshape(%b, %flat)\n  %e = Slice(%f, %zero, %zero)\n  %i = Cast(%e, to=7)\n"

static void control_nodes(void **state) {
    (void)state;
    accept(STEP, ANCHORED(TOKEN "  %s = Concat(%shape, %i, axis=0)\n"
                                "  %t = Reshape(%a, %s, allowzero=1)\n"));
    accept(STEP, ANCHORED("  %e = Compress(%b, %no)\n  %i = Cast(%e, to=7)\n"
                          "  %t = Unsqueeze(%a, %i)\n"));
    accept(STEP, ANCHORED(TOKEN "  %s = Concat(%i, %shape, %i, axis=-1)\n"
                                "  %v = Identity(%a)\n  %t = Reshape(%v, %s)\n"));
    accept(STEP, ANCHORED("  %t = Reshape(%a, %shape)\n"));
    // A dependency that keeps something, or reshapes, or is dropped from the shape.
    refuse(STEP, ANCHORED("  %t = Reshape(%a, %other)\n"),
           "Sub(%b, %t) where the step has Sub(%b, %a)");
    refuse(STEP, ANCHORED("  %t = Reshape(%a, %flat)\n"), "Sub(%b, %t)");
    refuse(STEP,
           ANCHORED("  %e = Compress(%b, %yes)\n  %i = Cast(%e, to=7)\n  %t = Unsqueeze(%a, %i)\n"),
           "Sub(%b, %t)");
    refuse(STEP,
           ANCHORED("  %f = Reshape(%b, %flat)\n  %e = Slice(%f, %zero, %one)\n"
                    "  %i = Cast(%e, to=7)\n  %s = Concat(%shape, %i, axis=0)\n"
                    "  %t = Reshape(%a, %s)\n"),
           "Sub(%b, %t)");
    // The slice of a dimension that is reached backwards is not empty.
    refuse(STEP,
           ANCHORED("  %f = Reshape(%b, %flat)\n"
                    "  %e = Slice(%f, %flat, %flat, %zero, %flat)\n  %i = Cast(%e, to=7)\n"
                    "  %t = Unsqueeze(%a, %i)\n"),
           "Sub(%b, %t)");
}

// What the plan declares is not believed: this Reshape is no alias.
static void declared_types(void **state) {
    (void)state;
    refuse("  %y = Exp(%x) : f32[2,3]\n  output %y\n",
           "  %t = Reshape(%x, %other) : f32[3,2]\n  %u = Transpose(%t, perm=[1,0]) : f32[3,2]\n"
           "  %v = Reshape(%u, %other) : f32[3,2]\n  %y = Exp(%v)\n  output %y\n",
           "Transpose(%t)");
}

static void zero_in_a_shape(void **state) {
    (void)state;
    const char step[] = "  const %z : i64[2] = {0,3}\n  %y = Exp(%x) : f32[2,3]\n  output %y\n";
    // 0 copies the dimension, or is one without elements.
    accept(step, "  const %z : i64[2] = {0,3}\n  %t = Reshape(%x, %z)\n  %y = Exp(%t)\n"
                 "  output %y\n");
    refuse(step,
           "  const %z : i64[2] = {0,3}\n  %t = Reshape(%x, %z, allowzero=1)\n  %y = Exp(%t)\n"
           "  output %y\n",
           "Exp(%t)");
}

static void attributes(void **state) {
    (void)state;
    const char step[] = "  %y = LeakyRelu(%x, alpha=0.5) : f32[2,3]\n  output %y\n";
    accept(step, step);
    refuse(step, "  %y = LeakyRelu(%x, alpha=0.25)\n  output %y\n", "the attributes");
    refuse(step, "  %y = LeakyRelu(%x)\n  output %y\n", "the attributes");
    // Their order does not matter.
    accept("  %y = Softmax(%x, axis=1, other=2)\n  output %y\n",
           "  %y = Softmax(%x, other=2, axis=1)\n  output %y\n");
}

static void random_nodes(void **state) {
    (void)state;
    const char step[] = "  %r = RandomNormalLike(%x) : f32[2,3]\n  %y = Sub(%r, %r) : f32[2,3]\n"
                        "  output %y\n";
    accept(step, step);
    refuse(step,
           "  %r = RandomNormalLike(%x)\n  %r2 = RandomNormalLike(%x)\n  %y = Sub(%r, %r2)\n"
           "  output %y\n",
           "RandomNormalLike(%x)");
    const char seeded[] = "  %r = RandomNormalLike(%x, seed=3.0) : f32[2,3]\n"
                          "  %y = Sub(%r, %r) : f32[2,3]\n  output %y\n";
    accept(seeded, "  %r = RandomNormalLike(%x, seed=3.0)\n"
                   "  %r2 = RandomNormalLike(%x, seed=3.0) again(%r)\n  %y = Sub(%r, %r2)\n"
                   "  output %y\n");
    refuse(seeded,
           "  %r = RandomNormalLike(%x, seed=3.0)\n  %r2 = RandomNormalLike(%x, seed=4.0)\n"
           "  %y = Sub(%r, %r2)\n  output %y\n",
           "RandomNormalLike(%x)");
    // What mfc does not know may be random; Dropout is, in training only.
    const char odd[] = "  %r = Odd<my>(%x) : f32[2,3]\n  %y = Sub(%r, %r)\n  output %y\n";
    accept(odd, odd);
    refuse(odd, "  %r = Odd<my>(%x)\n  %s = Odd<my>(%x)\n  %y = Sub(%r, %s)\n  output %y\n",
           "Odd(%x)");
    accept("  %r = Dropout(%x, %c)\n  %y = Sub(%r, %r)\n  output %y\n",
           "  %r = Dropout(%x, %c)\n  %s = Dropout(%x, %c)\n  %y = Sub(%r, %s)\n  output %y\n");
    refuse("  %r = Dropout(%x, %c, %yes)\n  %y = Sub(%r, %r)\n  output %y\n",
           "  %r = Dropout(%x, %c, %yes)\n  %s = Dropout(%x, %c, %yes)\n  %y = Sub(%r, %s)\n"
           "  output %y\n",
           "a random node is reproducible only with an explicit seed");
}

static void subgraphs(void **state) {
    (void)state;
#define BRANCHES(of, other)                                                                        \
    "  %a = Exp(%x) : f32[2,3]\n"                                                                  \
    "  %y = If(%no, then_branch=graph \"t\" {\n    %p = Neg(%" of ")\n    output %p\n"             \
    "  }, else_branch=graph \"e\" {\n    %q = Neg(%" other ")\n    output %q\n  })\n  output %y\n"
    accept(BRANCHES("a", "x"), BRANCHES("a", "x"));
    refuse(BRANCHES("a", "x"), BRANCHES("x", "a"), "node 1 (If y)");
    // Inputs of a body are known by their place, not by their names.
#define BODY(p, q, first, second)                                                                  \
    "  %n = Cast(%one, to=7)\n"                                                                    \
    "  %y = Loop(%n, %no, %x, body=graph \"b\" {\n    input %i : i64[]\n    input %" p             \
    " : bool[]\n    input %" q " : f32[2,3]\n    %s = Sub(%" first ", %" second                    \
    ")\n    output %" p "\n    output %s\n  })\n  output %y\n"
    accept(BODY("k", "v", "v", "w"), BODY("u", "t", "t", "w"));
    refuse(BODY("k", "v", "v", "w"), BODY("k", "v", "w", "v"), "Loop");
}

static void functions(void **state) {
    (void)state;
#define WITH(op)                                                                                   \
    "  %y = F<my>(%x) : f32[2,3]\n  output %y\n}\n"                                                \
    "function F<my> {\n  input %p\n  %q = " op "(%p)\n  output %q\n"
    accept(WITH("Relu"), WITH("Relu"));
    refuse(WITH("Relu"), WITH("Neg"), "F(%x)");
    const char twice[] = "  %z = F<my>(%x)\n  %t = F<my>(%x)\n  %y = Sub(%z, %t)\n  output %y\n}\n"
                         "function F<my> {\n  input %p\n  %q = Neg(%p)\n  output %q\n";
    accept("  %z = F<my>(%x)\n  %y = Sub(%z, %z)\n  output %y\n}\n"
           "function F<my> {\n  input %p\n  %q = Neg(%p)\n  output %q\n",
           twice);
}

static void inputs_and_constants(void **state) {
    (void)state;
    struct scene s;
    const char step[] = "  %y = Add(%x, %w) : f32[2,3]\n  output %y\n";
    const struct {
        const char *from, *to, *part;
    } changes[] = {{"6.0}", "7.0}", "other initial values"},
                   {"input %x : f32[2,3]", "input %x : f32[2,4]", "another type"},
                   {"input %x : f32[2,3]", "input %x : f32[2,3]\n  input %z : f32[]", "\"z\""},
                   {"opset 17", "opset 18", "version 17 in the step and 18"}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        scene_open(&s);
        struct str other = str_make(&s.arena);
        const char *at = strstr(head, changes[i].from);
        str_add_n(&other, head, (size_t)(at - head));
        str_addf(&other, "%s%s", changes[i].to, at + strlen(changes[i].from));
        expect_refused(&s, compare_under(&s, head, step, str_text(&other), step), changes[i].part);
        scene_close(&s);
    }
    refuse(step, "  %y = Add(%x, %c)\n  output %y\n", "Add(%x, %c)");
    // Constants count by what they hold, not by their names.
    accept("  %y = Add(%x, %c)\n  output %y\n",
           "  const %d : f32[] = {0.5}\n  %y = Add(%x, %d)\n  output %y\n");
    accept("  %y = Add(%x, %c)\n  output %y\n",
           "  %d = Constant(value=f32[] {0.5})\n  %y = Add(%x, %d)\n  output %y\n");
    refuse("  %y = Add(%x, %c)\n  output %y\n",
           "  const %d : f32[] = {0.25}\n  %y = Add(%x, %d)\n  output %y\n", "Add(%x, %d)");
}

static void outputs(void **state) {
    (void)state;
    const char step[] = "  %y, %i = MaxPool(%x, kernel_shape=[1])\n  output %y\n  output %i\n";
    accept(step, step);
    refuse(step, "  %y, %i = MaxPool(%x, kernel_shape=[1])\n  output %i\n  output %y\n",
           "output 0 is \"i\"");
    refuse(step, "  %y, %i = MaxPool(%x, kernel_shape=[1])\n  output %y\n", "1 outputs");
    refuse("  %a, %b = Split(%x, axis=0)\n  %y = Identity(%a)\n  output %y\n",
           "  %a, %b = Split(%x, axis=0)\n  %y = Identity(%b)\n  output %y\n", "Split(%x)");
    refuse("  %a, %b = Split(%x, axis=0)\n  %y = Identity(%a)\n  output %y\n",
           "  %a = Split(%x, axis=0)\n  %y = Identity(%a)\n  output %y\n", "Split(%x)");
}

// A plan without declared types gets the step's.
static void types_from_the_step(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena), others = pool_make(&s.arena);
    struct model *a = parse(&s, &names, head, STEP);
    struct model *b = parse(&s, &others, head,
                            ANCHORED(TOKEN "  %s = Concat(%shape, %i, axis=0)\n"
                                           "  %t = Reshape(%a, %s, allowzero=1)\n"));
    struct equivalence how;
    assert_int_equal(equivalence_check_types(a, b, &s.diags, &how), ST_OK);
    static const struct {
        const char *name;
        int64_t n_bytes;
    } sizes[] = {{"b", 24}, {"t", 24}, {"f", 24}, {"e", 0}, {"i", 0}, {"s", 16}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t n_bytes = -1;
        value_id v = graph_find(b->graph, sizes[i].name);
        assert_true(type_bytes(graph_value(b->graph, v)->type, &n_bytes));
        assert_int_equal(n_bytes, sizes[i].n_bytes);
    }
    scene_close(&s);
}

// A failing allocation at any moment is a status, not a crash.
static void out_of_memory(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct pool names = pool_make(&s.arena), others = pool_make(&s.arena);
    struct model *a = parse(&s, &names, head, STEP), *b = parse(&s, &others, head, STEP);
    status st = ST_LIMIT;
    for (int64_t k = 0; k < 1000 && st != ST_OK; k++) {
        s.mem.fail_after = k;
        st = equivalence_check(a, b, &s.diags);
        s.mem.fail_after = -1;
        assert_true(st == ST_OK || st == ST_LIMIT);
    }
    assert_int_equal(st, ST_OK);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_nodes), cmocka_unit_test(control_nodes),
        cmocka_unit_test(declared_types), cmocka_unit_test(zero_in_a_shape),
        cmocka_unit_test(attributes),     cmocka_unit_test(random_nodes),
        cmocka_unit_test(subgraphs),      cmocka_unit_test(functions),
        cmocka_unit_test(outputs),        cmocka_unit_test(inputs_and_constants),
        cmocka_unit_test(out_of_memory),  cmocka_unit_test(types_from_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
