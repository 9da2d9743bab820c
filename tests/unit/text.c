// The text form: what it looks like, what it refuses, and the law print(parse(print(m))) ==
// print(m).
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/rng.h"
#include "ir/text/text.h"
#include "tests/unit/random_graph.h"

// Parses; the model's print is the result, NULL when it was refused.
static const char *reprint(struct scene *s, const char *text, struct model **out) {
    static struct pool pool; // as long as the scene that it was made for
    pool = pool_make(&s->arena);
    struct model *m;
    status st = parse_text((struct model_text){text, strlen(text), "test.mfc"}, &s->arena, &pool,
                           &s->diags, &m);
    if (out)
        *out = m;
    if (st)
        return NULL;
    struct str printed = str_make(&s->arena);
    assert_int_equal(print_model(&printed, m, ".", &s->diags), ST_OK);
    return str_text(&printed);
}

static void complain(struct scene *s) {
    for (size_t i = 0; i < s->diags.list.n; i++) {
        struct str line = str_make(&s->arena);
        diag_print(&line, &s->diags.list.at[i]);
        print_error("%s", str_text(&line));
    }
}

// The canonical text prints as itself.
static void stays(const char *text) {
    struct scene s;
    scene_open(&s);
    const char *again = reprint(&s, text, NULL);
    complain(&s);
    assert_non_null(again);
    assert_string_equal(again, text);
    scene_close(&s);
}

static void a_small_model_reads_like_this(void **state) {
    (void)state;
    stays("mfc 1\n"
          "ir_version 8\n"
          "opset 17\n"
          "device \"gpu0\"\n"
          "graph \"mlp\" {\n"
          "  input %x : f32[8,784]\n"
          "  param %w0 : f32[2,2] = {1.0,0.5,-3e-07,inf}\n"
          "  %h0 = MatMul(%x, %w0) : f32[8,512] cost=6422528 @gpu0\n"
          "  %a0 = Relu(%h0) : f32[8,512] cost=4096 @gpu0\n"
          "  %h0.1 = MatMul(%x, %w0) : f32[8,512] again(%h0) @gpu0\n"
          "  output %a0\n"
          "}\n");
}

static void every_form_is_canonical(void **state) {
    (void)state;
    stays(
        "mfc 1\n"
        "ir_version 10\n"
        "producer \"py\"\n"
        "producer_version \"2\"\n"
        "domain \"\"\n"
        "model_version -4\n"
        "doc \"two\\nlines\"\n"
        "opset 17\n"
        "opset \"\" 3\n"
        "opset ai.onnx.ml 3 extra=x\"0801\"\n"
        "metadata author=\"me\"\n"
        "metadata \"odd key\"=_\n"
        "device \"gpu 0\"\n"
        "configuration x\"0a00\"\n"
        "training x\"1200\"\n"
        "extra x\"ff\"\n"
        "facts shapes, costs\n"
        "graph \"g\" {\n"
        "  doc \"d\"\n"
        "  metadata k=\"v\"\n"
        "  extra x\"01\"\n"
        "  quantization x\"02\"\n"
        "  input %x : f32[N as DATA_BATCH,?,\"8\",3] as IMAGE with x\"00\" doc=\"in\" "
        "metadata={a=\"b\"} extra=x\"03\"\n"
        "  input %\"odd name\" : seq(opt(map(string, sparse f32[*])))\n"
        "  input %w : opaque(_, \"thing\")\n"
        "  input %nothing\n"
        "  input %empty : ?\n"
        "  param %w : f32[2] = {nan,-inf} (doc=\"weights\", segment=[0,2], metadata={q=\"r\"}, "
        "extra=x\"04\")\n"
        "  param %typed : i32[2] = int32s{-1,7}\n"
        "  param %bits : f32[1] = {nan(0x7fc00001)}\n"
        "  param %small : u4[3] = x\"2103\"\n"
        "  param %half : f16[3] = {0.1,6.55e+04,5.96e-08}\n"
        "  param %brain : bf16[2] = {1.0,3.14}\n"
        "  param %double : f64[1] = doubles{0.1}\n"
        "  param %big : u64[1] = uint64s{18446744073709551615}\n"
        "  param %words : string[2] = strings{\"a\",\"\\x00\\xff\"}\n"
        "  param %far : f32[9] = external{location=\"w.bin\", offset=\"0\"}\n"
        "  param %none : f32[0]\n"
        "  param %s : sparse f32[3] = sparse[3] (f32[1] {1.0} (name=s), i64[1] int64s{2}) "
        "(extra=x\"05\")\n"
        "  %a, _, %b = Op<my.domain, \"over load\">(%x, _, %w) : f32[1], _, i64[] cost=0 "
        "workspace=64 @\"gpu 0\" name=/a/Op devices=x\"06\" doc=\"n\" metadata={x=\"y\"} "
        "extra=x\"07\"\n"
        "  () = sink<x>(%a, i=1, f=1.0, s=\"\\\\\", is=[1,-2], fs=[1.5,inf], "
        "ss=[\"a\",\"b\"], no=ints[], nf=floats[], ns=strings[], t=i64[1] {3} (name=t), "
        "ts=tensors[f32[], _], ty=type f32[N], tys=types[seq(_), ?], sp=sparse[2] (f32[0] {}, _), "
        "sps=sparses[], gs=graphs[], u=none, d=2 doc=\"two\" extra=x\"08\")\n"
        "  %c = If(%b, then_branch=graph \"then\" {\n"
        "    %d = Add(%a, %a)\n"
        "    output %d\n"
        "    outer %a : f32[2] doc=\"from outside\"\n"
        "    infos (%a)\n"
        "  }, else_branch=graph {\n"
        "    output %a\n"
        "  })\n"
        "  output %c\n"
        "  value %bits : f32[M]\n"
        "  value %a doc=\"of a\"\n"
        "  value %lost : f32[1]\n"
        "  infos (%b, %lost)\n"
        "}\n"
        "function F<my.domain, o> {\n"
        "  doc \"f\"\n"
        "  metadata k=\"v\"\n"
        "  extra x\"09\"\n"
        "  opset 17\n"
        "  attribute alpha\n"
        "  attribute beta=1.0\n"
        "  input %x\n"
        "  %y = Elu(%x, alpha=$alpha float, gamma=$\"odd one\" ints, delta=$d)\n"
        "  output %y\n"
        "}\n");
}

