// The snapshots that cut the sequence into segments: see sim.h. Each holds the state of the walk at
// the begin of its segment, and the peaks and the latest finish time of the segment. The first one
// is at the begin of the sequence, whichever task that is.
//
// A walk makes fresh ones. Where its state matches an old one up to a shift of time (sim_step.c),
// the segments up to the next change of the sequence are skipped: their times move by the shift,
// and their bytes by the present difference.
#include <string.h>

#include "solver/sim/sim.h"

static size_t n_sums(const struct sim *s) {
    return 2 * (size_t)s->n_clocks + (size_t)s->p->n_places;
}

static size_t n_block(const struct sim *s) {
    return 3 * (size_t)s->n_clocks + 3 * (size_t)s->p->n_places + n_sums(s);
}

static bool make_walk(struct sim *s, struct sim_walk *w) {
    int64_t *at = ARENA_ARRAY(s->arena, int64_t, n_block(s));
    *w = (struct sim_walk){.clock = at};
    if (!at)
        return false;
    w->release = at += s->n_clocks;
    w->sums = w->done = at += s->p->n_places;
    w->used = at += s->n_clocks;
    w->held = at += s->n_clocks;
    w->peak = at += s->p->n_places;
    w->peak_at = at += s->p->n_places;
    w->look = at += s->p->n_places;
    w->tail = at + s->n_clocks;
    return true;
}

// All but the tail.
static void copy_walk(struct sim *s, const struct sim_walk *from, struct sim_walk *to) {
    to->n_pending = 0;
    if (!sim_walk_reserve(s, to, from->n_pending))
        return;
    memcpy(to->clock, from->clock, (n_block(s) - (size_t)s->n_clocks) * sizeof *to->clock);
    if (from->n_pending > 0)
        memcpy(to->pending, from->pending, (size_t)from->n_pending * sizeof *to->pending);
    to->n_pending = from->n_pending;
    to->task = from->task;
}

static bool grow_snapshots(struct sim *s) {
    size_t cap = (size_t)s->cap_snapshots * 2 + 16;
    struct sim_walk **old = SIM_GROW(s, s->snapshot, s->n_snapshots, cap);
    struct sim_walk **fresh = SIM_GROW(s, s->fresh, s->n_fresh, cap);
    struct sim_walk **merged = SIM_GROW(s, s->merged, 0, cap);
    struct sim_walk **spare = SIM_GROW(s, s->spare, s->n_spare, 2 * cap);
    if (!old || !fresh || !merged || !spare)
        return false;
    s->snapshot = old;
    s->fresh = fresh;
    s->merged = merged;
    s->spare = spare;
    s->cap_snapshots = (int32_t)cap;
    return true;
}

bool sim_snapshots_make(struct sim *s) {
    s->snapshot = NULL;
    bool ok = make_walk(s, &s->walk) && grow_snapshots(s);
    for (int32_t k = 0; k < SIM_MAX_SKIPS && ok; k++) {
        s->skip[k].sums = ARENA_ARRAY(s->arena, int64_t, n_sums(s));
        s->skip[k].more = ARENA_ARRAY(s->arena, int32_t, n_sums(s));
        s->skip[k].stay = ARENA_ARRAY(s->arena, struct sim_stay, s->n_clocks);
        ok = s->skip[k].sums && s->skip[k].more && s->skip[k].stay;
    }
    s->next_look = ARENA_ARRAY(s->arena, int64_t, s->n_clocks);
    return ok && s->next_look;
}

// ---- Segments ----

static void begin_segment(struct sim *s) {
    for (int32_t k = 0; k < s->p->n_places; k++)
        s->walk.peak[k] = -1;
    for (int32_t c = 0; c < s->n_clocks; c++)
        s->walk.look[c] = INT64_MAX;
    s->walk.makespan_cost = 0;
}

