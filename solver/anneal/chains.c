// Annealing chains in rounds: see chains.h.
#include "solver/anneal/chains.h"

#include <string.h>

#include "solver/cuts/initial.h"
#include "solver/parallel.h"

enum {
    ROUND_WORK = 50000,
    ROUND_WORK_PER_NODE = 20,
    ROUND_DOUBLINGS = 6,
    FRESH_NODES = 600,
    FREE_ROUND = 3,
    START_PART = 2,
};

static int32_t chains_for(int32_t n_nodes) {
    return n_nodes <= 400 ? 8 : n_nodes <= 2000 ? 4 : 2;
}

// Half of the chains keep the given order at first, even when it is free: they are faster, and for
// many training graphs another order gains little.
static bool is_free_first(int32_t c, int32_t n) {
    return n > 2 ? c % 4 < 2 : c == 0;
}

// The initial solution. It gets a part of the time, so that the search can go on if none is found.
static bool make_start(struct chains *cs, struct solve_run *r) {
    struct stop stop = stop_child(r->stop, stop_seconds_left(r->stop) / START_PART);
    bool ok = initial_by_cuts(r->p, r->options->budget_bytes, &stop, r->arena, &cs->greedy);
    if (ok)
        solve_offer(r, cs->greedy, 'G');
    return ok;
}

bool chains_make(struct chains *cs, struct solve_run *r) {
    const struct solve_options *o = r->options;
    *cs = (struct chains){.n = chains_for(r->p->n),
                          .first_work = ROUND_WORK + (int64_t)ROUND_WORK_PER_NODE * r->p->n};
    bool some = sequence_given(r->p, r->arena, &cs->given) && make_start(cs, r);
    int32_t n_good = 0;
    for (int32_t c = 0; some && c < cs->n; c++) {
        struct chain *ch = &cs->at[c];
        ch->arena = arena_make(r->arena->mem);
        ch->budget_bytes = o->budget_bytes;
        ch->failed = !anneal_make(&ch->arena, r->p, o->budget_bytes, o->seed, (uint64_t)c, &ch->an);
        n_good += !ch->failed;
    }
    return n_good > 0;
}

void chains_free(struct chains *cs) {
    for (int32_t c = 0; c < cs->n; c++)
        if (cs->at[c].arena.mem)
            arena_free(&cs->at[c].arena);
}

void chains_leave_order(struct chains *cs) {
    for (int32_t c = 0; c < cs->n; c++)
        cs->at[c].an.free_order = is_free_first(c, cs->n);
    cs->free_order = true;
    cs->n_before = cs->n_rounds;
}

static int64_t best_cost(const struct chain *ch) {
    return ch->failed || ch->an.n_best == 0 ? INT64_MAX : ch->an.best_cost;
}

// The number of chains with a better incumbent.
static int32_t rank_of(const struct chains *cs, int32_t c) {
    int32_t rank = 0;
    for (int32_t k = 0; k < cs->n; k++)
        rank += best_cost(&cs->at[k]) < best_cost(&cs->at[c]);
    return rank;
}

// The sequence that an exploiting chain continues from: its own best, that of the best chain whose
// order it may follow, or the incumbent of the run, which another method may have found.
static struct sequence elite(const struct chains *cs, int32_t c, const struct sequence *incumbent,
                             int64_t incumbent_cost) {
    const struct chain *ch = &cs->at[c];
    struct sequence best = {ch->an.best, best_cost(ch) == INT64_MAX ? 0 : ch->an.n_best};
    int64_t cost = best_cost(ch);
    if (best.n > 0 && rank_of(cs, c) < cs->n / 2 && cs->n_rounds % 4 != 3)
        return best;
    for (int32_t k = 0; k < cs->n; k++) {
        const struct chain *other = &cs->at[k];
        if (best_cost(other) < cost && (ch->an.free_order || !other->an.free_order)) {
            best = (struct sequence){other->an.best, other->an.n_best};
            cost = best_cost(other);
        }
    }
    if (incumbent->n > 0 && incumbent_cost < cost &&
        (ch->an.free_order || sequence_is_given_order(*incumbent)))
        best = *incumbent;
    return best;
}

