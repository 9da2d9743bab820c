// The sequence of runs and its memory under insertions and removals: see state.h. A change touches
// the interval of the node's previous run and those of the inputs, at most 1 + indegree of them.
#include "solver/anneal/state.h"

#include <string.h>

enum { SLOTS_PER_RUN = 2, SLOTS_MIN = 2 * PROFILE_BLOCK };

// First index whose slot is >= slot.
static inline int32_t list_find(const struct state_list *l, int32_t slot) {
    int32_t n = l->n, low = 0;
    while (n > 8) {
        int32_t half = n / 2;
        if (l->at[low + half - 1] < slot) {
            low += half;
            n -= half;
        } else {
            n = half;
        }
    }
    while (n > 0 && l->at[low] < slot) {
        low++;
        n--;
    }
    return low;
}

static void list_put(struct state *st, struct state_list *l, int32_t i, int32_t slot) {
    if (l->n == l->cap) {
        int32_t cap = l->cap ? 2 * l->cap : 4;
        int32_t *at = ARENA_ARRAY(st->arena, int32_t, cap);
        if (!at) {
            st->broken = true;
            return;
        }
        if (l->n > 0)
            memcpy(at, l->at, (size_t)l->n * sizeof *at);
        l->at = at;
        l->cap = cap;
    }
    memmove(l->at + i + 1, l->at + i, (size_t)(l->n - i) * sizeof *l->at);
    l->at[i] = slot;
    l->n++;
}

static void list_take(struct state_list *l, int32_t i) {
    l->n--;
    memmove(l->at + i, l->at + i + 1, (size_t)(l->n - i) * sizeof *l->at);
}

static int64_t scaled(int64_t bytes, int64_t unit) {
    return bytes / unit + (bytes % unit != 0);
}

static int64_t limit_of(const struct state *st, int64_t budget_bytes) {
    int64_t left = budget_bytes - st->p->persistent_bytes;
    return left < 0 ? -1 : left / st->unit;
}

static bool grow_slots(struct state *st, int32_t n_slots, int64_t limit) {
    st->node_at = ARENA_ARRAY(st->arena, int32_t, n_slots);
    st->scratch = ARENA_ARRAY(st->arena, int32_t, n_slots);
    st->n_slots = n_slots;
    return st->node_at && st->scratch && profile_make(st->arena, n_slots, limit, &st->profile);
}

static int32_t slots_for(int32_t n_runs) {
    int64_t want = (int64_t)n_runs * SLOTS_PER_RUN + SLOTS_MIN;
    return want > INT32_MAX / 2 ? INT32_MAX / 2 : (int32_t)want;
}

bool state_make(struct arena *a, const struct problem *p, int64_t budget_bytes, struct state *out) {
    struct state *st = out;
    *st = (struct state){.p = p, .arena = a, .unit = 1};
    st->bytes = ARENA_ARRAY(a, int64_t, p->n);
    st->workspace = ARENA_ARRAY(a, int64_t, p->n);
    st->runs = ARENA_ARRAY(a, struct state_list, p->n);
    st->uses = ARENA_ARRAY(a, struct state_list, p->n);
    st->again = ARENA_ARRAY(a, int32_t, p->n);
    st->again_at = ARENA_ARRAY(a, int32_t, p->n);
    if (!st->bytes || !st->workspace || !st->runs || !st->uses || !st->again || !st->again_at)
        return false;
    double sum = 0;
    for (int32_t i = 0; i < p->n; i++)
        sum += (double)p->bytes[i] + (double)p->workspace[i];
    while (sum / (double)st->unit > (double)PROFILE_BOUND)
        st->unit *= 2;
    for (int32_t i = 0; i < p->n; i++) {
        st->bytes[i] = scaled(p->bytes[i], st->unit);
        st->workspace[i] = scaled(p->workspace[i], st->unit);
    }
    return grow_slots(st, slots_for(p->n), limit_of(st, budget_bytes));
}

