// The public interface: sessions, messages, options, limits, cancelling.
#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/mfc.h"

// x -> Relu -> y in wire format.
static const unsigned char relu[] = {
    0x08, 0x08, // ir_version 8
    0x3a, 0x33, // graph
    0x0a, 0x0c, 0x0a, 0x01, 'x', 0x12, 0x01, 'y',  0x22, 0x04, 'R',  'e',  'l',  'u', // node
    0x12, 0x01, 'g',                                                                  // name
    0x5a, 0x0f, 0x0a, 0x01, 'x', 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08,
    0x03, // input x : f32[3]
    0x62, 0x0f, 0x0a, 0x01, 'y', 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08,
    0x03,                    // output y : f32[3]
    0x42, 0x02, 0x10, 0x11}; // opset 17

struct heard {
    int n, n_errors;
    char code[32], whole[256];
};

static void listen(void *context, const struct mfc_message *m) {
    struct heard *h = context;
    h->n++;
    h->n_errors += m->severity == MFC_ERROR;
    snprintf(h->code, sizeof h->code, "%s", m->code);
    snprintf(h->whole, sizeof h->whole, "%s", m->whole);
}

static void count_lines(void *context, const char *line) {
    assert_true(strlen(line) > 0);
    ++*(int *)context;
}

static struct mfc *open_session(struct heard *h) {
    *h = (struct heard){0};
    struct mfc *m = mfc_new(0);
    assert_non_null(m);
    mfc_on_message(m, listen, h);
    return m;
}

// A file name that goes away with the test.
static void temporary(char path[64], const char *ending) {
    snprintf(path, 64, "api-%d-%s", (int)getpid(), ending);
}

static void a_model_goes_through(void **state) {
    (void)state;
    struct heard h;
    struct mfc *m = open_session(&h);
    int n_lines = 0;
    char path[64];
    temporary(path, "out.onnx");
    mfc_on_progress(m, count_lines, &n_lines);
    assert_int_equal(mfc_load_memory(m, relu, sizeof relu), MFC_OK);
    assert_int_equal(mfc_run(m, "shapes,dce"), MFC_OK);
    assert_true(n_lines >= 2);
    assert_int_equal(mfc_write(m, path), MFC_OK);
    assert_int_equal(h.n, 0);
    // What was written is a model again.
    assert_int_equal(mfc_load(m, path), MFC_OK);
    assert_int_equal(mfc_status(m), MFC_OK);
    mfc_free(m);
    assert_int_equal(unlink(path), 0);
}

static void mistakes_are_told(void **state) {
    (void)state;
    struct heard h;
    struct mfc *m = open_session(&h);
    assert_int_equal(mfc_run(m, NULL), MFC_USAGE); // no model
    assert_string_equal(h.code, "usage");
    assert_int_equal(mfc_load(m, "no/such.onnx"), MFC_IO);
    assert_non_null(strstr(h.whole, "no/such.onnx"));
    assert_int_equal(mfc_status(m), MFC_IO);
    assert_int_equal(mfc_load_memory(m, "PK\3\4", 4), MFC_MALFORMED);
    assert_int_equal(mfc_write(m, "never.onnx"), MFC_USAGE); // a failed load leaves no model
    assert_int_equal(mfc_status(m), MFC_MALFORMED);          // the first failure since the load
    assert_int_equal(mfc_set(m, "nonsense", "1"), MFC_USAGE);
    assert_int_equal(mfc_load_memory(m, relu, sizeof relu), MFC_OK);
    assert_int_equal(mfc_status(m), MFC_OK);
    assert_int_equal(mfc_run(m, "shapes,bogus"), MFC_USAGE);
    assert_non_null(strstr(h.whole, "bogus"));
    assert_int_equal(h.n_errors, 6);
    mfc_free(m);
    mfc_free(NULL);
}

static void options_can_be_listed_and_set(void **state) {
    (void)state;
    struct heard h;
    struct mfc *m = open_session(&h);
    const char *name, *help, *default_text;
    size_t n = 0;
    for (;; n++) {
        mfc_option(m, n, &name, &help, &default_text);
        if (!name)
            break;
        assert_non_null(help);
        if (default_text)
            assert_int_equal(mfc_set(m, name, default_text), MFC_OK);
    }
    mfc_option(m, n + 1000, &name, &help, &default_text);
    assert_true(!name && !help && !default_text);
    assert_int_equal(h.n, 0);
    mfc_free(m);
}

static void the_limit_holds(void **state) {
    (void)state;
    // A tight limit fails the call, never the program; some limit is enough.
    int last = MFC_LIMIT;
    for (int64_t limit = 1; limit < (int64_t)1 << 30; limit *= 2) {
        struct heard h = {0};
        struct mfc *m = mfc_new(limit);
        if (!m)
            continue;
        mfc_on_message(m, listen, &h);
        last = mfc_load_memory(m, relu, sizeof relu);
        if (!last)
            last = mfc_run(m, "shapes");
        if (last != MFC_OK && last != MFC_LIMIT)
            fail_msg("%lld: %d %s", (long long)limit, last, h.whole);
        assert_int_equal(h.n_errors, last == MFC_LIMIT); // it is told, even then
        mfc_free(m);
    }
    assert_int_equal(last, MFC_OK);
}

