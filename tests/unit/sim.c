// The fast simulator gives exactly what the plain replay gives, edit after edit.
#include "solver/sim/sim.h"

#include "solver/check/strategy_check.h"
#include "solver/place/mcmc.h"
#include "tests/unit/random_placement.h"

static int64_t n_right, n_wrong, n_cut;

// The sequence as the simulator has it, replayed; every number must be the same. What was cut must
// take longer than it may.
static void compare(struct scene *sc, const struct sim *s, enum sim_verdict verdict, int64_t most) {
    struct arena scratch = arena_make(&sc->mem);
    struct diags d = diags_make(&scratch);
    struct strategy x = {ARENA_ARRAY(&scratch, struct task, s->n_in), s->n_in};
    struct strategy_facts f;
    sim_save(s, x.at);
    status st = strategy_replay(s->p, &x, &scratch, &d, &f);
    assert_int_equal(verdict != SIM_WRONG, st == ST_OK);
    n_right += st == ST_OK;
    n_wrong += st != ST_OK;
    n_cut += verdict == SIM_CUT;
    if (verdict == SIM_CUT)
        assert_true(f.makespan_cost > most);
    if (verdict == SIM_VALID) {
        assert_int_equal(s->result.makespan_cost, f.makespan_cost);
        assert_int_equal(s->result.load_cost, f.load_cost);
        assert_int_equal(s->result.excess_bytes, f.excess_bytes);
        assert_int_equal(s->result.moved_bytes, f.moved_bytes);
        assert_int_equal((int64_t)s->result.energy, f.energy);
        for (int32_t k = 0; k < s->p->n_places; k++)
            assert_int_equal(s->base_bytes[k] + s->peak[k], f.peak_bytes[k]);
        for (int32_t q = 0; q < s->p->n_resources; q++)
            assert_int_equal(s->busy_cost[q], f.busy_cost[q]);
        int32_t k = 0;
        for (int32_t t = s->task[SIM_END].next; t != SIM_END; t = s->task[t].next)
            assert_int_equal(sim_finish(s, t), f.finish[k++]);
    }
    arena_free(&scratch);
}

static int32_t random_task(struct sim *s, struct rng *r) {
    int32_t t;
    do
        t = random_to(r, s->n_tasks);
    while (!s->task[t].in && t != SIM_END);
    return t;
}

static int32_t n_runs(const struct sim *s, int32_t node) {
    int32_t n = 0;
    for (int32_t t = s->first_of[node]; t != SIM_NONE; t = s->task[t].sibling)
        n += s->task[t].from == TASK_RUN;
    return n;
}

// One random edit that breaks no rule of who may run where; whether the inputs are there is left
// to chance.
static void edit(struct sim *s, struct rng *r) {
    const struct placement *p = s->p;
    int32_t node = random_to(r, p->graph.n), place = random_to(r, p->n_places);
    int32_t from = random_to(r, p->n_places), t = random_task(s, r);
    switch (random_to(r, 4)) {
    case 0: // one more run, near where the node has one
        if (place < p->n_devices && !p->graph.once[node])
            sim_insert(s, node, place, TASK_RUN, random_to(r, 2) ? s->first_of[node] : t);
        break;
    case 1:
        if (from != place && placement_route(p, from, place)->n_resources >= 0)
            sim_insert(s, node, place, from, t);
        break;
    case 2:
        if (t != SIM_END && (s->task[t].from != TASK_RUN || n_runs(s, s->task[t].node) > 1))
            sim_remove(s, t);
        break;
    default: // move a task a little
        if (t != SIM_END) {
            struct sim_task x = s->task[t];
            int32_t to = random_to(r, 2) ? x.prev : s->task[x.next].next;
            sim_remove(s, t);
            sim_insert(s, x.node, x.place, x.from, s->task[to].in || to == SIM_END ? to : SIM_END);
        }
    }
}

