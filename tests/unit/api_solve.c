// The solver's public interface: problems in memory, schedules, certificates, replays.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "frontend/mfc_solve.h"

enum { LAYERS = 8, NODES = 2 * LAYERS };

// Layers forward, and backward in the opposite order.
struct layers {
    int64_t cost[NODES], bytes[NODES];
    int32_t edges[6 * LAYERS];
    struct mfc_problem p;
};

static void make_layers(struct layers *l) {
    int32_t n = 0;
    for (int32_t i = 0; i < NODES; i++) {
        l->cost[i] = 10;
        l->bytes[i] = 100;
        if (i) {
            l->edges[n++] = i - 1;
            l->edges[n++] = i;
        }
        if (i < LAYERS - 1) {
            l->edges[n++] = i;
            l->edges[n++] = NODES - 1 - i;
        }
    }
    l->p = (struct mfc_problem){.size = sizeof l->p,
                                .n_nodes = NODES,
                                .cost = l->cost,
                                .bytes = l->bytes,
                                .n_edges = n / 2,
                                .edges = l->edges};
}

struct heard {
    char whole[512];
    int n_searches;
    struct mfc_search last;
    struct mfc *cancels; // at the first event, or NULL
};

static void listen(void *context, const struct mfc_message *m) {
    struct heard *h = context;
    snprintf(h->whole, sizeof h->whole, "%s", m->whole);
}

static void watch(void *context, const struct mfc_search *s) {
    struct heard *h = context;
    h->n_searches++;
    h->last = *s;
    if (h->cancels)
        mfc_cancel(h->cancels);
}

static struct mfc *open_session(struct heard *h) {
    *h = (struct heard){0};
    struct mfc *m = mfc_new(0);
    assert_non_null(m);
    mfc_on_message(m, listen, h);
    mfc_on_search(m, watch, h);
    return m;
}

static void half_the_memory(void **state) {
    (void)state;
    struct heard h;
    struct layers l;
    struct mfc_solve_options o;
    struct mfc_replay r;
    const struct mfc_schedule *s;
    struct mfc *m = open_session(&h);
    make_layers(&l);
    mfc_solve_init(&o, sizeof o);
    o.budget_share = 0.6;
    o.gap = 0;
    o.order = MFC_ORDER_GIVEN;
    o.method = "ilp";
    assert_int_equal(mfc_solve(m, &l.p, &o, &s), MFC_OK);
    assert_int_equal(s->outcome, MFC_OUTCOME_OPTIMAL);
    assert_int_equal(s->base_cost, 10 * NODES);
    assert_int_equal(s->budget_bytes, s->given_peak_bytes * 6 / 10);
    assert_true(s->peak_bytes <= s->budget_bytes && s->cost > s->base_cost);
    assert_int_equal(s->cost, s->base_cost + 10 * s->n_recomputed);
    assert_int_equal(s->bound_order, s->cost);
    assert_true(h.n_searches > 1 && h.last.cost == s->cost &&
                h.last.budget_bytes == s->budget_bytes);

    // The schedule is what it says, also when it is replayed alone; and changed it is not valid.
    assert_int_equal(mfc_replay(m, &l.p, s->steps, s->n_steps, &r), MFC_OK);
    assert_true(r.peak_bytes == s->peak_bytes && r.cost == s->cost && r.given_order && !r.reason);
    assert_int_equal(mfc_replay(m, &l.p, s->steps, s->n_steps / 2, &r), MFC_VERIFY);
    assert_true(r.reason && r.failed_step >= 0);

    // With a schedule to begin with, no work is needed to have one.
    struct mfc_step steps[256];
    size_t n = s->n_steps;
    int64_t cost = s->cost;
    assert_true(n <= 256);
    memcpy(steps, s->steps, n * sizeof *steps);
    o.initial = steps;
    o.n_initial = n;
    o.work = 1;
    assert_int_equal(mfc_solve(m, &l.p, &o, &s), MFC_OK);
    assert_true(s->cost <= cost);
    mfc_free(m);
}

