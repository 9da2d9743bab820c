// The members of the portfolio beside its chains: each finds schedules of its own, keeps to what it
// promises, and ends when it is told to.
#include "tests/unit/unit.h"

#include "solver/cuts/initial.h"
#include "solver/incumbent.h"
#include "solver/mip/lns.h"
#include "solver/mip/rounding.h"
#include "solver/solve.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

// What a run tells: how often each letter brought a cheaper schedule.
struct watch {
    int64_t cost;
    int n_by[128];
    struct stop *stop; // to raise at the first cheaper schedule; or NULL
};

static void note(void *context, const struct solve_event *e) {
    struct watch *w = context;
    if (e->cost < w->cost) {
        w->n_by[(int)e->letter]++;
        if (w->stop && w->cost != INT64_MAX)
            stop_raise(w->stop, 2);
    }
    w->cost = e->cost;
}

// A random problem, and the budget so many tenths of the way from the least to the most memory.
static int64_t make_problem(struct scene *s, uint64_t seed, uint64_t index, int32_t max_nodes,
                            int share, struct problem *p) {
    assert_int_equal(random_problem(&s->arena, &s->diags,
                                    (struct random_spec){seed, index, max_nodes, false}, p),
                     ST_OK);
    int64_t peak = problem_given_peak(p, &s->arena), floor = problem_floor(p, NULL);
    return floor + (peak - floor) * share / 10;
}

// A run around one member.
struct lone {
    struct solve_options o;
    struct solve_hooks hooks;
    struct stop stop;
    struct incumbent best;
    struct solve_run r;
    struct watch watch;
};

static void lone_open(struct lone *l, struct scene *s, const struct problem *p, int64_t budget,
                      bool free_order) {
    *l = (struct lone){
        .o = solve_defaults(), .stop = {.deadline_ns = STOP_NEVER}, .watch = {.cost = INT64_MAX}};
    l->o.budget_bytes = budget;
    l->o.free_order = free_order;
    l->o.gap = 0;
    l->hooks = (struct solve_hooks){.progress = note, .context = &l->watch};
    l->r = (struct solve_run){.p = p,
                              .options = &l->o,
                              .arena = &s->arena,
                              .diags = &s->diags,
                              .stop = &l->stop,
                              .base_cost = problem_base_cost(p),
                              .floor_bytes = problem_floor(p, NULL),
                              .best = &l->best};
    incumbent_open(&l->best, s->arena.mem, &l->hooks, free_order, l->r.base_cost);
}

// Offers a start that fits; false: there is none.
static bool offer_start(struct lone *l, struct scene *s) {
    struct sequence start;
    assert_true(initial_by_cuts(l->r.p, l->o.budget_bytes, NULL, &s->arena, &start));
    return solve_offer(&l->r, start, 'G');
}

// When all nodes are in the window, it is the integer program: exact.
static void a_window_over_all_is_exact(void **unused) {
    (void)unused;
    int n_cases = 0, n_gained = 0;
    for (uint64_t index = 0; index < 100; index++) {
        struct scene s;
        struct problem p;
        struct remat_front front;
        scene_open(&s);
        assert_int_equal(
            random_problem(&s.arena, &s.diags, (struct random_spec){41, index, 8, false}, &p),
            ST_OK);
        assert_true(remat_dp(&p, false, &front));
        for (int k = 0; k < front.n; k++) {
            struct lone l;
            lone_open(&l, &s, &p, front.at[k].budget_bytes, false);
            if (offer_start(&l, &s)) {
                int64_t before = solve_best_cost(&l.r);
                assert_int_equal(lns_run(&l.r, &(struct lns_effort){0}), ST_OK);
                assert_true(solve_best_cost(&l.r) >= front.at[k].cost);
                assert_int_equal(solve_best_bound(&l.r), l.r.base_cost); // a window proves nothing
                n_cases += before > front.at[k].cost;
                n_gained += before > front.at[k].cost && solve_best_cost(&l.r) == front.at[k].cost;
            }
            assert_int_equal(l.best.n_refused, 0);
            incumbent_close(&l.best);
        }
        scene_close(&s);
    }
    assert_true(n_cases >= 10);
    assert_true(n_gained * 10 >= n_cases * 9); // some need more programs than a window has
}

