// Initial solutions by cuts (initial.h): one cut after the other at the peak of the best sequence,
// until it fits the budget or does not improve.
#include "solver/cuts/initial.h"

#include <assert.h>

#include "solver/cuts/initial_cut.h"
#include "solver/model/sequence_problem.h"

enum { MAX_CUTS = 12, MIN_APART = 4 };

struct initial {
    struct arena *a;        // of the result
    const int32_t *node_of; // per node of the current order: its node in the problem
    struct sequence best;
    int64_t cost, excess_bytes; // of the best
    int64_t peak_bytes;
    int64_t max_cost; // sequences that cost more cannot improve: the best cost, once that fits
};

// Records the sequence of the cut if it is the best so far.
static bool record(void *context, const struct initial_cut *c) {
    struct initial *s = context;
    bool better = c->excess_bytes < s->excess_bytes ||
                  (c->excess_bytes == s->excess_bytes && c->facts.cost < s->cost);
    if (c->goal.min_peak)
        better = c->facts.cost <= c->goal.max_cost && c->facts.peak_bytes < s->peak_bytes;
    if (c->facts.wrong_at >= 0 || !better)
        return true;
    int32_t *at = ARENA_ARRAY(s->a, int32_t, c->now.n);
    for (int32_t t = 0; at && t < c->now.n; t++)
        at[t] = s->node_of[c->now.at[t]];
    s->best = (struct sequence){at, c->now.n};
    s->cost = c->facts.cost;
    s->excess_bytes = c->excess_bytes;
    s->peak_bytes = c->facts.peak_bytes;
    s->max_cost = s->excess_bytes == 0 ? s->cost : INT64_MAX;
    return at != NULL;
}

// Cuts the best sequence at its peak.
static bool cut_best(struct initial *s, const struct problem *p, const struct initial_goal *goal,
                     const struct stop *stop, size_t n_growths) {
    static const double growths[] = {1, 1.25, 1.5};
    struct arena scratch = arena_make(s->a->mem);
    struct sequence_facts facts;
    struct problem order;
    struct initial_cut cut;
    bool ok = sequence_measure(p, s->best, &scratch, &facts) &&
              unroll(p, s->best, &scratch, &order) &&
              initial_cut_make(&cut, &order, facts.peak_at, goal, stop, &scratch);
    s->node_of = s->best.at;
    for (size_t g = 0; ok && g < n_growths; g++)
        for (int32_t apart = cut.q + 1; ok && apart >= MIN_APART; apart = apart * 2 / 3)
            ok = initial_cut_run(&cut, apart, growths[g], &s->max_cost, record, s);
    arena_free(&scratch);
    return ok;
}

// Cuts until the sequence fits the budget or does not improve.
static bool meet_budget(struct initial *s, const struct problem *p, int64_t budget_bytes,
                        const struct stop *stop) {
    struct initial_goal goal = {.budget_bytes = budget_bytes};
    bool ok = sequence_given(p, s->a, &s->best) &&
              sequence_excess(p, s->best, budget_bytes, s->a, &s->excess_bytes);
    s->cost = problem_base_cost(p);
    s->max_cost = INT64_MAX;
    for (int k = 0; ok && k < MAX_CUTS && s->excess_bytes > 0; k++) {
        int64_t before = s->excess_bytes;
        ok = cut_best(s, p, &goal, stop, k == 0 ? 3 : 1) && sequence_prune(p, &s->best, s->a);
        if (s->excess_bytes == before || (stop && stop_now(stop)))
            break;
    }
    return ok;
}

// Aims at smaller budgets too: a schedule that misses one of them may still fit this one.
bool initial_by_cuts(const struct problem *p, int64_t budget_bytes, const struct stop *stop,
                     struct arena *a, struct sequence *out) {
    assert(p && a && out);
    static const double shrinks[] = {1, 0.95, 0.9, 0.8};
    int64_t min_excess = INT64_MAX;
    bool ok = true;
    for (size_t k = 0; ok && k < sizeof shrinks / sizeof *shrinks && min_excess > 0; k++) {
        struct initial s = {.a = a};
        int64_t excess, capacity = budget_bytes - p->persistent_bytes;
        ok = meet_budget(&s, p, p->persistent_bytes + (int64_t)((double)capacity * shrinks[k]),
                         stop) &&
             sequence_excess(p, s.best, budget_bytes, a, &excess);
        if (ok && excess < min_excess) {
            min_excess = excess;
            *out = s.best;
        }
    }
    return ok;
}

bool initial_min_peak(const struct problem *p, int64_t max_cost, const struct stop *stop,
                      struct arena *a, struct sequence *out) {
    assert(p && a && out);
    assert(max_cost >= problem_base_cost(p));
    struct initial s = {.a = a, .max_cost = INT64_MAX};
    struct initial_goal goal = {.min_peak = true, .max_cost = max_cost};
    struct sequence_facts facts;
    bool ok = sequence_given(p, a, &s.best) && sequence_measure(p, s.best, a, &facts);
    s.peak_bytes = facts.peak_bytes;
    ok = ok && cut_best(&s, p, &goal, stop, 3) && sequence_prune(p, &s.best, a);
    *out = s.best;
    return ok;
}