// What people write, and what it becomes.
static void hands_may_be_loose(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    const char *out = reprint(&s,
                              "# a comment\n"
                              "mfc 1   # and another\n"
                              "graph{\n"
                              "\n"
                              "  output %y\n"
                              "\t%y=Add( %x ,%w )@gpu0 cost = 3\r\n"
                              "  param %w: f32[ 2 ] = { 1, 0x1p-1 }\n"
                              "  input %x: f32[2]\n"
                              "}",
                              NULL);
    assert_non_null(out);
    assert_string_equal(out, "mfc 1\n"
                             "device \"gpu0\"\n"
                             "graph {\n"
                             "  input %x : f32[2]\n"
                             "  param %w : f32[2] = {1.0,0.5}\n"
                             "  %y = Add(%x, %w) cost=3 @gpu0\n"
                             "  output %y\n"
                             "}\n");
    scene_close(&s);
}

// Each text has one error, whose message is known.
static void errors_say_where_and_what(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", "1:1: a text model starts with the line \"mfc 1\""},
        {"\x08\x07\x12", "1:1: a text model starts with the line \"mfc 1\""},
        {"mfc 2\n", "1:1: version 2 of the text form is not supported; expected version 1"},
        {"mfc 1\n", "2:1: the model has no graph"},
        {"mfc 1\ngraph {\n", "3:1: } is expected here, but the text ends"},
        {"mfc 1\ngraph {\n}\ngraph {\n}\n", "4:1: the model has a graph already"},
        {"mfc 1\nnonsense 3\ngraph {\n}\n",
         "2:1: unknown statement \"nonsense\" outside of a graph"},
        {"mfc 1\ngraph {\n  nonsense\n}\n", "3:3: unknown statement \"nonsense\" in a graph"},
        {"mfc 1\ngraph {\n  output %y\n}\n", "3:10: %y is not defined"},
        {"mfc 1\ngraph {\n  input %x\n  input %x\n}\n", "4:9: %x is defined twice"},
        {"mfc 1\ngraph {\n  input %x\n  %x = Relu(%x)\n}\n", "4:3: %x is defined twice"},
        {"mfc 1\ngraph {\n  %x, %x = F()\n}\n", "3:7: %x is defined twice"},
        {"mfc 1\ngraph {\n  input %x : f33[2]\n}\n",
         "3:14: a type such as f32[8,N] is expected here, not f33"},
        {"mfc 1\ngraph {\n  input %x : f32[-2]\n}\n", "3:18: a dimension cannot be negative"},
        {"mfc 1\ngraph {\n  param %x : f32[N]\n}\n",
         "3:12: a parameter needs a type with numbers as dimensions"},
        {"mfc 1\ngraph {\n  param %x : i8[1] = {128}\n}\n",
         "3:23: the number is out of the range of its type"},
        {"mfc 1\ngraph {\n  param %x : u4[2] = {1,2}\n}\n",
         "3:22: elements of this type are written as bytes, x\"…\""},
        {"mfc 1\ngraph {\n  param %x : f32[1] = x\"0a0\"\n}\n",
         "3:23: bytes are written as pairs of the digits 0-9 and a-f"},
        {"mfc 1\ngraph {\n  () = F(a=99999999999999999999)\n}\n",
         "3:12: a whole number is expected here, not 99999999999999999999"},
        {"mfc 1\ngraph {\n  () = F(a=[])\n}\n",
         "3:12: an empty list needs a kind: ints[], floats[] or strings[]"},
        {"mfc 1\ngraph {\n  () = F(a=1, %x)\n}\n", "3:15: operands come before attributes"},
        {"mfc 1\ngraph {\n  doc \"open\n}\n", "3:7: this string has no closing quote on its line"},
        {"mfc 1\ngraph {\n  doc \"\\q\"\n}\n",
         "3:7: unknown escape; valid escapes are \\\" \\\\ \\n \\t \\r and \\xHH"},
        {"mfc 1\ngraph {\n  %a = F() : f32[1], f32[1]\n}\n",
         "3:22: there are more types than results"},
        {"mfc 1\ngraph {\n  %a = F() colour=3\n}\n",
         "3:12: a node has cost, workspace, again, @device, name, devices, doc, metadata and "
         "extra"},
        {"mfc 1\ngraph {\n  input %a\n  %b = F() again(%a)\n}\n",
         "4:17: %a is not the result of a node here"},
        {"mfc 1\ngraph {\n  input %a input %b\n}\n", "3:12: a value has doc, metadata and extra"},
        {"mfc 1\nfacts nice\ngraph {\n}\n", "2:7: unknown fact \"nice\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        scene_open(&s);
        assert_null(reprint(&s, cases[i].text, NULL));
        struct str line = str_make(&s.arena), expected = str_make(&s.arena);
        diag_print(&line, &s.diags.list.at[0]);
        str_addf(&expected, "error: test.mfc: %s [malformed]\n", cases[i].expected);
        assert_string_equal(str_text(&line), str_text(&expected));
        scene_close(&s);
    }
}