// A strategy with copies, so that there is a little of everything.
static void random_start(struct scene *sc, const struct placement *p, struct rng *r,
                         struct strategy *out) {
    bool *on = ARENA_ARRAY(&sc->arena, bool, p->graph.n * p->n_devices);
    for (int32_t v = 0; v < p->graph.n; v++) {
        on[v * p->n_devices + random_to(r, p->n_devices)] = true;
        if (!p->graph.once[v])
            on[v * p->n_devices + random_to(r, p->n_devices)] = true;
    }
    assert_true(strategy_assign(p, NULL, on, &sc->arena, out));
}

// Evaluates the edits, compares, and keeps them every other time.
static void judge(struct scene *sc, struct sim *s, struct rng *r, int32_t max_tasks) {
    int64_t most = s->result.makespan_cost - 5 + random_to(r, 10);
    most = random_to(r, 2) ? INT64_MAX : most;
    enum sim_verdict verdict = sim_evaluate(s, most);
    compare(sc, s, verdict, most);
    if (verdict == SIM_VALID && random_to(r, 2) && s->n_in < max_tasks)
        sim_commit(s);
    else
        sim_undo(s);
}

static void sweep(uint64_t seed, int32_t n_proposals) {
    struct scene sc;
    scene_open(&sc);
    struct random_shape shape = {.max_nodes = 4 + (int32_t)(seed % 5) * 10,
                                 .n_devices = 1 + (int32_t)(seed % 3),
                                 .once = seed % 2,
                                 .sizes = true,
                                 .odd_links = true,
                                 .memory = 60};
    struct placement p;
    struct sim s;
    struct strategy x;
    struct rng r = rng_make(seed, 5);
    random_placement(&sc, seed, &shape, &p);
    random_start(&sc, &p, &r, &x);
    assert_true(sim_make(&sc.arena, &p, &s));
    assert_true(sim_load(&s, &x));
    compare(&sc, &s, SIM_VALID, INT64_MAX);
    for (int32_t k = 0; k < n_proposals; k++) {
        for (int32_t e = 1 + random_to(&r, 3); e > 0; e--)
            edit(&s, &r);
        judge(&sc, &s, &r, 3 * p.graph.n + 20);
    }
    scene_close(&sc);
}

static void random_proposals(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++)
        sweep(seed, 200);
    assert_true(n_right > 30000); // the rest lacks an input somewhere, and both say so
    assert_true(n_cut > 3000);
    assert_int_equal(n_right + n_wrong, 500 * 201);
}

// Long sequences under the proposals of the search: what is behind a change is often the same as
// before, but later or earlier, and so is not walked.
static int64_t sweep_long(uint64_t seed, int32_t n_proposals) {
    struct scene sc;
    scene_open(&sc);
    struct random_shape shape = {.max_nodes = 300,
                                 .n_devices = 1 + (int32_t)(seed % 4),
                                 .once = seed % 2,
                                 .sizes = true,
                                 .odd_links = seed % 3 > 0,
                                 .groups = seed % 5 == 0,
                                 .memory = 200};
    struct placement p;
    struct strategy x;
    struct mcmc c;
    struct mcmc_objective goal = {.goal = MCMC_LATENCY};
    struct mcmc_allowed all = {true, true, true, true, true};
    struct rng r = rng_make(seed, 6);
    random_placement(&sc, seed, &shape, &p);
    random_start(&sc, &p, &r, &x);
    assert_true(mcmc_make(&sc.arena, &p, &goal, all, rng_make(seed, 0), &c));
    assert_true(mcmc_start(&c, &x));
    mcmc_run(&c, 1000, NULL);
    int64_t before = c.sim.n_shifted;
    for (int32_t k = 0; k < n_proposals; k++) {
        enum mcmc_kind kind;
        if (mcmc_propose(&c, &kind))
            judge(&sc, &c.sim, &r, 4 * p.graph.n + 20);
        else
            sim_undo(&c.sim);
    }
    scene_close(&sc);
    return c.sim.n_shifted - before;
}

static void long_sequences(void **state) {
    (void)state;
    int64_t n_shifted = 0;
    for (uint64_t seed = 0; seed < 100; seed++)
        n_shifted += sweep_long(seed, 200);
    assert_true(n_shifted > 3000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_proposals),
                                       cmocka_unit_test(long_sequences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
