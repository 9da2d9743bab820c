// The annealing loop: see anneal.h.
#include "solver/anneal/anneal.h"

#include <math.h>
#include <string.h>

#include "solver/anneal/anneal_moves.h"

enum { SPREAD_EVERY = 32, TRADE_EVERY = 16, WINDOW_EVERY = 8192 };

bool anneal_make(struct arena *a, const struct problem *p, int64_t budget_bytes, uint64_t seed,
                 uint64_t chain, struct anneal *out) {
    *out = (struct anneal){.rng = rng_make(seed, chain)};
    if (!state_make(a, p, budget_bytes, &out->st))
        return false;
    double cost = 0, bytes = 1;
    for (int32_t i = 0; i < p->n; i++) {
        cost += (double)p->cost[i];
        bytes += (double)out->st.bytes[i];
    }
    out->mean_cost = (cost + 1) / (p->n + 1);
    excess_price_reset(&out->price, cost / bytes);
    out->cap_best = 2 * p->n + 64;
    out->cap_plan = ANNEAL_PLAN_MAX;
    out->best = ARENA_ARRAY(a, int32_t, out->cap_best);
    out->plan = ARENA_ARRAY(a, int32_t, ANNEAL_PLAN_MAX);
    out->picked = ARENA_ARRAY(a, int32_t, ANNEAL_PLAN_MAX + 1);
    out->mark = ARENA_ARRAY(a, uint32_t, p->n);
    out->kept = ARENA_ARRAY(a, int32_t, p->n);
    out->best_cost = INT64_MAX;
    if (!out->best || !out->plan || !out->picked || !out->mark || !out->kept)
        return false;
    for (int32_t i = 0; i < p->n; i++)
        if (p->keep[i] && !p->once[i])
            out->kept[out->n_kept++] = i;
    return true;
}

static void write_best(struct anneal *an) {
    struct state *st = &an->st;
    if (!an->best_is_current)
        return;
    an->best_is_current = false;
    if (st->n_runs > an->cap_best) {
        int32_t cap = st->n_runs + st->n_runs / 2;
        int32_t *best = ARENA_ARRAY(st->arena, int32_t, cap);
        if (!best) {
            st->broken = true;
            return;
        }
        an->best = best;
        an->cap_best = cap;
    }
    an->n_best = state_save(st, an->best);
    an->best_cost = st->cost;
}

static void note_best(struct anneal *an) {
    struct state *st = &an->st;
    if (st->profile.total_excess == 0 && state_is_valid(st) && (st->cost < an->best_cost)) {
        an->best_cost = st->cost;
        an->best_is_current = true;
    }
}

void anneal_start(struct anneal *an, const int32_t *order, int32_t n) {
    state_load(&an->st, order, n);
    note_best(an);
    write_best(an);
}

void anneal_budget(struct anneal *an, int64_t budget_bytes) {
    state_budget(&an->st, budget_bytes);
    an->n_best = 0;
    an->best_cost = INT64_MAX;
    note_best(an);
    write_best(an);
}

// Applies one move; true: the sequence is valid, and the move is to be accepted or undone.
static bool try_move(struct anneal *an, double max_cost) {
    uint64_t draw = rng_next(&an->rng);
    uint32_t r = (uint32_t)(draw & 127);
    if ((draw >> 7) % TRADE_EVERY == 0)
        return move_trade(an, max_cost);
    if (an->free_order) {
        if (r < 24)
            return move_pull(an);
        if (r < 48)
            return move_push(an);
        if (r < 64)
            return move_shift(an);
        r = (r - 64) * 2;
    }
    if (r < 48)
        return move_add(an, max_cost);
    if (r < 80)
        return move_remove(an, max_cost);
    if (r < 104)
        return move_swap(an, max_cost);
    return move_shift(an);
}

// One move, accepted or undone.
static void step(struct anneal *an) {
    struct state *st = &an->st;
    double excess = (double)st->profile.total_excess;
    double before = (double)st->cost + an->price.now * excess;
    double slack = -an->temperature * log(1 - rng_unit(&an->rng));
    an->n_moves++;
    st->work++;
    if (an->best_is_current) // copy it before a move may leave it
        write_best(an);
    bool right = try_move(an, an->price.now * excess + slack);
    if (st->edits.n == 0)
        return;
    double after = (double)st->cost + an->price.now * (double)st->profile.total_excess;
    if (right && after <= before + slack) {
        state_commit(st);
        an->n_accepted++;
        note_best(an);
    } else {
        state_undo(st, 0);
    }
}

bool anneal_run(struct anneal *an, int64_t work, double initial_temperature,
                double final_temperature, int64_t good_cost, const struct stop *stop) {
    struct state *st = &an->st;
    initial_temperature *= an->mean_cost;
    final_temperature *= an->mean_cost;
    an->price.n_over = 0;
    int64_t from = st->work, spread = from + (int64_t)st->n_runs * SPREAD_EVERY;
    for (int64_t i = 0; st->work - from < work; i++) {
        if (st->broken || an->best_cost <= good_cost)
            break;
        if (i % WINDOW_EVERY == 0)
            anneal_change_window(an);
        if (i % EXCESS_PRICE_EVERY == 0) {
            double done = (double)(st->work - from) / (double)work;
            an->temperature =
                initial_temperature * pow(final_temperature / initial_temperature, done);
            excess_price_adjust(&an->price);
            if (stop && stop_now(stop))
                break;
        }
        if (st->work >= spread) {
            write_best(an);
            state_load(st, st->scratch, state_save(st, st->scratch));
            spread = st->work + (int64_t)st->n_runs * SPREAD_EVERY;
        }
        step(an);
        excess_price_note(&an->price, st->profile.total_excess > 0);
    }
    write_best(an);
    return !st->broken;
}
