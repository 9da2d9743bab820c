// Rematerialization on random training steps: the problem that is made from a step, and the graph
// that is made from a schedule. Random schedules, far from good ones, are applied; the new graph
// must be sound, must compute the same expressions, and must need no more memory by a liveness walk
// over its own storages than the solver's checker says of the schedule.
#include "tests/unit/unit.h"

#include <string.h>

#include "ir/base/rng.h"
#include "ir/check/equivalence.h"
#include "ir/copy.h"
#include "ir/text/text.h"
#include "passes/remat/remat.h"
#include "solver/check/schedule_check.h"

struct stage {
    struct scene scene;
    struct pool names;
    struct options options;
    struct pass_context context;
    struct model *m;
};

static void stage_open(struct stage *s, const char *text, const char *passes) {
    scene_open(&s->scene);
    s->names = pool_make(&s->scene.arena);
    s->options = options_make(&s->scene.arena);
    s->context = (struct pass_context){
        .arena = &s->scene.arena, .diags = &s->scene.diags, .options = &s->options};
    assert_int_equal(pass_add_options(&s->options, &s->scene.diags), ST_OK);
    assert_int_equal(parse_text((struct model_text){text, strlen(text), "r.mfc"}, &s->scene.arena,
                                &s->names, &s->scene.diags, &s->m),
                     ST_OK);
    struct pass_pipeline p;
    assert_int_equal(options_set(&s->options, &s->scene.diags, "loss", "cross-entropy"), ST_OK);
    assert_int_equal(pass_pipeline_parse(&s->scene.arena, &s->scene.diags, passes, &p), ST_OK);
    assert_int_equal(pass_pipeline_run(&p, s->m, &s->context, NULL), ST_OK);
}

static void stage_close(struct stage *s) {
    model_close(s->m);
    scene_close(&s->scene);
}

static void set(struct stage *s, const char *option, const char *value) {
    assert_int_equal(options_set(&s->options, &s->scene.diags, option, value), ST_OK);
}

#define STEP "sort,upgrade,shapes,fold,dce,loss,grad,dce,costs"

// A forward graph over [4,6] tensors with views, several readers a tensor, several outputs a node
// and random nodes; it ends in a [4,6] output, from which a loss over 6 classes is taken.
static void random_forward(struct str *t, struct rng *rng, bool with_random) {
    int n = 4 + (int)rng_below(rng, 12);
    str_add(t, "mfc 1\nir_version 8\nopset 17\ngraph \"g\" {\n  input %v0 : f32[4,6]\n"
               "  const %shape : i64[2] = {6,4}\n  const %back : i64[2] = {4,6}\n"
               "  const %r : f32[] = {0.25}\n  const %t : bool[] = {1}\n"
               "  param %s : f32[6] = {1.0,1.0,1.0,1.0,1.0,1.0}\n"
               "  param %b : f32[6] = {0.0,0.0,0.0,0.0,0.0,0.0}\n");
    for (int i = 0; i < 2; i++) {
        str_addf(t, "  param %%w%d : f32[6,6] = {", i);
        for (int k = 0; k < 36; k++)
            str_addf(t, "%s%d.5", k ? "," : "", (k * 7 + i) % 5);
        str_add(t, "}\n");
    }
    str_add(t, "  %v1 = MatMul(%v0, %w0)\n");
    for (int i = 2; i <= n; i++) {
        int a = (int)rng_below(rng, (uint64_t)(i - 1)) + 1, b = i - 1;
        switch (rng_below(rng, with_random ? 8 : 7)) {
        case 0:
            str_addf(t, "  %%v%d = Relu(%%v%d)\n", i, a);
            break;
        case 1:
            str_addf(t, "  %%v%d = Add(%%v%d, %%v%d)\n", i, a, b);
            break;
        case 2:
            str_addf(t, "  %%v%d = Mul(%%v%d, %%v%d)\n", i, b, a);
            break;
        case 3:
            str_addf(t, "  %%v%d = MatMul(%%v%d, %%w%d)\n", i, b, i % 2);
            break;
        case 4:
            str_addf(t, "  %%x%d = Reshape(%%v%d, %%shape)\n  %%y%d = Sigmoid(%%x%d)\n", i, b, i,
                     i);
            str_addf(t, "  %%v%d = Reshape(%%y%d, %%back)\n", i, i);
            break;
        case 5:
            str_addf(t, "  %%v%d = LayerNormalization(%%v%d, %%s, %%b)\n", i, b);
            break;
        case 6:
            str_addf(t, "  %%v%d = Softmax(%%v%d)\n", i, b);
            break;
        default:
            str_addf(t, "  %%v%d, %%m%d = Dropout(%%v%d, %%r, %%t)\n", i, i, b);
        }
    }
    str_addf(t, "  %%y = Add(%%v%d, %%v1)\n  output %%y\n}\n", n);
}

