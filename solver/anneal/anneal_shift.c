// Moves that change the order of runs but not their number: see anneal_moves.h. A single run shifts
// between its last producer and its first consumer. A pull moves the dependencies of the run along,
// a push its dependents, so the sequence stays valid; together they reach every order.
#include "solver/anneal/anneal_moves.h"

enum { WINDOW_TRIES = 64 };

// Any slot can be the middle, so slots at the ends are in as many windows as the others.
void anneal_change_window(struct anneal *an) {
    int32_t n = an->st.n_slots, middle = (int32_t)rng_below(&an->rng, (uint64_t)n);
    if (n <= ANNEAL_WINDOW) {
        an->window = 0;
        an->n_window = n;
        return;
    }
    int32_t to = middle < n - ANNEAL_WINDOW / 2 ? middle + ANNEAL_WINDOW / 2 : n;
    an->window = middle > ANNEAL_WINDOW / 2 ? middle - ANNEAL_WINDOW / 2 : 0;
    an->n_window = to - an->window;
}

int32_t anneal_random_run(struct anneal *an) {
    struct state *st = &an->st;
    for (int32_t k = 0;; k++) {
        bool near = k < WINDOW_TRIES; // moves may have emptied the window
        int32_t slot = (int32_t)rng_below(&an->rng, (uint64_t)(near ? an->n_window : st->n_slots));
        slot += near ? an->window : 0;
        if (st->node_at[slot] >= 0)
            return slot;
    }
}

int32_t anneal_index(const struct state *st, int32_t slot) {
    const struct state_list *r = &st->runs[st->node_at[slot]];
    int32_t k = 0;
    while (r->at[k] != slot)
        k++;
    return k;
}

int32_t anneal_next_run(const struct state *st, int32_t slot) {
    while (slot < st->n_slots && st->node_at[slot] < 0)
        slot++;
    return slot < st->n_slots ? slot : -1;
}

static int32_t random_span(struct anneal *an, int32_t window) {
    int32_t span = 1;
    while (span < window && (rng_next(&an->rng) & 3) != 0)
        span *= 2;
    span = span < window ? span : window;
    return 1 + (int32_t)rng_below(&an->rng, (uint64_t)span);
}

bool move_shift(struct anneal *an) {
    struct state *st = &an->st;
    const struct problem *p = st->p;
    int32_t slot = an->free_order && (rng_next(&an->rng) & 1) ? anneal_random_run(an)
                                                              : anneal_random_again(an);
    if (slot < 0)
        return false;
    int32_t node = st->node_at[slot];
    int32_t low = state_run_before(st, node, slot), high = state_use_after(st, node, slot);
    for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++) {
        int32_t run = state_run_before(st, p->in_of[e], slot);
        low = run > low ? run : low;
    }
    high = high < 0 ? st->n_slots : high;
    bool later = rng_next(&an->rng) & 1;
    int32_t window = later ? high - slot - 1 : slot - low - 1;
    if (window <= 0)
        return false;
    int32_t span = random_span(an, window);
    int32_t target = anneal_next_run(st, later ? slot + span + 1 : slot - span);
    if (target < 0)
        target = st->n_slots;
    if (target == slot)
        return false;
    int32_t k = anneal_index(st, slot);
    target = state_room(st, target, 1);
    if (target < 0)
        return false;
    state_remove(st, st->runs[node].at[k]);
    state_insert(st, node, target - 1);
    return state_is_valid(st);
}

// Moves the picked runs (ascending) to directly before the run in `target`, which is none of them,
// or to the end.
static bool move_picked(struct anneal *an, int32_t n, int32_t target) {
    struct state *st = &an->st;
    int32_t *node = an->plan;
    for (int32_t i = 0; i < n; i++) {
        node[i] = st->node_at[an->picked[i]];
        an->picked[i] = anneal_index(st, an->picked[i]);
    }
    target = state_room(st, target, n);
    if (target < 0)
        return false;
    for (int32_t i = 0; i < n; i++)
        an->picked[i] = st->runs[node[i]].at[an->picked[i]];
    for (int32_t i = 0; i < n; i++)
        state_remove(st, an->picked[i]);
    for (int32_t i = 0; i < n; i++)
        state_insert(st, node[i], target - n + i);
    return state_is_valid(st);
}

bool move_pull(struct anneal *an) {
    struct state *st = &an->st;
    const struct problem *p = st->p;
    int32_t slot = anneal_random_run(an);
    int32_t back = random_span(an, ANNEAL_REACH), target = slot, n = ANNEAL_PLAN_MAX;
    an->stamp++;
    an->mark[st->node_at[slot]] = an->stamp;
    int32_t s = slot;
    for (; s >= 0 && back >= 0; s--) {
        int32_t node = st->node_at[s];
        if (node < 0)
            continue;
        if (an->mark[node] != an->stamp) {
            target = s;
            back--;
            continue;
        }
        an->mark[node] = 0;
        if (n == 0)
            return false;
        an->picked[--n] = s;
        for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++)
            an->mark[p->in_of[e]] = an->stamp;
    }
    int32_t n_picked = 0;
    for (; n < ANNEAL_PLAN_MAX; n++)
        if (an->picked[n] > target)
            an->picked[n_picked++] = an->picked[n];
    return target != slot && move_picked(an, n_picked, target);
}

bool move_push(struct anneal *an) {
    struct state *st = &an->st;
    const struct problem *p = st->p;
    int32_t slot = anneal_random_run(an);
    int32_t ahead = random_span(an, ANNEAL_REACH), target = st->n_slots, n = 0;
    an->stamp++;
    for (int32_t s = slot; s < st->n_slots; s++) {
        int32_t node = st->node_at[s];
        if (node < 0)
            continue;
        bool along = s == slot;
        for (int32_t e = p->in_start[node]; e < p->in_start[node + 1] && !along; e++)
            along = an->mark[p->in_of[e]] == an->stamp;
        if (along) {
            if (n == ANNEAL_PLAN_MAX)
                return false;
            an->picked[n++] = s;
            an->mark[node] = an->stamp;
        } else {
            an->mark[node] = 0; // another run: later readers are not bound to a pushed one
            if (--ahead < 0) {
                target = s;
                break;
            }
        }
    }
    return move_picked(an, n, target);
}