static void open_segment(struct sim *s, const struct sim_walk *like) {
    struct sim_walk *w = NULL;
    // All present snapshots may be kept beside the fresh ones.
    if (s->n_fresh + s->n_snapshots + 1 < s->cap_snapshots || grow_snapshots(s)) {
        if (s->n_spare > 0)
            w = s->spare[--s->n_spare];
        else if ((w = ARENA_NEW(s->arena, struct sim_walk)) && !make_walk(s, w))
            w = NULL;
    }
    if (!w) {
        s->broken = true;
        return;
    }
    copy_walk(s, &s->walk, w);
    w->has_tail = like && like->has_tail;
    if (w->has_tail)
        memcpy(w->tail, like->tail, (size_t)s->n_clocks * sizeof *w->tail);
    s->fresh[s->n_fresh++] = w;
    begin_segment(s);
}

void sim_snapshots_end_segment(struct sim *s) {
    struct sim_walk *w = s->fresh[s->n_fresh - 1];
    memcpy(w->peak, s->walk.peak, 2 * (size_t)s->p->n_places * sizeof *w->peak);
    for (int32_t c = 0; c < s->n_clocks; c++) {
        int64_t look = s->walk.look[c];
        w->look[c] = look < INT64_MAX ? look - w->clock[c] : INT64_MAX;
    }
    w->makespan_cost = s->walk.makespan_cost;
}

void sim_snapshots_take(struct sim *s, const struct sim_walk *like) {
    sim_snapshots_end_segment(s);
    open_segment(s, like);
}

static int64_t label_at(const struct sim *s, int32_t snapshot) {
    return snapshot == 0 ? 0 : s->task[s->snapshot[snapshot]->task].label;
}

// The last snapshot, from `low` on, that is before the label; low - 1: none.
static int32_t last_before(const struct sim *s, int32_t low, int64_t label) {
    int32_t high = s->n_snapshots;
    for (low--; high - low > 1;) {
        int32_t mid = low + (high - low) / 2;
        if (label_at(s, mid) < label)
            low = mid;
        else
            high = mid;
    }
    return low;
}

// The first label, not before `from`, at which something may have changed; INT64_MAX: none.
static int64_t next_dirty(const struct sim *s, int64_t from) {
    int64_t next = INT64_MAX;
    for (size_t k = 0; k < s->dirty.n; k++)
        if (s->dirty.at[k] >= from && s->dirty.at[k] < next)
            next = s->dirty.at[k];
    return next;
}

static int64_t latest(const struct sim *s, const struct sim_walk *w) {
    int64_t most = 0;
    for (int32_t c = 0; c < s->n_clocks; c++)
        most = w->clock[c] > most ? w->clock[c] : most;
    return most;
}

// The walk continues from a snapshot.
static void note_latest(struct sim *s, int32_t k) {
    s->latest[0] = k > 0 ? latest(s, s->snapshot[k]) : -1;
    s->latest[1] = k > 0 ? latest(s, &s->walk) : -1;
    s->loose.n = 0;
}

int32_t sim_snapshots_resume(struct sim *s) {
    int32_t low = s->relabelled ? 0 : last_before(s, 0, next_dirty(s, 0));
    s->walked = true;
    s->n_kept = low;
    s->n_fresh = s->n_skips = 0;
    copy_walk(s, s->snapshot[low], &s->walk);
    if (low == 0)
        s->walk.task = s->task[SIM_END].next;
    s->is_mixed = false;
    note_latest(s, low);
    open_segment(s, NULL);
    return low + 1;
}

// ---- Skips ----

static void apply_to_pending(const struct sim *s, const struct sim_skip *skip, struct sim_walk *w) {
    for (int32_t k = 0; k < s->p->n_places; k++)
        w->release[k] = INT64_MAX;
    for (int32_t k = 0; k < w->n_pending; k++) {
        struct sim_pending *x = &w->pending[k];
        bool is_from_before = s->task[s->task[x->task].last.by].label < skip->label;
        if (skip->is_ragged && is_from_before)
            x->time = sim_walk_release_time(s, x->task);
        else
            x->time += skip->shift;
        if (x->time < w->release[x->place])
            w->release[x->place] = x->time;
    }
}

