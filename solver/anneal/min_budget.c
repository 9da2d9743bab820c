// Descent to the least budget: see min_budget.h.
#include "solver/anneal/min_budget.h"

#include <string.h>

#include "solver/solve.h"

enum { STAGE_WORK = 30000, STAGE_WORK_PER_NODE = 100, SEARCH_STAGES = 40 };

bool min_budget_set(struct min_budget *l, struct arena *a, struct sequence s) {
    if (s.n > l->cap) {
        l->at.at = ARENA_ARRAY(a, int32_t, s.n + s.n / 4);
        if (!l->at.at)
            return false;
        l->cap = s.n + s.n / 4;
    }
    memcpy(l->at.at, s.at, (size_t)s.n * sizeof *s.at);
    l->at.n = s.n;
    return true;
}

// The peak of the current sequence.
static int64_t peak_of(const struct anneal *an) {
    const struct state *st = &an->st;
    return profile_peak(&st->profile) * st->unit + st->p->persistent_bytes;
}

bool min_budget_descend(struct anneal *an, struct min_budget *l, int64_t target_bytes, int64_t work,
                        const struct stop *stop) {
    struct state *st = &an->st;
    int64_t stage = STAGE_WORK + (int64_t)STAGE_WORK_PER_NODE * st->p->n, from = st->work;
    double step = 0.2;
    anneal_start(an, l->at.at, l->at.n);
    l->peak_bytes = peak_of(an);
    while (l->peak_bytes > target_bytes && step > 5e-4 && st->work - from < work) {
        if (st->broken || (stop && stop_now(stop)))
            break;
        int64_t budget = l->peak_bytes - 1 - (int64_t)(step * (double)l->peak_bytes);
        anneal_budget(an, budget > target_bytes ? budget : target_bytes);
        excess_price_reset(&an->price, an->price.initial);
        anneal_start(an, l->at.at, l->at.n);
        anneal_run(an, stage, 0.3, 0.01, INT64_MAX - 1, stop);
        if (an->n_best == 0) {
            step /= 2;
            continue;
        }
        if (!min_budget_set(l, st->arena, (struct sequence){an->best, an->n_best}))
            return false;
        anneal_start(an, l->at.at, l->at.n);
        l->peak_bytes = peak_of(an);
        step = step * 1.5 < 0.25 ? step * 1.5 : 0.25;
    }
    anneal_budget(an, target_bytes);
    anneal_start(an, l->at.at, l->at.n);
    return !st->broken;
}

void min_budget_search(struct solve_run *r) {
    struct arena scratch = arena_make(r->arena->mem);
    struct anneal an;
    struct min_budget least = {0};
    struct sequence given;
    int64_t work = SEARCH_STAGES * (STAGE_WORK + (int64_t)STAGE_WORK_PER_NODE * r->p->n);
    bool ok = sequence_given(r->p, &scratch, &given) && min_budget_set(&least, &scratch, given) &&
              anneal_make(&scratch, r->p, r->floor_bytes, r->options->seed, 0, &an) &&
              min_budget_descend(&an, &least, r->floor_bytes, work, r->stop);
    if (ok && r->options->free_order) { // from the given order's best: it is found faster
        an.free_order = true;
        ok = min_budget_descend(&an, &least, r->floor_bytes, work, r->stop);
    }
    if (ok)
        solve_offer(r, least.at, 'A');
    arena_free(&scratch);
}