// Problems of several windows, in the given order and in orders of their own.
static void windows_gain(void **unused) {
    (void)unused;
    for (int free_order = 0; free_order < 2; free_order++) {
        int n_gained = 0;
        for (uint64_t index = 0; index < 4; index++) {
            struct scene s;
            struct problem p;
            struct lone l;
            scene_open(&s);
            int64_t budget = make_problem(&s, 42, index, 160, 7, &p);
            lone_open(&l, &s, &p, budget, free_order);
            if (p.n > 90 && offer_start(&l, &s)) {
                int64_t before = solve_best_cost(&l.r);
                assert_int_equal(lns_run(&l.r, &(struct lns_effort){.n_nodes = 10}), ST_OK);
                assert_int_equal(l.watch.n_by['W'] > 0, solve_best_cost(&l.r) < before);
                n_gained += l.watch.n_by['W'] > 0;
            }
            assert_int_equal(l.best.n_refused, 0);
            incumbent_close(&l.best);
            scene_close(&s);
        }
        assert_true(n_gained > 0);
    }
}

static void rounding_finds(void **unused) {
    (void)unused;
    int n_found = 0;
    for (uint64_t index = 0; index < 12; index++) {
        struct scene s;
        struct problem p;
        struct lone l;
        scene_open(&s);
        int64_t budget = make_problem(&s, 43, index, 40, 5, &p);
        lone_open(&l, &s, &p, budget, false);
        assert_int_equal(rounding_run(&l.r, 0), ST_OK);
        n_found += l.watch.n_by['R'] > 0;
        assert_true(solve_best_cost(&l.r) >= solve_best_bound(&l.r));
        assert_int_equal(l.best.n_refused, 0);
        incumbent_close(&l.best);
        scene_close(&s);
    }
    assert_true(n_found >= 6);
}

// A flag that is up lets none of them begin; one that is raised at the first gain, none go on.
static void members_stop(void **unused) {
    (void)unused;
    int n_gained = 0;
    for (uint64_t index = 0; index < 8; index++)
        for (int early = 0; early < 2; early++) {
            struct scene s;
            struct problem p;
            struct lone l;
            scene_open(&s);
            int64_t budget = make_problem(&s, 42, index, 70, 7, &p);
            lone_open(&l, &s, &p, budget, true);
            if (offer_start(&l, &s)) {
                l.watch.stop = &l.stop;
                if (early)
                    stop_raise(&l.stop, 2);
                assert_int_equal(lns_run(&l.r, &(struct lns_effort){.n_nodes = 10}), ST_OK);
                assert_int_equal(rounding_run(&l.r, 0), ST_OK);
                assert_true(l.watch.n_by['W'] + l.watch.n_by['R'] <= 1 - early);
                n_gained += l.watch.n_by['W'] + l.watch.n_by['R'];
            }
            assert_int_equal(l.best.n_refused, 0);
            incumbent_close(&l.best);
            scene_close(&s);
        }
    assert_true(n_gained > 0);
}

// In the default method, when its chains have had little time, each brings something.
static void all_of_them_take_part(void **unused) {
    (void)unused;
    static const struct {
        uint64_t seed, index;
        int32_t max_nodes;
        int share;
    } cases[] = {{44, 3, 36, 6}, {42, 0, 160, 7}, {55, 7, 160, 5}, {55, 7, 160, 7}};
    struct watch sum = {0};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct scene s;
        struct problem p;
        struct schedule out;
        struct watch watch = {.cost = INT64_MAX};
        scene_open(&s);
        struct solve_options o = solve_defaults();
        o.budget_bytes =
            make_problem(&s, cases[k].seed, cases[k].index, cases[k].max_nodes, cases[k].share, &p);
        o.seconds = 0;
        o.work = 1;
        o.gap = 0;
        o.free_order = false;
        o.threads = 1;
        struct solve_hooks hooks = {.progress = note, .context = &watch};
        solve(&p, &o, &hooks, &s.arena, &s.diags, &out);
        assert_int_equal(out.n_refused, 0);
        for (int letter = 0; letter < 128; letter++)
            sum.n_by[letter] += watch.n_by[letter];
        scene_close(&s);
    }
    assert_true(sum.n_by['G'] > 0 && sum.n_by['A'] > 0 && sum.n_by['C'] > 0);
    assert_true(sum.n_by['R'] > 0);
    assert_true(sum.n_by['W'] > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_over_all_is_exact),
        cmocka_unit_test(windows_gain),
        cmocka_unit_test(rounding_finds),
        cmocka_unit_test(members_stop),
        cmocka_unit_test(all_of_them_take_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
