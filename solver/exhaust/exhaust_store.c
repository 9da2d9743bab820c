// The states of the exact search: a hash table and a heap (exhaust_store.h).
#include "solver/exhaust/exhaust_store.h"

#include <assert.h>
#include <string.h>

#define FIRST_SLOTS 1024

static size_t hash(node_set held, node_set done) {
    uint64_t x = held * 0x9e3779b97f4a7c15u ^ (done + 0x632be59bd9b4e019u) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return (size_t)(x ^ (x >> 32));
}

static bool make_slots(struct exhaust_store *s, size_t n) {
    int32_t *slot = ARENA_ARRAY(s->arena, int32_t, n);
    if (!slot)
        return false;
    memset(slot, -1, n * sizeof *slot);
    s->slot = slot;
    s->n_slots = n;
    return true;
}

// The slot of the state, or the free one where it belongs.
static size_t find(const struct exhaust_store *s, node_set held, node_set done) {
    size_t k = hash(held, done) & (s->n_slots - 1);
    while (s->slot[k] >= 0 &&
           (s->state.at[s->slot[k]].held != held || s->state.at[s->slot[k]].done != done))
        k = (k + 1) & (s->n_slots - 1);
    return k;
}

static bool grow(struct exhaust_store *s) {
    if (!make_slots(s, 2 * s->n_slots))
        return false;
    for (size_t i = 0; i < s->state.n; i++)
        s->slot[find(s, s->state.at[i].held, s->state.at[i].done)] = (int32_t)i;
    return true;
}

bool exhaust_store_open(struct exhaust_store *s, struct arena *a) {
    *s = (struct exhaust_store){.arena = a};
    return make_slots(s, FIRST_SLOTS);
}

static bool is_before(const struct exhaust_open *a, const struct exhaust_open *b) {
    if (a->value != b->value)
        return a->value < b->value;
    return a->n_done != b->n_done ? a->n_done > b->n_done : a->state > b->state;
}

static bool push(struct exhaust_store *s, struct exhaust_open open) {
    if (!VEC_PUSH(s->arena, &s->open, open))
        return false;
    struct exhaust_open *at = s->open.at;
    size_t k = s->open.n - 1;
    for (; k > 0 && is_before(&open, &at[(k - 1) / 2]); k = (k - 1) / 2)
        at[k] = at[(k - 1) / 2];
    at[k] = open;
    return true;
}

static struct exhaust_open pop(struct exhaust_store *s) {
    struct exhaust_open *at = s->open.at, top = at[0], last = at[--s->open.n];
    size_t k = 0, n = s->open.n;
    for (;;) {
        size_t child = 2 * k + 1;
        if (child >= n)
            break;
        child += child + 1 < n && is_before(&at[child + 1], &at[child]);
        if (!is_before(&at[child], &last))
            break;
        at[k] = at[child];
        k = child;
    }
    at[k] = last;
    return top;
}

bool exhaust_store_add(struct exhaust_store *s, const struct exhaust_state *state, int64_t value) {
    assert(s->n_slots > 0);
    size_t k = find(s, state->held, state->done);
    int32_t index = s->slot[k];
    if (index < 0) {
        index = (int32_t)s->state.n;
        if (!VEC_PUSH(s->arena, &s->state, *state))
            return false;
        s->slot[k] = index;
        if (2 * s->state.n > s->n_slots && !grow(s))
            return false;
    } else if (state->extra < s->state.at[index].extra) {
        s->state.at[index] = *state;
    } else {
        return true;
    }
    return push(s, (struct exhaust_open){value, index, node_count(state->done)});
}

int32_t exhaust_store_take(struct exhaust_store *s, int64_t *value) {
    while (s->open.n > 0) {
        struct exhaust_open open = pop(s);
        if (s->state.at[open.state].expanded)
            continue; // a cheaper way to it was expanded
        s->state.at[open.state].expanded = true;
        *value = open.value;
        return open.state;
    }
    return -1;
}