void state_budget(struct state *st, int64_t budget_bytes) {
    profile_limit(&st->profile, limit_of(st, budget_bytes));
}

void state_load(struct state *st, const int32_t *order, int32_t n) {
    int32_t want = slots_for(n + st->n_spare);
    if (want > st->n_slots && !grow_slots(st, want + want / 2, st->profile.limit)) {
        st->broken = true;
        return;
    }
    profile_clear(&st->profile);
    for (int32_t s = 0; s < st->n_slots; s++)
        st->node_at[s] = -1;
    for (int32_t i = 0; i < st->p->n; i++)
        st->runs[i].n = st->uses[i].n = 0;
    st->n_runs = st->n_recomputed = 0;
    st->cost = 0;
    st->n_missing = st->p->n; // every node is without a run
    // Spread evenly. The last slots take the last runs, so insertion goes on in sequence order.
    for (int32_t i = 0; i < n && !st->broken; i++)
        state_insert(st, order[i], (int32_t)((int64_t)(i + 1) * st->n_slots / (n + 1)));
    state_commit(st);
}

int32_t state_save(const struct state *st, int32_t *order) {
    int32_t n = 0;
    for (int32_t s = 0; s < st->n_slots; s++)
        if (st->node_at[s] >= 0)
            order[n++] = st->node_at[s];
    return n;
}

// The slot up to which the run at index k of the node is held.
static int32_t run_end(const struct state *st, int32_t node, int32_t k) {
    const struct state_list *r = &st->runs[node], *u = &st->uses[node];
    int32_t i = u->n;
    if (k + 1 < r->n)
        i = list_find(u, r->at[k + 1]);
    else if (st->p->keep[node])
        return st->n_slots; // past every run
    return i > 0 && u->at[i - 1] > r->at[k] ? u->at[i - 1] : r->at[k];
}

// Uses strictly between two slots.
static int32_t count_uses(const struct state *st, int32_t node, int32_t from, int32_t to) {
    const struct state_list *u = &st->uses[node];
    return list_find(u, to) - list_find(u, from + 1);
}

// The node's own intervals when a run appears in (sign = 1) or leaves (-1) slot; the run is not in
// the list while this is computed.
static void own_interval(struct state *st, int32_t node, int32_t slot, int32_t sign) {
    const struct state_list *r = &st->runs[node];
    int32_t k = list_find(r, slot);
    int64_t bytes = sign * st->bytes[node];
    if (k > 0) {
        int32_t end = run_end(st, node, k - 1);
        if (end > slot) { // the new run takes over the uses after it
            int32_t last = state_use_before(st, node, slot);
            last = last > r->at[k - 1] ? last : r->at[k - 1];
            profile_add(&st->profile, last + 1, slot - 1, -bytes);
        } else {
            profile_add(&st->profile, slot, slot, bytes);
        }
        return;
    }
    int32_t next = k < r->n ? r->at[k] : st->n_slots;
    int32_t end = state_use_before(st, node, next);
    end = end > slot ? end : slot;
    if (next == st->n_slots && st->p->keep[node])
        end = st->n_slots - 1;
    profile_add(&st->profile, slot, end, bytes);
    st->n_missing -= sign * count_uses(st, node, slot, next);
    if (r->n == 0)
        st->n_missing -= sign;
}

// An input's interval when a use of it appears in or leaves slot; the use is not in the list.
static void input_interval(struct state *st, int32_t input, int32_t slot, int32_t at,
                           int32_t sign) {
    const struct state_list *r = &st->runs[input], *u = &st->uses[input];
    int32_t k = list_find(r, slot);
    if (k == 0) {
        st->n_missing += sign;
        return;
    }
    int32_t next_run = k < r->n ? r->at[k] : INT32_MAX;
    if (at < u->n && u->at[at] < next_run)
        return; // held for a later use anyway
    if (k == r->n && st->p->keep[input])
        return;
    int32_t from = r->at[k - 1];
    if (at > 0 && u->at[at - 1] > from)
        from = u->at[at - 1];
    profile_add(&st->profile, from + 1, slot, sign * st->bytes[input]);
}

