// The placement search against brute force on small problems: all assignments of nodes to two
// devices, with and without duplicates; and for latency, all sequences of their tasks.
#include <stdio.h>
#include <string.h>

#include "solver/place.h"
#include "solver/place/place_bound_parts.h"
#include "tests/unit/random_placement.h"

enum { TASKS_MOST = 40 };

struct brute {
    const struct placement *p;
    struct arena *arena;
    bool latency;
    bool *on; // per node and device
    int64_t best;
    struct task need[TASKS_MOST], sequence[TASKS_MOST];
    bool used[TASKS_MOST];
    int32_t n;
};

static bool at(const struct brute *b, int32_t v, int32_t k) {
    return b->on[v * b->p->n_devices + k];
}

static void add(struct brute *b, int32_t node, int32_t place, int32_t from) {
    assert_true(b->n < TASKS_MOST);
    b->need[b->n++] = (struct task){node, place, from};
}

// The tasks that an assignment needs: two devices, so that the source is never in doubt.
static void find_tasks(struct brute *b) {
    const struct problem *g = &b->p->graph;
    b->n = 0;
    for (int32_t v = 0; v < g->n; v++)
        for (int32_t k = 0; k < 2; k++) {
            if (at(b, v, k)) {
                add(b, v, k, TASK_RUN);
                continue;
            }
            bool wanted = false;
            for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++)
                wanted = wanted || at(b, g->out_of[e], k);
            if (!wanted)
                continue;
            if (placement_route(b->p, 1 - k, k)->via_host) {
                add(b, v, b->p->host, 1 - k);
                add(b, v, k, b->p->host);
            } else {
                add(b, v, k, 1 - k);
            }
        }
}

static int64_t largest_load(const struct brute *b) {
    int64_t load[64] = {0}, most = 0;
    for (int32_t i = 0; i < b->n; i++) {
        const struct task *t = &b->need[i];
        if (t->from == TASK_RUN) {
            load[t->place] += placement_cost(b->p, t->node, t->place);
            continue;
        }
        const struct route *r = placement_route(b->p, t->from, t->place);
        for (int32_t k = 0; k < r->n_resources; k++)
            load[r->resource[k]] += placement_transfer_cost(b->p, t->node, t->from, t->place);
    }
    for (int32_t k = 0; k < b->p->n_resources; k++)
        most = load[k] > most ? load[k] : most;
    return most;
}

static bool fits_resident(const struct brute *b) {
    for (int32_t k = 0; k < 2; k++) {
        int64_t sum = 0;
        for (int32_t v = 0; v < b->p->graph.n; v++)
            sum += at(b, v, k) ? b->p->resident_bytes[v] : 0;
        if (sum > b->p->place[k].memory_bytes)
            return false;
    }
    return true;
}

static bool is_there(const struct brute *b, int32_t n_done, int32_t node, int32_t place) {
    for (int32_t i = 0; i < n_done; i++)
        if (b->sequence[i].node == node && b->sequence[i].place == place)
            return true;
    return false;
}

static bool can_follow(const struct brute *b, int32_t n_done, const struct task *t) {
    const struct problem *g = &b->p->graph;
    if (t->from != TASK_RUN)
        return is_there(b, n_done, t->node, t->from);
    for (int32_t e = g->in_start[t->node]; e < g->in_start[t->node + 1]; e++)
        if (!is_there(b, n_done, g->in_of[e], t->place))
            return false;
    return true;
}

static void try_sequences(struct brute *b, int32_t n_done) {
    if (n_done == b->n) {
        struct arena scratch = arena_make(b->arena->mem);
        struct diags d = diags_make(&scratch);
        struct strategy_facts f;
        struct strategy s = {b->sequence, b->n};
        assert_int_equal(strategy_replay(b->p, &s, &scratch, &d, &f), ST_OK);
        if (f.excess_bytes == 0 && f.makespan_cost < b->best)
            b->best = f.makespan_cost;
        arena_free(&scratch);
        return;
    }
    for (int32_t i = 0; i < b->n; i++)
        if (!b->used[i] && can_follow(b, n_done, &b->need[i])) {
            b->used[i] = true;
            b->sequence[n_done] = b->need[i];
            try_sequences(b, n_done + 1);
            b->used[i] = false;
        }
}

static bool is_allowed(const struct brute *b) {
    const struct placement *p = b->p;
    for (int32_t v = 0; v < p->graph.n; v++) {
        int32_t first = p->group_nodes[p->group_start[p->group[v]]];
        bool shared = p->group_start[p->group[v] + 1] - p->group_start[p->group[v]] > 1;
        if (at(b, v, 0) && at(b, v, 1) && (p->graph.once[v] || shared))
            return false;
        if (at(b, v, 0) != at(b, first, 0))
            return false;
    }
    return true;
}

