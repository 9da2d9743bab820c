// The checker against single corruptions. Tight schedules (the budget is their peak) are damaged in
// one place: a step dropped, doubled, moved, swapped, turned into the other kind, given another
// node; or one of the claims changed by a little. A naive replay, written here with sets of
// instances and nothing shared with solver/check/schedule_check.c, says whether the damaged
// schedule is still right. The checker must reject every one that is not, and accept every one that
// is.
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "ir/base/rng.h"
#include "solver/baselines/reversal.h"
#include "solver/check/schedule_check.h"
#include "solver/model/sequence.h"
#include "tests/oracle/random_problem.h"

#define CORRUPTIONS 50000
#define MAX_NODES   40

// Rescans everything at every step: slow, and plain to see.
static bool naive_is_right(const struct problem *p, const struct schedule *s) {
    bool held[MAX_NODES] = {0};
    int n_runs[MAX_NODES] = {0}, n_first = 0;
    int64_t cost = 0, peak = p->persistent_bytes, base = 0;
    for (int32_t k = 0; k < s->steps.n; k++) {
        int32_t v = s->steps.at[k].node;
        if (v < 0 || v >= p->n)
            return false;
        if (s->steps.at[k].kind == STEP_FREE) {
            if (!held[v])
                return false;
            held[v] = false;
            continue;
        }
        for (int32_t e = 0; e < p->n_edges; e++)
            for (int32_t to = 0; to < p->n; to++)
                if (to == v && e >= p->in_start[to] && e < p->in_start[to + 1] &&
                    !held[p->in_of[e]])
                    return false;
        if (held[v])
            return false;
        held[v] = true;
        if (n_runs[v]++ == 0 && v != n_first++ && !s->free_order)
            return false;
        cost += p->cost[v];
        int64_t now = p->persistent_bytes + p->workspace[v];
        for (int32_t i = 0; i < p->n; i++)
            now += held[i] ? p->bytes[i] : 0;
        peak = now > peak ? now : peak;
    }
    for (int32_t i = 0; i < p->n; i++) {
        base += p->cost[i];
        if (n_runs[i] == 0 || (n_runs[i] > 1 && p->once[i]) || (p->keep[i] && !held[i]))
            return false;
    }
    bool bounds = s->bound <= cost && s->bound_any <= cost &&
                  (s->outcome != OUTCOME_OPTIMAL || s->bound == cost || s->bound_any == cost);
    return peak == s->peak_bytes && cost == s->cost && base == s->base_cost &&
           peak <= s->budget_bytes && bounds;
}

// A right schedule with recomputation, and claims without slack.
static void make_tight(struct scene *s, const struct problem *p, struct rng *r,
                       struct schedule *out) {
    bool ends[MAX_NODES];
    struct reversal reversal;
    struct sequence q;
    struct replay replay;
    int32_t n_forward = 1 + (int32_t)rng_below(r, (uint64_t)p->n);
    for (int32_t i = 0; i < n_forward; i++)
        ends[i] = rng_below(r, 2) == 0;
    struct reversal_style style = {rng_below(r, 2) == 0, REVERSAL_LATE};
    assert_true(reversal_make(p, &s->arena, n_forward, ends, style, &reversal));
    reversal_multilevel(&reversal, 1 + (int32_t)rng_below(r, 3));
    assert_true(reversal_finish(&reversal, &q));
    *out = (struct schedule){.outcome = OUTCOME_FEASIBLE, .free_order = rng_below(r, 2)};
    assert_true(sequence_to_steps(p, q, &s->arena, &out->steps));
    assert_int_equal(schedule_check_steps(p, out->steps, &s->arena, &s->diags, &replay), ST_OK);
    assert_int_equal(replay.failed_step, -1);
    out->peak_bytes = out->budget_bytes = replay.peak_bytes;
    out->cost = replay.cost;
    out->base_cost = problem_base_cost(p);
    out->bound = out->bound_any = out->base_cost;
    if (out->cost == out->base_cost)
        out->outcome = OUTCOME_OPTIMAL;
}