// Runs the nodes in the given order, but forgets things at random and computes them again when
// they are needed.
struct forgetful {
    const struct problem *p;
    struct rng *rng;
    bool *held;
    struct sequence s;
    int32_t room;
};

static void run_node(struct forgetful *f, int32_t v) {
    const struct problem *p = f->p;
    for (int32_t e = p->in_start[v]; e < p->in_start[v + 1]; e++)
        if (!f->held[p->in_of[e]])
            run_node(f, p->in_of[e]);
    assert_true(f->s.n < f->room);
    f->s.at[f->s.n++] = v;
    f->held[v] = true;
}

static struct steps random_steps(const struct problem *p, struct rng *rng, struct arena *a) {
    int32_t room = 5000;
    struct forgetful f = {.p = p,
                          .rng = rng,
                          .held = ARENA_ARRAY(a, bool, p->n),
                          .s = {ARENA_ARRAY(a, int32_t, room), 0},
                          .room = room};
    struct steps steps;
    for (int32_t v = 0; v < p->n; v++) {
        run_node(&f, v);
        for (int32_t i = 0; i <= v && f.s.n < room / 2; i++)
            if (!p->once[i] && rng_below(rng, 8) == 0)
                f.held[i] = false;
    }
    struct sequence_facts facts;
    assert_true(sequence_measure(p, f.s, a, &facts));
    assert_int_equal(facts.wrong_at, -1);
    assert_true(sequence_to_steps(p, f.s, a, &steps));
    return steps;
}

static int64_t peak_of(const struct stage *s, const struct graph *g) {
    struct arena a = arena_make(&((struct stage *)s)->scene.mem);
    struct diags d = diags_make(&a);
    struct storage storage;
    struct liveness l;
    assert_int_equal(storage_of(g, &a, &d, &storage), ST_OK);
    assert_int_equal(
        liveness_of(g, &storage, (struct node_list){g->order.at, g->order.n}, &a, &d, &l), ST_OK);
    int64_t peak = l.peak_bytes;
    arena_free(&a);
    return peak;
}

static void apply_and_compare(struct stage *s, const struct remat *r, struct steps steps) {
    struct replay replay;
    struct remat_result result;
    assert_int_equal(
        schedule_check_steps(&r->problem, steps, &s->scene.arena, &s->scene.diags, &replay), ST_OK);
    assert_int_equal(replay.failed_step, -1);
    struct model *plan = model_copy(s->m, &s->scene.arena);
    assert_non_null(plan);
    assert_int_equal(remat_apply(plan->graph, r, steps, &s->scene.arena, &s->scene.diags, &result),
                     ST_OK);
    assert_int_equal(model_verify(plan, &s->scene.diags), ST_OK);
    assert_int_equal(equivalence_check(s->m, plan, &s->scene.diags), ST_OK);
    assert_true(peak_of(s, plan->graph) <= replay.peak_bytes);
    assert_true(result.recompute_cost <= replay.cost - r->units.base_cost);
}

static void random_schedules_keep_meaning_and_memory(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct stage s;
        struct mem mem = mem_make(MEM_UNLIMITED);
        struct arena a = arena_make(&mem);
        struct str text = str_make(&a);
        struct rng rng = rng_make(seed, 7);
        random_forward(&text, &rng, seed % 3 == 0);
        stage_open(&s, str_text(&text), STEP);
        if (seed % 3 && seed % 4)
            set(&s, "recompute", seed % 4 == 1 ? "v*" : "v1");
        if (seed % 4 == 0)
            set(&s, "keep", "v1");
        struct remat r;
        assert_int_equal(remat_make(s.m->graph, &s.context, seed % 5 == 0, &r), ST_OK);
        for (int k = 0; k < 5; k++)
            apply_and_compare(&s, &r, random_steps(&r.problem, &rng, &s.scene.arena));
        stage_close(&s);
        arena_free(&a);
    }
}

// Every tensor has two readers far apart, so that nothing can be grouped.
static const char crossing[] = "mfc 1\nir_version 8\nopset 17\ngraph \"g\" {\n"
                               "  input %x : f32[100]\n"
                               "  const %k : i64[1] = {60}\n"
                               "  %a = Relu(%x) : f32[100]\n"
                               "  %b = Neg(%a) : f32[100]\n"
                               "  %c = Mul(%a, %b) : f32[100]\n"
                               "  %n, %i = TopK(%c, %k) : f32[60], i64[60]\n"
                               "  %d = Concat(%n, %b, axis=0) : f32[160]\n"
                               "  %e = Concat(%d, %n, axis=0) : f32[220]\n"
                               "  %f = Concat(%e, %d, axis=0) : f32[380]\n"
                               "  output %f\n}\n";