static void *cancel(void *m) {
    mfc_cancel(m);
    return NULL;
}

static void another_thread_cancels(void **state) {
    (void)state;
    struct heard h;
    struct mfc *m = open_session(&h);
    assert_int_equal(mfc_load_memory(m, relu, sizeof relu), MFC_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel, m), 0);
    pthread_join(thread, NULL);
    assert_int_equal(mfc_run(m, "shapes"), MFC_CANCELLED);
    assert_int_equal(mfc_load_memory(m, relu, sizeof relu), MFC_OK); // a load starts afresh
    assert_int_equal(mfc_run(m, "shapes"), MFC_OK);
    mfc_free(m);
}

static void *whole_run(void *to) {
    struct heard h;
    struct mfc *m = mfc_new(0);
    mfc_on_message(m, listen, &h);
    for (int i = 0; i < 20; i++)
        if (mfc_load_memory(m, relu, sizeof relu) || mfc_run(m, "shapes,dce"))
            *(int *)to = 1;
    mfc_free(m);
    return NULL;
}

static void sessions_run_side_by_side(void **state) {
    (void)state;
    pthread_t threads[4];
    int failed[4] = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, whole_run, &failed[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failed[i], 0);
    }
}

// ---- A cost model of the caller's ----

static const char layers[] = "mfc 1\n"
                             "opset 17\n"
                             "graph \"g\" {\n"
                             "  input %x : f32[2,2]\n"
                             "  param %v : f32[2,2] = {1.0,2.0,3.0,4.0}\n"
                             "  param %w : f32[2,2] = {1.0,2.0,3.0,4.0}\n"
                             "  %a = MatMul(%x, %v) : f32[2,2]\n"
                             "  %b = Relu(%a) : f32[2,2]\n"
                             "  %c = MatMul(%b, %w) : f32[2,2]\n"
                             "  output %c\n"
                             "}\n";

struct wish {
    bool moved; // much of it, or little
    _Atomic int n_calls, n_odd;
};

static double cost_of(void *context, const struct mfc_strategy *s) {
    struct wish *w = context;
    w->n_calls++;
    w->n_odd +=
        !(s->load > 0 && s->makespan >= s->load && s->peak_bytes > 0 && s->moved_bytes >= 0);
    return w->moved ? 1e9 / (1 + s->moved_bytes) : s->makespan + 1e6 * s->moved_bytes;
}

// The number of transfers in the plan.
static int plan_for(struct mfc *m, const char *model, const char *plan) {
    char line[4096];
    int n = 0;
    assert_int_equal(mfc_load(m, model), MFC_OK);
    assert_int_equal(mfc_run(m, NULL), MFC_OK);
    assert_int_equal(mfc_write(m, plan), MFC_OK);
    FILE *f = fopen(plan, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, "dev.mfc.role=\"transfer\"") != NULL;
    fclose(f);
    return n;
}

static void the_cost_model_decides(void **state) {
    (void)state;
    struct heard h;
    struct mfc *m = open_session(&h);
    struct wish little = {.moved = false}, much = {.moved = true};
    char model[64], plan[64];
    temporary(model, "layers.mfc");
    temporary(plan, "plan.mfc");
    FILE *f = fopen(model, "w");
    assert_non_null(f);
    fputs(layers, f);
    fclose(f);
    assert_int_equal(mfc_set(m, "rig", "2xV100-16GB"), MFC_OK);
    assert_int_equal(mfc_set(m, "work", "4000"), MFC_OK);
    mfc_on_cost(m, cost_of, &little);
    assert_int_equal(plan_for(m, model, plan), 0);
    mfc_on_cost(m, cost_of, &much);
    assert_true(plan_for(m, model, plan) > 3);
    assert_true(little.n_calls > 100 && much.n_calls > 100);
    assert_int_equal(little.n_odd + much.n_odd, 0);
    // Without it the option counts again.
    int n_calls = much.n_calls;
    mfc_on_cost(m, NULL, NULL);
    assert_int_equal(mfc_set(m, "objective", "makespan + 1e6 * moved"), MFC_OK);
    assert_int_equal(plan_for(m, model, plan), 0);
    assert_int_equal(much.n_calls, n_calls);
    mfc_free(m);
    assert_int_equal(unlink(model) + unlink(plan), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_goes_through),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(options_can_be_listed_and_set),
        cmocka_unit_test(the_limit_holds),
        cmocka_unit_test(another_thread_cancels),
        cmocka_unit_test(sessions_run_side_by_side),
        cmocka_unit_test(the_cost_model_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