static void one_run_tells_several_errors(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    assert_null(reprint(&s,
                        "mfc 1\n"
                        "graph {\n"
                        "  input %x : f33[1]\n"
                        "  %y = Relu(%x\n"
                        "  %z = Relu(%y)\n"
                        "  %c = If(%z, then=graph {\n"
                        "    oops\n"
                        "    output %z\n"
                        "  })\n"
                        "  output %d\n"
                        "}\n",
                        NULL));
    static const int64_t lines[] = {3, 5, 7, 10};
    assert_int_equal(s.diags.list.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s.diags.list.at[i].where.line, lines[i]);
    scene_close(&s);
}

static void errors_are_counted_to_a_limit(void **state) {
    (void)state;
    struct scene s;
    scene_open(&s);
    struct str text = str_make(&s.arena);
    str_add(&text, "mfc 1\ngraph {\n");
    for (int i = 0; i < 1000; i++)
        str_add(&text, "wrong\n");
    assert_null(reprint(&s, str_text(&text), NULL));
    assert_int_equal(s.diags.n_errors, PARSE_ERRORS);
    scene_close(&s);
}

enum { N_RANDOM = 10000 };

static void random_models_keep_the_law(void **state) {
    (void)state;
    size_t n_bytes = 0;
    for (uint64_t seed = 0; seed < N_RANDOM; seed++) {
        struct scene s;
        scene_open(&s);
        struct pool names = pool_make(&s.arena);
        struct str first = str_make(&s.arena);
        struct model *m = random_model(&s.arena, &names, seed);
        status sound = model_verify(m, &s.diags);
        assert_int_equal(print_model(&first, m, ".", &s.diags), ST_OK);
        const char *second = reprint(&s, str_text(&first), NULL);
        if (sound || !second || strcmp(second, str_text(&first)) != 0 || s.diags.n_errors) {
            complain(&s);
            print_error("seed %llu\n%s\nagain:\n%s", (unsigned long long)seed, str_text(&first),
                        second ? second : "refused");
            fail();
        }
        n_bytes += first.n;
        scene_close(&s);
    }
    assert_true(n_bytes / N_RANDOM > 1000); // they are not all trivial
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_model_reads_like_this),
        cmocka_unit_test(every_form_is_canonical),
        cmocka_unit_test(hands_may_be_loose),
        cmocka_unit_test(errors_say_where_and_what),
        cmocka_unit_test(one_run_tells_several_errors),
        cmocka_unit_test(errors_are_counted_to_a_limit),
        cmocka_unit_test(random_models_keep_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
