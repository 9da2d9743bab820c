// Whether the walk matches an old snapshot: see sim.h. It does when everything up to the next
// change of the sequence is unchanged up to one shift of time, which may be 0. That depends on the
// clocks, on pending transfers, and on the finish times of earlier tasks. So each of these must be
// shifted alike, or be irrelevant, before and now: each later task that reads it starts later
// anyway.
#include "solver/sim/sim.h"

// ---- The next read of a clock ----

// The first start, in segments k .. to-1, of a task that reads the clock as it is at k; INT64_MAX:
// none does.
static int64_t next_look(const struct sim *s, int32_t clock, int32_t k, int32_t to) {
    int64_t first = INT64_MAX, time = s->snapshot[k]->clock[clock];
    if (s->walk.used[clock] == s->n_users[clock])
        return first;
    for (; k < to && s->snapshot[k]->clock[clock] == time; k++)
        if (s->snapshot[k]->look[clock] < first)
            first = s->snapshot[k]->look[clock];
    return first < INT64_MAX ? time + first : first;
}

// A guess, which the rest of this file verifies: the shift of the device with the shortest wait.
static int64_t find_shift(struct sim *s, int32_t k, int32_t to) {
    const struct sim_walk *old = s->snapshot[k];
    int64_t least = INT64_MAX, shift = 0;
    for (int32_t p = 0; p < s->p->n_places; p++) {
        int32_t c = sim_clock_of(s, p);
        int64_t next = s->next_look[c] = next_look(s, c, k, to);
        if (next < INT64_MAX && next - old->clock[c] < least) {
            least = next - old->clock[c];
            shift = s->walk.clock[c] - old->clock[c];
        }
    }
    return shift;
}

// Whether both times, the old and the new one, are before the next read at every place.
static bool is_before_looks(const struct sim *s, int64_t before, int64_t now, int64_t shift) {
    for (int32_t p = 0; p < s->p->n_places; p++) {
        int64_t next = s->next_look[sim_clock_of(s, p)];
        if (next < INT64_MAX && (before >= next || now >= next + shift))
            return false;
    }
    return true;
}

// The clock of a place also decides which instances are released at once. Those released behind are
// read by another place, which waits; so they are released later than that.
static bool is_irrelevant(struct sim *s, int32_t c, int32_t k, int32_t to, int64_t shift) {
    int64_t before = s->snapshot[k]->clock[c], now = s->walk.clock[c];
    bool is_place = c < s->p->n_devices || c == s->n_clocks - 1;
    if (is_place)
        return is_before_looks(s, before, now, shift);
    int64_t next = next_look(s, c, k, to);
    return next == INT64_MAX || (before < next && now <= next + shift);
}

// ---- Finish times ----

static bool is_late(const struct sim *s, int32_t t, int32_t by, int64_t shift) {
    int64_t start = s->time[by].settled - s->task[by].duration;
    return s->time[t].settled >= start || s->time[t].finish > start + shift;
}

// Whether a task between the labels depends on this one, which is not shifted.
static bool is_observed(const struct sim *s, int32_t t, int64_t label, int64_t until,
                        int64_t shift) {
    const struct sim_task *x = &s->task[t];
    if (s->time[t].finish == s->time[t].settled + shift)
        return false;
    if (x->from != TASK_RUN) {
        int32_t first = x->first.by, end = s->task[x->first.list].last.by;
        if (first >= 0 && s->task[first].label >= label && s->task[first].label < until &&
            is_late(s, t, first, shift))
            return true;
        if (end >= 0 && s->task[end].label >= label && s->task[end].label < until &&
            is_late(s, t, end, shift))
            return true;
    }
    for (int32_t f = x->sibling; f != SIM_NONE && s->task[f].label < until;
         f = s->task[f].sibling) {
        const struct sim_task *y = &s->task[f];
        if (y->from == x->place && y->label >= label && is_late(s, t, f, shift))
            return true;
        if (y->place == x->place)
            break;
    }
    return false;
}

static bool is_any_observed(struct sim *s, int32_t k, int32_t to, int64_t shift) {
    int64_t label = s->task[s->snapshot[k]->task].label;
    int64_t until = to == s->n_snapshots ? INT64_MAX : s->task[s->snapshot[to]->task].label;
    for (size_t i = 0; i < s->loose.n; i++) {
        int32_t t = s->loose.at[i];
        if (!is_observed(s, t, label, until, shift))
            continue;
        s->loose.at[i] = s->loose.at[0]; // likely also the first at the next snapshot
        s->loose.at[0] = t;
        return true;
    }
    return false;
}

// ---- Pending transfers ----

// A pending release that is not shifted must be past, before and now, at the next read of its
// place. A fetch to a device does not release it, as it compares with the clock of the device.
static bool is_pending_alike(const struct sim *s, const struct sim_walk *old,
                             struct sim_skip *skip) {
    const struct sim_walk *w = &s->walk;
    skip->is_ragged = false;
    for (int32_t i = 0; i < w->n_pending; i++) {
        const struct sim_pending *x = &w->pending[i], *y = &old->pending[i];
        if (x->task != y->task)
            return false;
        if (x->time == y->time + skip->shift)
            continue;
        int64_t next = s->next_look[sim_clock_of(s, x->place)];
        if (next < INT64_MAX && (y->time > next || x->time > next + skip->shift))
            return false;
        skip->is_ragged = true;
    }
    return true;
}

// ---- The comparison ----

bool sim_step_matches(struct sim *s, int32_t k, int32_t to, struct sim_skip *out) {
    const struct sim_walk *w = &s->walk, *old = s->snapshot[k];
    if (w->n_pending != old->n_pending)
        return false;
    int64_t shift = out->shift = find_shift(s, k, to);
    for (int32_t c = 0; c < s->n_clocks; c++)
        if (w->clock[c] != old->clock[c] + shift && !is_irrelevant(s, c, k, to, shift))
            return false;
    if ((shift != 0 || s->is_mixed) && !is_before_looks(s, s->latest[0], s->latest[1], shift))
        return false;
    return is_pending_alike(s, old, out) && !is_any_observed(s, k, to, shift);
}