static void without_clusters_the_sizes_are_exact(void **state) {
    (void)state;
    struct stage s;
    struct remat r;
    stage_open(&s, crossing, "sort,shapes");
    assert_int_equal(remat_make(s.m->graph, &s.context, false, &r), ST_OK);
    assert_int_equal(r.clusters.n, 7);
    assert_int_equal(r.problem.persistent_bytes, 400 + 8);
    assert_int_equal(problem_given_peak(&r.problem, &s.scene.arena), peak_of(&s, s.m->graph));
    assert_true(r.problem.keep[6] && !r.problem.keep[5]);
    assert_int_equal(r.problem.bytes[3], 240); // the indices are dead
    assert_int_equal(r.problem.workspace[3], 480);
    stage_close(&s);
}

// A chain of small steps to an output with no other reader is one cluster that runs once.
static void chains_to_an_output_are_one_group(void **state) {
    (void)state;
    static const char text[] = "mfc 1\nir_version 8\nopset 17\ngraph \"g\" {\n"
                               "  input %x : f32[100]\n"
                               "  %a = Relu(%x) : f32[100]\n"
                               "  %v = Identity(%a) : f32[100]\n"
                               "  %b = Neg(%v) : f32[100]\n"
                               "  %c = Exp(%b) : f32[100]\n"
                               "  output %c\n}\n";
    struct stage s;
    struct remat r;
    stage_open(&s, text, "sort,shapes");
    assert_int_equal(remat_make(s.m->graph, &s.context, false, &r), ST_OK);
    assert_int_equal(r.units.n, 3);
    assert_int_equal(r.clusters.n, 1);
    assert_int_equal(r.problem.bytes[0], 400);
    assert_int_equal(r.problem.workspace[0], 400);
    assert_int_equal(problem_given_peak(&r.problem, &s.scene.arena), peak_of(&s, s.m->graph));
    stage_close(&s);
}

static void contradictions_are_reported(void **state) {
    (void)state;
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct str text = str_make(&a);
    struct rng rng = rng_make(3, 7);
    random_forward(&text, &rng, false);
    static const struct {
        const char *keep, *recompute, *says;
    } cases[] = {
        {"v1", "v*", "both --keep and --recompute name this node"},
        {"", "loss", "is an output of the step"},
        {"nobody", "", "--keep nobody matches no node or value"},
        {"", "no?body", "--recompute no?body matches no node or value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage s;
        struct remat r;
        stage_open(&s, str_text(&text), STEP);
        set(&s, "keep", cases[i].keep);
        set(&s, "recompute", cases[i].recompute);
        assert_int_equal(remat_make(s.m->graph, &s.context, false, &r), ST_USAGE);
        assert_non_null(strstr(s.scene.diags.list.at[0].text, cases[i].says));
        stage_close(&s);
    }
    arena_free(&a);
}

// Wherever memory runs out, the answer is that it did.
static void out_of_memory_is_reported(void **state) {
    (void)state;
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct str text = str_make(&a);
    struct rng rng = rng_make(5, 7);
    random_forward(&text, &rng, false);
    struct stage s;
    stage_open(&s, str_text(&text), STEP);
    status st = ST_LIMIT;
    for (int k = 0; st; k++) {
        struct arena own = arena_make(&s.scene.mem);
        struct diags d = diags_make(&own);
        struct pass_context c = {.arena = &own, .diags = &d, .options = &s.options};
        struct remat r;
        struct remat_result result;
        struct steps steps = {0};
        struct model *plan = model_copy(s.m, &own);
        s.scene.mem.fail_after = k;
        st = remat_make(plan->graph, &c, false, &r);
        s.scene.mem.fail_after = -1;
        if (!st)
            steps = random_steps(&r.problem, &rng, &own);
        s.scene.mem.fail_after = k;
        if (!st)
            st = remat_apply(plan->graph, &r, steps, &own, &d, &result);
        s.scene.mem.fail_after = -1;
        assert_true(st == ST_OK || st == ST_LIMIT);
        arena_free(&own);
    }
    stage_close(&s);
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_schedules_keep_meaning_and_memory),
        cmocka_unit_test(without_clusters_the_sizes_are_exact),
        cmocka_unit_test(chains_to_an_output_are_one_group),
        cmocka_unit_test(contradictions_are_reported),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
