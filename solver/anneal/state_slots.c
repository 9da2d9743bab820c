// Empty slots for insertions: see state_room in state.h. Slots are a packed-memory array: where an
// empty slot is needed and there is none, nearby runs shift to the left and right until the gap is
// wide enough. Their order stays, so only slot numbers change.
#include "solver/anneal/state.h"

static int32_t list_index(const struct state_list *l, int32_t slot) {
    int32_t low = 0, high = l->n;
    while (low < high) {
        int32_t mid = (low + high) / 2;
        if (l->at[mid] < slot)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

// Bytes held between the run in `slot` and the next one.
static int64_t carry_after(const struct state *st, int32_t slot) {
    const struct problem *p = st->p;
    int32_t node = st->node_at[slot];
    int64_t carry = profile_at(&st->profile, slot) - st->workspace[node];
    if (!state_held(st, node, slot + 1))
        carry -= st->bytes[node];
    for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++)
        if (!state_held(st, p->in_of[e], slot + 1))
            carry -= st->bytes[p->in_of[e]];
    return carry;
}

void state_move_back(struct state *st, int32_t from, int32_t to) {
    const struct problem *p = st->p;
    int32_t node = st->node_at[from];
    struct state_list *r = &st->runs[node];
    r->at[list_index(r, from)] = to;
    for (int32_t e = p->in_start[node]; e < p->in_start[node + 1]; e++) {
        struct state_list *u = &st->uses[p->in_of[e]];
        u->at[list_index(u, from)] = to;
    }
    profile_put(&st->profile, to, profile_at(&st->profile, from));
    st->node_at[from] = -1;
    st->node_at[to] = node;
}

static void move_run(struct state *st, int32_t from, int32_t to) {
    if (from == to)
        return;
    state_move_back(st, from, to);
    state_note(st, EDIT_MOVED, from, to);
}

// The runs of the window are back where they were: the empty slots between them get their bytes.
void state_room_undone(struct state *st, int32_t left, int32_t right) {
    int32_t run = left - 1;
    while (run >= 0 && st->node_at[run] < 0)
        run--;
    int64_t carry = run >= 0 ? carry_after(st, run) : 0;
    for (int32_t s = left; s <= right; s++)
        if (st->node_at[s] < 0)
            profile_put(&st->profile, s, carry + PROFILE_IDLE);
        else
            carry = carry_after(st, s);
    profile_refresh(&st->profile, left, right);
}

// Spreads all runs over more slots; returns where the run in `slot` went.
static int32_t respread(struct state *st, int32_t slot, int32_t k) {
    int32_t n = 0, index = INT32_MAX;
    int32_t *order = st->scratch;
    for (int32_t s = 0; s < st->n_slots; s++) {
        if (s == slot)
            index = n;
        if (st->node_at[s] >= 0)
            order[n++] = st->node_at[s];
    }
    st->n_spare = st->n_spare > k ? st->n_spare : k;
    state_load(st, order, n);
    for (int32_t s = 0; s < st->n_slots; s++)
        if (st->node_at[s] >= 0 && index-- == 0)
            return s;
    return st->n_slots;
}

int32_t state_room(struct state *st, int32_t slot, int32_t k) {
    int32_t left = slot, right = slot, n_empty = 0;
    while (left > 0 && st->node_at[left - 1] < 0 && n_empty < k) {
        left--;
        n_empty++;
    }
    if (n_empty == k)
        return slot;
    int64_t carry = 0;
    if (n_empty > 0)
        carry = profile_at(&st->profile, slot - 1) - PROFILE_IDLE;
    else if (slot > 0)
        carry = carry_after(st, slot - 1);
    while (n_empty < k && !st->broken) {
        if (left == 0 && right == st->n_slots && st->edits.n > 0)
            return -1;
        if (left == 0 && right == st->n_slots)
            return state_room(st, respread(st, slot, k), k);
        if (left > 0)
            n_empty += st->node_at[--left] < 0;
        if (right < st->n_slots)
            n_empty += st->node_at[right++] < 0;
    }
    state_note(st, EDIT_ROOM, left, right - 1);
    int32_t low = left, high = right - 1;
    for (int32_t s = left; s < slot; s++)
        if (st->node_at[s] >= 0)
            move_run(st, s, low++);
    for (int32_t s = right - 1; s >= slot; s--)
        if (st->node_at[s] >= 0)
            move_run(st, s, high--);
    for (int32_t s = low; s <= high; s++)
        profile_put(&st->profile, s, carry + PROFILE_IDLE);
    profile_refresh(&st->profile, left, right - 1);
    return st->broken ? -1 : high + 1;
}