// Once a chain in free order is ahead, all chains leave the given order.
static void free_chains(struct chains *cs) {
    int64_t given = INT64_MAX, any = INT64_MAX;
    for (int32_t c = 0; c < cs->n; c++) {
        int64_t *least = cs->at[c].an.free_order ? &any : &given;
        int64_t cost = best_cost(&cs->at[c]);
        *least = cost < *least ? cost : *least;
    }
    for (int32_t c = 0; c < cs->n && any < given; c++)
        cs->at[c].an.free_order = true;
}

static void plan_chain(struct chains *cs, int32_t c, const struct sequence *incumbent,
                       int64_t incumbent_cost) {
    static const double explore_temperature[] = {0.3, 1, 0.1, 0.5},
                        exploit_temperature[] = {0.1, 0.3, 0.03, 1};
    struct chain *ch = &cs->at[c];
    int32_t turn = cs->n_rounds + c / 2;
    int32_t doublings = (cs->n_rounds - cs->n_before) / 2;
    doublings = doublings < ROUND_DOUBLINGS ? doublings : ROUND_DOUBLINGS;
    bool greedy = ch->an.st.p->n > FRESH_NODES || turn % 2 == 0;
    struct sequence fresh = greedy ? cs->greedy : cs->given, from = fresh;
    ch->work = cs->first_work << doublings;
    ch->initial_temperature = explore_temperature[turn % 4];
    ch->final_temperature = 0.005;
    if (cs->n_rounds > 0 && c % 2 == 0) {
        struct sequence best = elite(cs, c, incumbent, incumbent_cost);
        if (best.n > 0) {
            from = best;
            ch->initial_temperature = exploit_temperature[turn % 4];
        }
    } else if (best_cost(ch) != INT64_MAX && ch->an.st.p->n > FRESH_NODES) {
        from = (struct sequence){ch->an.best, ch->an.n_best}; // a fresh start is too expensive
    }
    ch->descend = cs->n_rounds > 0 && best_cost(ch) == INT64_MAX && from.at == fresh.at;
    if (ch->descend && ch->start.at.n > 0)
        return; // it continues from its last sequence
    if (!min_budget_set(&ch->start, &ch->arena, from))
        ch->failed = true;
}

static void run_chain(void *context, int32_t index) {
    struct chain *ch = &((struct chains *)context)->at[index];
    if (ch->failed)
        return;
    if (ch->descend) {
        if (!min_budget_descend(&ch->an, &ch->start, ch->budget_bytes, ch->work, ch->stop))
            ch->failed = true;
        return;
    }
    anneal_start(&ch->an, ch->start.at.at, ch->start.at.n);
    if (!anneal_run(&ch->an, ch->work, ch->initial_temperature, ch->final_temperature,
                    ch->good_cost, ch->stop))
        ch->failed = true;
}

// Offers the chain's best, or its current sequence for the peak if there is no best yet.
static void offer_chain(struct chain *ch, struct solve_run *r) {
    if (ch->an.n_best > 0) {
        if (ch->an.best_cost < solve_best_cost(r))
            solve_offer(r, (struct sequence){ch->an.best, ch->an.n_best}, 'A');
    } else if (!ch->failed && state_is_valid(&ch->an.st)) {
        struct state *st = &ch->an.st;
        solve_offer(r, (struct sequence){st->scratch, state_save(st, st->scratch)}, 'A');
    }
}

int64_t chains_round(struct chains *cs, struct solve_run *r, int32_t n_threads, int64_t max_work) {
    struct arena scratch = arena_make(r->arena->mem);
    struct sequence incumbent = {0};
    int64_t cost = solve_best_cost(r), done = 0;
    if (cost != INT64_MAX && !solve_incumbent(r, &scratch, &incumbent))
        incumbent.n = 0;
    int64_t good = solve_best_bound(r);
    good = good > r->options->target_cost ? good : r->options->target_cost;
    if (cs->free_order && cs->n_rounds - cs->n_before >= FREE_ROUND)
        free_chains(cs);
    for (int32_t c = 0; c < cs->n; c++) {
        struct chain *ch = &cs->at[c];
        ch->stop = r->stop;
        ch->good_cost = good;
        if (!ch->failed)
            plan_chain(cs, c, &incumbent, cost);
        ch->work = ch->work < max_work / cs->n ? ch->work : max_work / cs->n + 1;
        done += ch->work;
    }
    arena_free(&scratch);
    parallel_run(n_threads, cs->n, run_chain, cs);
    for (int32_t c = 0; c < cs->n; c++)
        offer_chain(&cs->at[c], r);
    cs->n_rounds++;
    return done;
}