static void again_put(struct state *st, int32_t node) {
    st->again_at[node] = st->n_recomputed;
    st->again[st->n_recomputed++] = node;
}

static void again_take(struct state *st, int32_t node) {
    int32_t last = st->again[--st->n_recomputed];
    st->again[st->again_at[node]] = last;
    st->again_at[last] = st->again_at[node];
}

void state_note(struct state *st, enum state_edit_kind kind, int32_t node, int32_t slot) {
    if (!VEC_PUSH(st->arena, &st->edits, ((struct state_edit){kind, node, slot})))
        st->broken = true;
}

void state_insert(struct state *st, int32_t node, int32_t slot) {
    const struct problem *p = st->p;
    st->work++;
    own_interval(st, node, slot, 1);
    list_put(st, &st->runs[node], list_find(&st->runs[node], slot), slot);
    for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++) {
        struct state_list *u = &st->uses[p->in_of[e]];
        int32_t at = list_find(u, slot);
        input_interval(st, p->in_of[e], slot, at, 1);
        list_put(st, u, at, slot);
    }
    profile_add(&st->profile, slot, slot, st->workspace[node] - PROFILE_IDLE);
    st->node_at[slot] = node;
    st->n_runs++;
    if (st->runs[node].n == 2)
        again_put(st, node);
    st->cost += p->cost[node];
    state_note(st, EDIT_INSERTED, node, slot);
}

void state_remove(struct state *st, int32_t slot) {
    const struct problem *p = st->p;
    int32_t node = st->node_at[slot];
    st->work++;
    for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++) {
        struct state_list *u = &st->uses[p->in_of[e]];
        int32_t at = list_find(u, slot);
        list_take(u, at);
        input_interval(st, p->in_of[e], slot, at, -1);
    }
    list_take(&st->runs[node], list_find(&st->runs[node], slot));
    own_interval(st, node, slot, -1);
    profile_add(&st->profile, slot, slot, PROFILE_IDLE - st->workspace[node]);
    st->node_at[slot] = -1;
    st->n_runs--;
    if (st->runs[node].n == 1)
        again_take(st, node);
    st->cost -= p->cost[node];
    state_note(st, EDIT_REMOVED, node, slot);
}

void state_undo(struct state *st, size_t n_edits) {
    while (st->edits.n > n_edits && !st->broken) {
        struct state_edit e = st->edits.at[--st->edits.n];
        size_t n = st->edits.n;
        if (e.kind == EDIT_INSERTED)
            state_remove(st, e.slot);
        else if (e.kind == EDIT_REMOVED)
            state_insert(st, e.node, e.slot);
        else if (e.kind == EDIT_MOVED)
            state_move_back(st, e.slot, e.node);
        else
            state_room_undone(st, e.node, e.slot);
        st->edits.n = n;
    }
}

int32_t state_run_before(const struct state *st, int32_t node, int32_t slot) {
    int32_t k = list_find(&st->runs[node], slot);
    return k > 0 ? st->runs[node].at[k - 1] : -1;
}

int32_t state_use_before(const struct state *st, int32_t node, int32_t slot) {
    int32_t k = list_find(&st->uses[node], slot);
    return k > 0 ? st->uses[node].at[k - 1] : -1;
}

int32_t state_use_after(const struct state *st, int32_t node, int32_t slot) {
    int32_t k = list_find(&st->uses[node], slot + 1);
    return k < st->uses[node].n ? st->uses[node].at[k] : -1;
}

bool state_held(const struct state *st, int32_t node, int32_t slot) {
    int32_t k = list_find(&st->runs[node], slot);
    return k > 0 && run_end(st, node, k - 1) >= slot;
}