static void too_little_memory(void **state) {
    (void)state;
    struct heard h;
    struct layers l;
    struct mfc_solve_options o;
    const struct mfc_schedule *s;
    struct mfc *m = open_session(&h);
    make_layers(&l);
    mfc_solve_init(&o, sizeof o);
    o.budget_bytes = 150;
    assert_int_equal(mfc_solve(m, &l.p, &o, &s), MFC_INFEASIBLE);
    assert_int_equal(s->outcome, MFC_OUTCOME_INFEASIBLE);
    assert_true(s->n_steps == 0 && s->min_bytes > 150 && s->n_forcing > 1);
    assert_true(s->cost == MFC_UNKNOWN && s->feasible_bytes >= s->min_bytes);
    int64_t forced = 0;
    for (size_t i = 0; i < s->n_forcing; i++)
        forced += l.bytes[s->forcing[i]];
    assert_true(forced > 150);
    assert_non_null(strstr(h.whole, "infeasible"));
    o.budget_bytes = s->feasible_bytes; // what it says is enough is enough
    assert_int_equal(mfc_solve(m, &l.p, &o, &s), MFC_OK);
    mfc_free(m);
}

static void wrong_problems(void **state) {
    (void)state;
    struct heard h;
    struct layers l;
    struct mfc_replay r;
    const struct mfc_schedule *s;
    struct mfc *m = open_session(&h);
    make_layers(&l);
    const char *names[NODES] = {"first", "second"};
    l.p.names = names;
    l.cost[1] = -1;
    assert_int_equal(mfc_solve(m, &l.p, NULL, &s), MFC_MALFORMED);
    assert_true(!s && strstr(h.whole, "second"));
    make_layers(&l);
    l.edges[0] = NODES;
    assert_int_equal(mfc_solve(m, &l.p, NULL, &s), MFC_MALFORMED);
    make_layers(&l);
    l.edges[0] = 1, l.edges[1] = 0; // and 1 reads 2 reads 1: no, just out of order
    assert_int_equal(mfc_solve(m, &l.p, NULL, &s), MFC_MALFORMED);
    make_layers(&l);
    l.p.cost = NULL;
    assert_int_equal(mfc_solve(m, &l.p, NULL, &s), MFC_USAGE);
    make_layers(&l);
    struct mfc_solve_options o;
    mfc_solve_init(&o, sizeof o);
    o.method = "guess";
    assert_int_equal(mfc_solve(m, &l.p, &o, &s), MFC_USAGE);
    assert_non_null(strstr(h.whole, "guess"));
    struct mfc_step bad = {MFC_COMPUTE, NODES};
    assert_int_equal(mfc_replay(m, &l.p, &bad, 1, &r), MFC_MALFORMED);
    bad = (struct mfc_step){7, 0};
    assert_int_equal(mfc_replay(m, &l.p, &bad, 1, &r), MFC_MALFORMED);
    mfc_free(m);
}

static void older_callers_know_fewer_members(void **state) {
    (void)state;
    struct heard h;
    struct layers l;
    const struct mfc_schedule *s;
    struct mfc *m = open_session(&h);
    make_layers(&l);
    // A caller whose structs end before the last members must not have them read or written.
    struct mfc_solve_options o;
    memset(&o, 0x7f, sizeof o);
    mfc_solve_init(&o, offsetof(struct mfc_solve_options, method));
    assert_int_equal(((unsigned char *)&o.method)[0], 0x7f);
    l.p.size = offsetof(struct mfc_problem, persistent_bytes);
    l.p.persistent_bytes = -5;
    assert_int_equal(mfc_solve(m, &l.p, &o, &s), MFC_OK);
    assert_int_equal(s->cost, 10 * NODES);
    mfc_free(m);
}

static void a_cancel_ends_one_search(void **state) {
    (void)state;
    struct heard h;
    struct layers l;
    struct mfc_solve_options o;
    const struct mfc_schedule *s;
    struct mfc *m = open_session(&h);
    make_layers(&l);
    mfc_solve_init(&o, sizeof o);
    o.gap = 0.5;
    h.cancels = m; // in the callback, before there is a schedule
    o.budget_share = 0.6;
    int result = mfc_solve(m, &l.p, &o, &s);
    assert_true(result == MFC_OK || result == MFC_NO_PLAN);
    assert_non_null(s);
    h.cancels = NULL;
    assert_int_equal(mfc_solve(m, &l.p, &o, &s), MFC_OK);
    assert_true(s->peak_bytes <= s->budget_bytes);
    mfc_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_the_memory),
        cmocka_unit_test(too_little_memory),
        cmocka_unit_test(wrong_problems),
        cmocka_unit_test(older_callers_know_fewer_members),
        cmocka_unit_test(a_cancel_ends_one_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