static int32_t any_step(const struct schedule *x, struct rng *r) {
    return (int32_t)rng_below(r, (uint64_t)x->steps.n);
}

static void corrupt_steps(const struct problem *p, struct schedule *x, struct rng *r) {
    struct step *at = x->steps.at;
    int32_t k = any_step(x, r), j = any_step(x, r);
    struct step one = at[k];
    switch (rng_below(r, 6)) {
    case 0: // dropped
        memmove(at + k, at + k + 1, (size_t)(x->steps.n - k - 1) * sizeof *at);
        x->steps.n--;
        break;
    case 1: // doubled, somewhere
        memmove(at + j + 1, at + j, (size_t)(x->steps.n - j) * sizeof *at);
        at[j] = one;
        x->steps.n++;
        break;
    case 2: // moved
        memmove(at + k, at + k + 1, (size_t)(x->steps.n - k - 1) * sizeof *at);
        j = j < x->steps.n - 1 ? j : x->steps.n - 1;
        memmove(at + j + 1, at + j, (size_t)(x->steps.n - 1 - j) * sizeof *at);
        at[j] = one;
        break;
    case 3: // swapped with the next
        if (k + 1 < x->steps.n) {
            at[k] = at[k + 1];
            at[k + 1] = one;
        }
        break;
    case 4: // the other kind
        at[k].kind = at[k].kind == STEP_FREE ? STEP_COMPUTE : STEP_FREE;
        break;
    default: // another node, or none
        at[k].node = (int32_t)rng_below(r, (uint64_t)p->n + 2) - 1;
    }
}

static void corrupt_claims(struct schedule *x, struct rng *r) {
    int64_t by = rng_below(r, 2) ? 1 : -1;
    int64_t *const numbers[] = {&x->budget_bytes, &x->peak_bytes, &x->cost,
                                &x->base_cost,    &x->bound,      &x->bound_any};
    uint64_t which = rng_below(r, 8);
    if (which < 6)
        *numbers[which] += which < 4 ? by : by * (x->cost - x->base_cost + 1);
    else if (which == 6)
        x->outcome = OUTCOME_OPTIMAL;
    else
        x->free_order = !x->free_order;
}

static void every_corruption_is_judged_right(void **state) {
    (void)state;
    int n_wrong = 0, n_right = 0;
    for (uint64_t index = 0; index < CORRUPTIONS; index++) {
        struct scene s;
        struct problem p;
        struct schedule x;
        struct rng r = rng_make(23, index);
        scene_open(&s);
        assert_int_equal(random_problem(&s.arena, &s.diags,
                                        (struct random_spec){29, index / 10, MAX_NODES, index % 2},
                                        &p),
                         ST_OK);
        make_tight(&s, &p, &r, &x);
        assert_true(naive_is_right(&p, &x));
        assert_int_equal(schedule_check(&p, &x, &s.arena, &s.diags), ST_OK);
        if (rng_below(&r, 5) == 0) {
            corrupt_claims(&x, &r);
        } else {
            struct step *room = ARENA_ARRAY(&s.arena, struct step, x.steps.n + 1);
            memcpy(room, x.steps.at, (size_t)x.steps.n * sizeof *room);
            x.steps.at = room;
            corrupt_steps(&p, &x, &r);
        }
        bool right = naive_is_right(&p, &x);
        status st = schedule_check(&p, &x, &s.arena, &s.diags);
        if ((st == ST_OK) != right)
            fail_msg("corruption %d: the naive replay says %s, the checker %d", (int)index,
                     right ? "right" : "wrong", st);
        n_wrong += !right;
        n_right += right;
        scene_close(&s);
    }
    print_message("%d corruptions: %d wrong, all rejected; %d harmless, all accepted\n",
                  CORRUPTIONS, n_wrong, n_right);
    assert_true(n_wrong >= 10000 && n_right > CORRUPTIONS / 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_corruption_is_judged_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
