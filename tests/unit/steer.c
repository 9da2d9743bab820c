// Steering on steps with tensors of random sizes and lifetimes: the simulation of the new graph
// agrees with the result that steer_model reports, the arena needs less on most of them and never
// more, the step computes the same, and a second run needs what the first needed.
#include "passes/steer/steer.h"

#include <stdio.h>

#include "ir/base/rng.h"
#include "ir/build.h"
#include "ir/check/equivalence.h"
#include "ir/copy.h"
#include "ir/runtime/ort_loaded.h"
#include "ir/runtime/ort_session.h"
#include "ir/runtime/runtime.h"
#include "tests/unit/unit.h"

enum { N_STEPS = 12, N_TENSORS = 60, MAX_MIB = 64 };

struct made {
    struct scene s;
    struct pool names;
    struct model *m;
    struct options options;
    struct pass_context c;
};

static value_id add_input(struct graph *g, const char *name, int64_t rows, int64_t columns) {
    struct arena *a = g->model->arena;
    value_id v = graph_add_value(g, name, type_static(a, ELEM_F32, (int64_t[]){rows, columns}, 2));
    assert_true(v.i && graph_add_input(g, v));
    return v;
}

// Big products of a column and a row, each reduced to a number some nodes later.
static void add_nodes(struct graph *g, struct builder *b, struct rng *r) {
    value_id column = add_input(g, "x", 1024, 1), big[N_TENSORS], sum = VALUE_NONE;
    uint32_t end[N_TENSORS];
    for (uint32_t i = 0; i < N_TENSORS; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", i);
        int64_t columns = 256 * (1 + (int64_t)rng_below(r, MAX_MIB));
        big[i] = BUILD(b, "MatMul", column, add_input(g, name, 1, columns));
        end[i] = i + (uint32_t)rng_below(r, 1 + rng_below(r, 12));
        for (uint32_t k = 0; k <= i; k++) {
            if (end[k] != i && !(i == N_TENSORS - 1 && end[k] > i))
                continue;
            value_id number =
                build_op(b, "ReduceMax", VALUES(big[k]), ATTRS(attr_int("keepdims", 0)));
            sum = sum.i ? BUILD(b, "Add", sum, number) : number;
        }
    }
    assert_true(!b->failed && graph_add_output(g, sum));
}

static void pass(struct made *t, const char *name) {
    status st = pass_run_text(name, t->m, &t->c);
    for (size_t i = 0; st && i < t->s.diags.list.n; i++)
        print_message("%s\n", t->s.diags.list.at[i].text);
    assert_int_equal(st, ST_OK);
}

static void make(struct made *t, uint64_t seed) {
    struct rng r = rng_make(seed, 3);
    scene_open(&t->s);
    t->names = pool_make(&t->s.arena);
    t->m = model_new(&t->s.arena, &t->names);
    t->m->ir_version = 8;
    assert_true(VEC_PUSH(&t->s.arena, &t->m->opsets, (struct opset){.domain = "", .version = 17}));
    struct builder b = builder_make(t->m->graph, &t->s.diags);
    add_nodes(t->m->graph, &b, &r);
    t->options = options_make(&t->s.arena);
    t->c =
        (struct pass_context){.arena = &t->s.arena, .diags = &t->s.diags, .options = &t->options};
    t->m->facts = FACT_TOPO;
    assert_int_equal(pass_add_options(&t->options, &t->s.diags), ST_OK);
    pass(t, "shapes,costs,rewrite");
}

// The most of any run at any level, with the memory of the session; also checks that later runs
// need no more than the first.
static int64_t simulated(struct made *t) {
    int64_t most = 0;
    for (enum ort_level l = ORT_DISABLED; l < ORT_N_LEVELS; l++) {
        struct ort_events e;
        struct ort_session s;
        assert_int_equal(
            runtime_events(t->m, (struct ort_setting){l, true}, &t->s.arena, &t->s.diags, &e),
            ST_OK);
        assert_int_equal(ort_session_of(&e, false, &t->s.arena, &s), ST_OK);
        for (int i = 0; i < ORT_SESSION_RUNS; i++)
            most = s.run_bytes[i] > most ? s.run_bytes[i] : most;
    }
    return most + ort_loaded_graph_bytes(t->m->graph, true);
}

static void steered_steps_need_less(void **state) {
    int64_t before = 0, after = 0;
    uint32_t n_better = 0;
    (void)state;
    for (uint64_t seed = 0; seed < N_STEPS; seed++) {
        struct made t;
        make(&t, seed);
        struct model *was = model_copy(t.m, &t.s.arena);
        int64_t plain = simulated(&t);
        struct steer_result r;
        assert_int_equal(steer_model(t.m, &t.c, &r), ST_OK);
        assert_int_equal(r.before_bytes, plain);
        assert_int_equal(r.after_bytes, simulated(&t));
        assert_int_equal(r.n_nodes, t.m->graph->nodes.n - was->graph->nodes.n);
        assert_true(r.after_bytes <= r.before_bytes);
        assert_int_equal(model_verify(t.m, &t.s.diags), ST_OK);
        assert_int_equal(equivalence_check(was, t.m, &t.s.diags), ST_OK);
        n_better += r.n_nodes > 0;
        before += r.before_bytes;
        after += r.after_bytes;
        scene_close(&t.s);
    }
    print_message("%u of %d steps: %.3f of the bytes\n", n_better, N_STEPS,
                  (double)after / (double)before);
    assert_true(n_better >= N_STEPS / 2 && (double)after < 0.9 * (double)before);
}

// A tensor that is allocated and not written counts as a request, and not as memory.
static void plugs_occupy_no_memory(void **state) {
    struct made t;
    (void)state;
    make(&t, 0);
    struct runtime_report was, is;
    struct steer_result r;
    assert_int_equal(runtime_peak(t.m, RUNTIME_ORT, &t.s.arena, &t.s.diags, &was), ST_OK);
    assert_int_equal(steer_model(t.m, &t.c, &r), ST_OK);
    assert_true(r.n_plugs > 0);
    assert_int_equal(runtime_peak(t.m, RUNTIME_ORT, &t.s.arena, &t.s.diags, &is), ST_OK);
    assert_true(is.peak_bytes < was.peak_bytes + (MAX_MIB << 20) * (int64_t)(r.n_holds + 1) / 4);
    scene_close(&t.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steered_steps_need_less),
        cmocka_unit_test(plugs_occupy_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