// Moves an old snapshot by the differences of a skip. It is called for many, so only what differs
// is touched.
static void apply(const struct sim *s, const struct sim_skip *skip, struct sim_walk *w) {
    for (int32_t k = 0; k < skip->n_more; k++)
        w->sums[skip->more[k]] += skip->sums[skip->more[k]];
    for (int32_t c = 0; c < s->n_clocks && skip->shift != 0; c++)
        w->clock[c] += skip->shift;
    for (int32_t k = 0; k < skip->n_stay; k++) {
        const struct sim_stay *x = &skip->stay[k];
        int64_t shifted = x->before + skip->shift;
        if (w->clock[x->clock] != shifted)
            continue;
        w->clock[x->clock] = x->now;
        if (w->look[x->clock] < INT64_MAX)
            w->look[x->clock] += shifted - x->now;
    }
    if (w->n_pending > 0 && (skip->shift != 0 || skip->is_ragged))
        apply_to_pending(s, skip, w);
}

// Records the skip of segments k .. to-1; its shift is known.
static void note_skip(struct sim *s, struct sim_skip *skip, int32_t k, int32_t to) {
    const struct sim_walk *old = s->snapshot[k];
    int64_t shift = skip->shift;
    skip->from = k;
    skip->to = to;
    skip->n_fresh = s->n_fresh;
    skip->label = label_at(s, k);
    skip->until = to == s->n_snapshots ? INT64_MAX : label_at(s, to);
    skip->n_more = skip->n_stay = 0;
    int32_t n = (int32_t)n_sums(s);
    for (int32_t i = 0; i < n; i++)
        if ((skip->sums[i] = s->walk.sums[i] - old->sums[i]) != 0)
            skip->more[skip->n_more++] = i;
    for (int32_t c = 0; c < s->n_clocks; c++)
        if (s->walk.clock[c] != old->clock[c] + shift)
            skip->stay[skip->n_stay++] = (struct sim_stay){c, old->clock[c], s->walk.clock[c]};
    s->is_mixed = s->is_mixed || shift != 0 || s->loose.n > 0;
    s->n_skips++;
    s->n_shifted += shift != 0;
}

bool sim_snapshots_settled(struct sim *s, int32_t k, int32_t *next) {
    *next = k + 1;
    if (s->relabelled || s->n_skips == SIM_MAX_SKIPS)
        return false;
    int64_t dirty = next_dirty(s, label_at(s, k));
    int32_t to = dirty == INT64_MAX ? s->n_snapshots : last_before(s, k, dirty);
    struct sim_skip *skip = &s->skip[s->n_skips];
    if (to <= k || !sim_step_matches(s, k, to, skip))
        return false;
    sim_snapshots_end_segment(s);
    note_skip(s, skip, k, to);
    if (to == s->n_snapshots)
        return true;
    copy_walk(s, s->snapshot[to], &s->walk);
    apply(s, skip, &s->walk);
    note_latest(s, to);
    open_segment(s, NULL);
    *next = to + 1;
    return false;
}

// ---- All segments ----

static void add_segment(struct sim *s, const struct sim_walk *w, const struct sim_skip *skip) {
    struct sim_result *r = &s->result;
    const int64_t *held = skip ? skip->sums + 2 * s->n_clocks : NULL;
    int64_t end = w->makespan_cost + (skip ? skip->shift : 0);
    r->makespan_cost = end > r->makespan_cost ? end : r->makespan_cost;
    for (int32_t k = 0; k < s->p->n_places; k++) {
        int64_t peak = w->peak[k] + (held ? held[k] : 0);
        if (w->peak[k] >= 0 && peak > s->peak[k]) {
            s->peak[k] = peak;
            s->peak_at[k] = w->peak_at[k];
        }
    }
}

