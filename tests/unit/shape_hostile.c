// Every operator with dimensions, constants and attributes that nobody would write: its shape rule
// refuses, or gives dimensions that a graph may have. With the sanitizer of undefined behaviour, no
// arithmetic overflows on the way.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/base/rng.h"
#include "ir/text/text.h"
#include "passes/pass.h"

enum { N_TRIALS = 150, N_ATTRIBUTES = 5, MAX_IN = 6 };

static const char *const numbers[] = {"0",
                                      "1",
                                      "1",
                                      "2",
                                      "2",
                                      "3",
                                      "-1",
                                      "-2",
                                      "7",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "-9223372036854775807",
                                      "4611686018427387904",
                                      "281474976710656",
                                      "2147483647",
                                      "-2147483648",
                                      "1073741824",
                                      "3037000500"};

static const char *const single[] = {"axis",        "group",        "keepdims",
                                     "blocksize",   "num_outputs",  "allowzero",
                                     "start",       "end",          "batch_axis",
                                     "time_axis",   "hidden_size",  "to",
                                     "batch_dims",  "ceil_mode",    "num_heads",
                                     "k",           "largest",      "select_last_index",
                                     "exclusive",   "reverse",      "center_point_box",
                                     "q_num_heads", "kv_num_heads", "pooled_shape"};
static const char *const lists[] = {
    "axes",  "pads",         "kernel_shape",   "strides",      "dilations", "perm",
    "split", "output_shape", "output_padding", "pooled_shape", "shape",     "value_ints"};
static const char *const texts[] = {"auto_pad=\"SAME_UPPER\"",
                                    "auto_pad=\"VALID\"",
                                    "equation=\"ij,jk->ik\"",
                                    "direction=\"bidirectional\"",
                                    "keep_aspect_ratio_policy=\"not_larger\"",
                                    "mode=\"CRD\""};

#define PICK(r, list) (list)[rng_below((r), sizeof(list) / sizeof *(list))]

static void add_numbers(struct str *out, struct rng *r, size_t n) {
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s%s", i ? "," : "", PICK(r, numbers));
}

// A tensor of hostile dimensions, or a small constant of hostile elements.
static void add_input(struct str *out, struct rng *r, int i) {
    static const char *const types[] = {"f32", "f32", "i64", "bool"};
    size_t n = rng_below(r, 6);
    if (rng_below(r, 2)) {
        str_addf(out, "  param %%x%d : i64[%zu] = {", i, n);
        add_numbers(out, r, n);
        str_add(out, "}\n");
        return;
    }
    str_addf(out, "  input %%x%d : %s[", i, PICK(r, types));
    for (size_t k = 0; k < n; k++) {
        const char *size = PICK(r, numbers);
        str_addf(out, "%s%s", k ? "," : "", *size == '-' ? "N" : size);
    }
    str_add(out, "]\n");
}

static void add_attribute(struct str *out, struct rng *r) {
    switch (rng_below(r, 5)) {
    case 0:
        str_add(out, PICK(r, texts));
        break;
    case 1:
    case 2:
        str_addf(out, "%s=%s", PICK(r, single), PICK(r, numbers));
        break;
    default:
        str_addf(out, "%s=ints[", PICK(r, lists));
        add_numbers(out, r, 1 + rng_below(r, 6));
        str_add(out, "]");
    }
}

static void one_model(struct str *out, const struct op_info *op, struct rng *r) {
    int n_in = op->min_in + (int)rng_below(r, 4), n_out = 1 + (int)rng_below(r, 2);
    n_in = n_in > MAX_IN ? MAX_IN : n_in;
    str_addf(out, "mfc 1\nopset %d\ngraph {\n", 13 + (int)rng_below(r, 9));
    for (int i = 0; i < n_in; i++)
        add_input(out, r, i);
    str_add(out, n_out > 1 ? "  %y, %z = " : "  %y = ");
    str_addf(out, "%s(", op->name);
    for (int i = 0; i < n_in; i++)
        str_addf(out, "%s%%x%d", i ? ", " : "", i);
    for (int i = 0; i < N_ATTRIBUTES && rng_below(r, 4); i++) {
        str_add(out, i || n_in ? ", " : "");
        add_attribute(out, r);
    }
    str_add(out, ")\n  output %y\n}\n");
}

static bool try_model(const char *text, size_t n) {
    struct scene s;
    struct model *m;
    scene_open(&s);
    struct pool names = pool_make(&s.arena);
    struct options o = options_make(&s.arena);
    struct stop stop = {.deadline_ns = STOP_NEVER};
    struct pass_context c = {.arena = &s.arena, .diags = &s.diags, .options = &o, .stop = &stop};
    status st = pass_add_options(&o, &s.diags);
    if (!st)
        st = parse_text((struct model_text){text, n, "h.mfc"}, &s.arena, &names, &s.diags, &m);
    if (!st)
        st = model_verify(m, &s.diags);
    bool is_read = !st;
    if (!st)
        st = pass_run_all(PASS_PIPELINE(&pass_sort, &pass_shapes, &pass_fold), m, &c);
    if (st == ST_INTERNAL || (st && s.diags.n_errors == 0))
        fail_msg("status %d: %s", st, text);
    scene_close(&s);
    return is_read;
}

static void shape_rules_refuse_or_give_dimensions(void **state) {
    (void)state;
    size_t n_read = 0;
    for (int op = 1; op < OP_COUNT_; op++)
        for (uint64_t k = 0; k < N_TRIALS; k++) {
            struct mem mem = mem_make(MEM_UNLIMITED);
            struct arena a = arena_make(&mem);
            struct str text = str_make(&a);
            struct rng r = rng_make((uint64_t)op, k);
            one_model(&text, op_info((enum op)op), &r);
            n_read += try_model(str_text(&text), text.n);
            arena_free(&a);
        }
    assert_true(n_read > (size_t)OP_COUNT_ * N_TRIALS / 20); // most are refused before the rule
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shape_rules_refuse_or_give_dimensions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
