// solver: reading problems, sequences, the checker, and the run around methods.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "solver/check/schedule_check.h"
#include "solver/model/sequence.h"
#include "solver/solve.h"

static status read_text(struct scene *s, const char *text, struct problem *p) {
    struct source *source;
    assert_int_equal(source_memory(&s->arena, &s->diags, text, (int64_t)strlen(text), &source),
                     ST_OK);
    return problem_read_json(&s->arena, &s->diags, source, p);
}

// a -> b -> c -> d, and d reads a.
static const char *const square =
    "{\"format\":\"mfc-problem\",\"version\":1,\"fixed_bytes\":5,\"nodes\":["
    "{\"name\":\"a\",\"cost\":1,\"bytes\":10},{\"name\":\"b\",\"cost\":2,\"bytes\":20},"
    "{\"name\":\"c\",\"cost\":4,\"bytes\":30,\"workspace\":3},"
    "{\"name\":\"d\",\"cost\":8,\"bytes\":1.0e1,\"keep\":true}],"
    "\"edges\":[[0,1],[1,2],[2,3],[0,3]],\"forward\":2}";

static void a_problem_and_its_facts(void **state) {
    (void)state;
    struct scene s;
    struct problem p;
    scene_open(&s);
    assert_int_equal(read_text(&s, square, &p), ST_OK);
    assert_int_equal(p.n, 4);
    assert_int_equal(p.n_edges, 4);
    assert_string_equal(p.name[2], "c");
    assert_true(p.keep[3] && p.has_forward && !p.backward[1] && p.backward[2]);
    assert_int_equal(problem_base_cost(&p), 15);
    assert_int_equal(problem_given_peak(&p, &s.arena), 5 + 10 + 20 + 30 + 3);
    int32_t node;
    assert_int_equal(problem_floor(&p, &node), 5 + 20 + 30 + 3);
    assert_int_equal(node, 2);
    scene_close(&s);
}

static void sequences_and_the_checker_agree(void **state) {
    (void)state;
    struct scene s;
    struct problem p;
    scene_open(&s);
    assert_int_equal(read_text(&s, square, &p), ST_OK);
    int32_t nodes[] = {0, 1, 2, 0, 3};
    struct sequence q = {nodes, 5};
    struct sequence_facts f;
    assert_true(sequence_measure(&p, q, &s.arena, &f));
    assert_int_equal(f.wrong_at, -1);
    assert_int_equal(f.cost, 16);
    assert_int_equal(f.peak_bytes, 58);
    assert_int_equal(f.peak_at, 2);
    struct steps steps;
    struct replay r;
    assert_true(sequence_to_steps(&p, q, &s.arena, &steps));
    assert_int_equal(schedule_check_steps(&p, steps, &s.arena, &s.diags, &r), ST_OK);
    assert_int_equal(r.failed_step, -1);
    assert_int_equal(r.peak_bytes, f.peak_bytes);
    assert_int_equal(r.cost, f.cost);
    assert_true(r.given_order);
    assert_int_equal(steps.n, 5 + 4); // all but d are freed, a twice
    int32_t idle[] = {0, 1, 2, 1, 0, 0, 3, 2};
    struct sequence long_one = {idle, 8};
    assert_true(sequence_prune(&p, &long_one, &s.arena));
    assert_int_equal(long_one.n, 5);
    assert_memory_equal(long_one.at, ((int32_t[]){0, 1, 2, 0, 3}), 5 * sizeof(int32_t));
    scene_close(&s);
}

static void the_checker_names_what_is_wrong(void **state) {
    (void)state;
    struct scene s;
    struct problem p;
    scene_open(&s);
    assert_int_equal(read_text(&s, square, &p), ST_OK);
    p.once[1] = true;
    static const struct {
        struct step at[12];
        int32_t n, failed, node;
    } cases[] = {
        {{{STEP_COMPUTE, 1}}, 1, 0, 1},
        {{{STEP_COMPUTE, 0}, {STEP_COMPUTE, 0}}, 2, 1, 0},
        {{{STEP_COMPUTE, 0}, {STEP_FREE, 1}}, 2, 1, 1},
        {{{STEP_COMPUTE, 0}, {STEP_COMPUTE, 1}}, 2, 2, 2},
        {{{STEP_COMPUTE, 0}, {STEP_COMPUTE, 1}, {STEP_FREE, 1}, {STEP_COMPUTE, 1}}, 4, 3, 1},
        {{{STEP_COMPUTE, 0}, {STEP_COMPUTE, 4}}, 2, 1, -1},
        {{{STEP_COMPUTE, 0},
          {STEP_COMPUTE, 1},
          {STEP_COMPUTE, 2},
          {STEP_COMPUTE, 3},
          {STEP_FREE, 3}},
         5,
         5,
         3},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct replay r;
        struct step copy[12];
        memcpy(copy, cases[k].at, sizeof copy);
        struct steps steps = {copy, cases[k].n};
        assert_int_equal(schedule_check_steps(&p, steps, &s.arena, &s.diags, &r), ST_OK);
        assert_int_equal(r.failed_step, cases[k].failed);
        assert_int_equal(r.node, cases[k].node);
        assert_non_null(r.reason);
    }
    scene_close(&s);
}

static void a_run_hands_out_the_checked_best(void **state) {
    (void)state;
    struct scene s;
    struct problem p;
    scene_open(&s);
    assert_int_equal(read_text(&s, square, &p), ST_OK);
    struct solve_options o = solve_defaults();
    struct schedule out;
    o.method = "keep-all";
    assert_int_equal(solve(&p, &o, &(struct solve_hooks){0}, &s.arena, &s.diags, &out), ST_OK);
    assert_int_equal(out.outcome, OUTCOME_OPTIMAL);
    assert_int_equal(out.peak_bytes, 68);
    assert_int_equal(out.cost, 15);
    o.budget_bytes = 67;
    assert_int_equal(solve(&p, &o, &(struct solve_hooks){0}, &s.arena, &s.diags, &out), ST_NO_PLAN);
    assert_int_equal(out.known_bytes, 68);
    o.budget_bytes = 57;
    assert_int_equal(solve(&p, &o, &(struct solve_hooks){0}, &s.arena, &s.diags, &out),
                     ST_INFEASIBLE);
    assert_int_equal(out.min_bytes, 58);
    assert_int_equal(out.n_forcing, 2);
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_and_its_facts),
        cmocka_unit_test(sequences_and_the_checker_agree),
        cmocka_unit_test(the_checker_names_what_is_wrong),
        cmocka_unit_test(a_run_hands_out_the_checked_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