void sim_snapshots_sum_up(struct sim *s) {
    memset(s->peak, 0, (size_t)s->p->n_places * sizeof *s->peak);
    for (int32_t k = 0; k < s->n_kept; k++)
        add_segment(s, s->snapshot[k], NULL);
    for (int32_t k = 0; k < s->n_fresh; k++)
        add_segment(s, s->fresh[k], NULL);
    for (int32_t i = 0; i < s->n_skips; i++)
        for (int32_t k = s->skip[i].from; k < s->skip[i].to; k++)
            add_segment(s, s->snapshot[k], &s->skip[i]);
}

// ---- Commit ----

void sim_snapshots_clear(struct sim *s) {
    sim_snapshots_drop(s);
    while (s->n_snapshots > 0)
        s->spare[s->n_spare++] = s->snapshot[--s->n_snapshots];
    struct sim_walk *w = &s->walk;
    memset(w->clock, 0, n_block(s) * sizeof *w->clock);
    for (int32_t k = 0; k < s->p->n_places; k++)
        w->release[k] = INT64_MAX;
    w->task = SIM_END;
    w->n_pending = 0;
    open_segment(s, NULL);
    if (s->n_fresh > 0) {
        sim_snapshots_end_segment(s);
        s->snapshot[s->n_snapshots++] = s->fresh[--s->n_fresh];
    }
}

void sim_snapshots_drop(struct sim *s) {
    while (s->n_fresh > 0)
        s->spare[s->n_spare++] = s->fresh[--s->n_fresh];
    s->n_skips = 0;
    s->walked = false;
}

static void keep_old(struct sim *s, struct sim_walk *w, const struct sim_skip *skip, int32_t *n) {
    if (skip) {
        apply(s, skip, w);
        for (int32_t k = 0; k < s->p->n_places; k++)
            w->peak[k] += w->peak[k] >= 0 ? skip->sums[2 * s->n_clocks + k] : 0;
        w->makespan_cost += skip->shift;
    }
    w->has_tail = w->has_tail && skip && s->task[w->task].label > s->last_edit;
    s->merged[(*n)++] = w;
}

// Applies the shift of a skip to its tasks.
static void shift_tasks(struct sim *s, const struct sim_skip *skip) {
    int32_t until = skip->to == s->n_snapshots ? SIM_END : s->snapshot[skip->to]->task;
    if (skip->shift == 0)
        return;
    for (int32_t t = s->snapshot[skip->from]->task; t != until; t = s->task[t].next)
        s->time[t].settled = s->time[t].finish += skip->shift;
}

void sim_snapshots_commit(struct sim *s) {
    int32_t n = 0, at = s->n_kept, n_fresh = 0;
    for (int32_t k = 0; k < s->n_kept; k++)
        keep_old(s, s->snapshot[k], NULL, &n);
    for (int32_t i = 0; i < s->n_skips; i++) {
        const struct sim_skip *skip = &s->skip[i];
        while (n_fresh < skip->n_fresh)
            s->merged[n++] = s->fresh[n_fresh++];
        while (at < skip->from)
            s->spare[s->n_spare++] = s->snapshot[at++];
        while (at < skip->to)
            keep_old(s, s->snapshot[at++], skip, &n);
    }
    while (n_fresh < s->n_fresh)
        s->merged[n++] = s->fresh[n_fresh++];
    while (at < s->n_snapshots)
        s->spare[s->n_spare++] = s->snapshot[at++];
    for (int32_t i = 0; i < s->n_skips; i++)
        shift_tasks(s, &s->skip[i]);
    struct sim_walk **before = s->snapshot;
    s->snapshot = s->merged;
    s->merged = before;
    s->n_snapshots = n;
    s->n_fresh = s->n_skips = 0;
    s->walked = false;
}