static void try_assignments(struct brute *b, int32_t v, bool duplicates) {
    if (v < b->p->graph.n) {
        for (int32_t which = 1; which <= (duplicates ? 3 : 2); which++) {
            b->on[v * 2] = which & 1;
            b->on[v * 2 + 1] = which & 2;
            try_assignments(b, v + 1, duplicates);
        }
        return;
    }
    if (!is_allowed(b) || !fits_resident(b))
        return;
    find_tasks(b);
    int64_t load = largest_load(b);
    if (load >= b->best)
        return;
    if (b->latency)
        try_sequences(b, 0);
    else
        b->best = load;
}

static struct place_result by_search(struct scene *sc, const struct placement *p, bool latency,
                                     bool duplicates, int64_t work) {
    struct place_options o = place_defaults();
    struct place_result r;
    o.objective.goal = latency ? MCMC_LATENCY : MCMC_THROUGHPUT;
    o.allowed = (struct mcmc_allowed){.duplicates = duplicates, .order = true, .devices = true};
    o.seconds = 0;
    o.work = work;
    o.threads = 1;
    status st = place(p, &o, &(struct place_hooks){0}, &sc->arena, &sc->diags, &r);
    if (st != ST_OK && st != ST_NO_PLAN)
        fail_msg("%s", sc->diags.list.at[0].text);
    return r;
}

// The bound by packing, from half of the optimum on: never above it. (The search does not need it
// for problems that are so small.)
static bool is_packed(struct scene *sc, const struct placement *p, int64_t best) {
    int64_t bound = best / 2;
    assert_true(place_bound_pack(p, sc->arena.mem, &bound));
    assert_true(bound <= best);
    return bound > best / 2;
}

static void compare(bool latency, int32_t n_instances, int32_t max_nodes, int64_t work) {
    int32_t n_equal = 0, n_fit = 0, n_duplicated = 0, n_proven = 0, n_tight = 0, n_packed = 0;
    for (int32_t i = 0; i < n_instances; i++) {
        struct scene sc;
        scene_open(&sc);
        bool duplicates = i % 2;
        struct random_shape shape = {.max_nodes = max_nodes,
                                     .n_devices = 2,
                                     .groups = !latency && i % 3 == 0,
                                     .once = i % 5 == 0,
                                     .sizes = latency,
                                     .odd_links = true,
                                     .memory = latency ? 30 + i % 4 * 20 : 10 + i % 5 * 10};
        struct placement p;
        random_placement(&sc, (uint64_t)i + (latency ? 100000 : 0), &shape, &p);
        struct brute b = {.p = &p, .arena = &sc.arena, .latency = latency, .best = INT64_MAX};
        b.on = ARENA_ARRAY(&sc.arena, bool, 2 * p.graph.n);
        try_assignments(&b, 0, false);
        int64_t alone = b.best;
        if (duplicates)
            try_assignments(&b, 0, true);
        n_duplicated += b.best < alone;
        struct place_result r = by_search(&sc, &p, latency, duplicates, work);
        int64_t found = r.best.n > 0 ? (int64_t)r.value : INT64_MAX;
        assert_true(r.bound <= (double)b.best);
        assert_int_equal(r.n_refused, 0);
        n_proven += place_is_optimal(&r);
        n_packed += b.best != INT64_MAX && b.best > 1 && is_packed(&sc, &p, b.best);
        n_tight += b.best != INT64_MAX && r.bound == (double)b.best;
        if (found != b.best)
            print_message("instance %d (%s, %d nodes): brute force %lld, search %lld\n", i,
                          duplicates ? "duplicates" : "no duplicates", p.graph.n, (long long)b.best,
                          (long long)found);
        n_equal += found == b.best;
        n_fit += b.best != INT64_MAX;
        scene_close(&sc);
    }
    print_message(
        "%d of %d equal; %d fit at all, %d proven optimal, %d bounds equal the optimum, in %d "
        "duplicates pay\n",
        n_equal, n_instances, n_fit, n_proven, n_tight, n_duplicated);
    assert_int_equal(n_equal, n_instances);
    assert_true(n_fit > n_instances / 2);
    assert_true(n_duplicated > 0);
    assert_true(n_proven > 0);
    assert_true(latency || n_tight == n_fit); // all assignments are tried
    assert_true(latency || n_packed > n_fit / 2);
}

static void throughput(void **state) {
    (void)state;
    compare(false, 400, 8, 8000);
}

static void latency(void **state) {
    (void)state;
    compare(true, 200, 5, 40000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(throughput), cmocka_unit_test(latency)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
