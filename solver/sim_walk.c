// The walk along the sequence that gives times and memory: see sim.h. A run's inputs, and most
// instances, are released as soon as their last reader has run; what is still being sent out of its
// place then waits in `pending` until the transfer is over.
#include <string.h>

#include "solver/sim.h"

enum { SNAPSHOT_EVERY = 32 };

static size_t block_size(const struct sim *s) {
    return 2 * (size_t)s->p->n_resources + 4 * (size_t)s->p->n_places;
}

bool sim_walk_make(struct sim *s, struct sim_walk *w) {
    *w = (struct sim_walk){.avail = ARENA_ARRAY(s->arena, int64_t, block_size(s))};
    if (!w->avail)
        return false;
    w->idle = w->avail + s->p->n_resources;
    w->held = w->idle + s->p->n_resources;
    w->release = w->held + s->p->n_places;
    w->peak = w->release + s->p->n_places;
    w->peak_at = w->peak + s->p->n_places;
    return true;
}

static void begin(struct sim *s) {
    struct sim_walk *w = &s->walk;
    memset(w->avail, 0, block_size(s) * sizeof *w->avail);
    for (int32_t k = 0; k < s->p->n_places; k++)
        w->release[k] = INT64_MAX;
    w->task = s->task[SIM_END].next;
    w->makespan_cost = w->host_clock = 0;
    w->n_pending = 0;
}

// What is counted from snapshot to snapshot begins anew.
static void begin_segment(struct sim *s) {
    memset(s->walk.peak, 0, (size_t)s->p->n_places * sizeof *s->walk.peak);
    s->walk.makespan_cost = 0;
}

static bool pending_room(struct sim *s, struct sim_walk *w, int32_t n) {
    if (n <= w->cap_pending)
        return true;
    struct sim_pending *at = ARENA_ARRAY(s->arena, struct sim_pending, 2 * n);
    if (!at) {
        s->broken = true;
        return false;
    }
    if (w->n_pending > 0)
        memcpy(at, w->pending, (size_t)w->n_pending * sizeof *at);
    w->pending = at;
    w->cap_pending = 2 * n;
    return true;
}

static void copy_walk(struct sim *s, const struct sim_walk *from, struct sim_walk *to) {
    to->n_pending = 0;
    if (!pending_room(s, to, from->n_pending))
        return;
    memcpy(to->avail, from->avail, block_size(s) * sizeof *to->avail);
    if (from->n_pending > 0)
        memcpy(to->pending, from->pending, (size_t)from->n_pending * sizeof *to->pending);
    to->n_pending = from->n_pending;
    to->task = from->task;
    to->makespan_cost = from->makespan_cost;
    to->host_clock = from->host_clock;
}

static bool same_walk(const struct sim *s, const struct sim_walk *a, const struct sim_walk *b) {
    size_t n = 2 * ((size_t)s->p->n_resources + (size_t)s->p->n_places); // without the peaks
    if (a->host_clock != b->host_clock || a->n_pending != b->n_pending ||
        memcmp(a->avail, b->avail, n * sizeof *a->avail) != 0)
        return false;
    for (int32_t k = 0; k < a->n_pending; k++)
        if (a->pending[k].time != b->pending[k].time ||
            a->pending[k].bytes != b->pending[k].bytes ||
            a->pending[k].place != b->pending[k].place)
            return false;
    return true;
}

// ---- Snapshots ----

static bool more_snapshots(struct sim *s) {
    int32_t cap = s->cap_snapshots * 2 + 16;
    struct sim_walk **old = ARENA_ARRAY(s->arena, struct sim_walk *, cap);
    struct sim_walk **fresh = ARENA_ARRAY(s->arena, struct sim_walk *, cap);
    struct sim_walk **spare = ARENA_ARRAY(s->arena, struct sim_walk *, 2 * (size_t)cap);
    if (!old || !fresh || !spare)
        return false;
    if (s->cap_snapshots > 0) {
        memcpy(old, s->snapshot, (size_t)s->n_snapshots * sizeof *old);
        memcpy(fresh, s->fresh, (size_t)s->n_fresh * sizeof *fresh);
        memcpy(spare, s->spare, (size_t)s->n_spare * sizeof *spare);
    }
    s->snapshot = old;
    s->fresh = fresh;
    s->spare = spare;
    s->cap_snapshots = cap;
    return true;
}

static struct sim_walk *spare_walk(struct sim *s) {
    if (s->n_spare > 0)
        return s->spare[--s->n_spare];
    struct sim_walk *w = ARENA_NEW(s->arena, struct sim_walk);
    return w && sim_walk_make(s, w) ? w : NULL;
}

static void take_snapshot(struct sim *s) {
    // Behind the fresh ones there may come all that are there now.
    bool room = s->n_fresh + s->n_snapshots + 1 < s->cap_snapshots || more_snapshots(s);
    struct sim_walk *w = room ? spare_walk(s) : NULL;
    if (!w) {
        s->broken = true;
        return;
    }
    copy_walk(s, &s->walk, w);
    s->fresh[s->n_fresh++] = w;
    begin_segment(s);
}

static int64_t label_at(const struct sim *s, int32_t snapshot) {
    return s->task[s->snapshot[snapshot]->task].label;
}

// From the last snapshot that no edit has reached.
static void resume(struct sim *s) {
    int32_t low = -1, high = s->n_snapshots;
    while (high - low > 1) {
        int32_t mid = low + (high - low) / 2;
        if (label_at(s, mid) < s->dirty)
            low = mid;
        else
            high = mid;
    }
    s->from_snapshot = low;
    s->n_fresh = 0;
    s->walked = true;
    if (low < 0)
        begin(s);
    else
        copy_walk(s, s->snapshot[low], &s->walk);
    begin_segment(s);
    s->to_snapshot = low + 1;
    while (s->to_snapshot < s->n_snapshots && label_at(s, s->to_snapshot) <= s->dirty_to)
        s->to_snapshot++;
}

void sim_walk_reset(struct sim *s) {
    while (s->n_snapshots > 0)
        s->spare[s->n_spare++] = s->snapshot[--s->n_snapshots];
    s->walked = false;
    s->n_fresh = 0;
}

void sim_walk_drop(struct sim *s) {
    while (s->n_fresh > 0)
        s->spare[s->n_spare++] = s->fresh[--s->n_fresh];
    s->walked = false;
}

void sim_walk_keep(struct sim *s) {
    int32_t first = s->from_snapshot + 1, behind = s->n_snapshots - s->to_snapshot;
    if (behind > 0) // the one where all became as before has other peaks before it
        take_snapshot(s);
    else
        copy_walk(s, &s->walk, &s->last);
    if (s->broken)
        return;
    int32_t dropped = behind > 0 ? s->to_snapshot + 1 : s->n_snapshots;
    behind = behind > 0 ? behind - 1 : 0;
    for (int32_t k = first; k < dropped; k++)
        s->spare[s->n_spare++] = s->snapshot[k];
    if (behind > 0)
        memmove(s->snapshot + first + s->n_fresh, s->snapshot + dropped,
                (size_t)behind * sizeof *s->snapshot);
    if (s->n_fresh > 0)
        memcpy(s->snapshot + first, s->fresh, (size_t)s->n_fresh * sizeof *s->snapshot);
    s->n_snapshots = first + s->n_fresh + behind;
    s->n_fresh = 0;
    s->walked = false;
}

// ---- Memory ----

static void flush(struct sim_walk *w, int32_t place, int64_t moment) {
    if (w->release[place] > moment)
        return;
    int32_t n = 0;
    w->release[place] = INT64_MAX;
    for (int32_t k = 0; k < w->n_pending; k++) {
        struct sim_pending x = w->pending[k];
        if (x.place == place && x.time <= moment) {
            w->held[place] -= x.bytes;
            continue;
        }
        if (x.place == place && x.time < w->release[place])
            w->release[place] = x.time;
        w->pending[n++] = x;
    }
    w->n_pending = n;
}

static void release_at(struct sim *s, int32_t place, int64_t bytes, int64_t time) {
    struct sim_walk *w = &s->walk;
    int64_t clock = place == s->p->host ? w->host_clock : w->avail[place];
    if (time <= clock || bytes == 0) {
        w->held[place] -= bytes;
        return;
    }
    if (!pending_room(s, w, w->n_pending + 1))
        return;
    w->pending[w->n_pending++] = (struct sim_pending){time, bytes, place};
    w->release[place] = time < w->release[place] ? time : w->release[place];
}

// Instance b has been read for the last time, by a task that ends at `time`: it goes when all
// transfers of it are over, too.
static void release(struct sim *s, int32_t b, int64_t time) {
    const struct sim_task *x = &s->task[b];
    for (int32_t f = x->sibling; f != SIM_NONE && s->task[f].place != x->place;
         f = s->task[f].sibling)
        if (s->task[f].from == x->place && s->finish[f] > time)
            time = s->finish[f];
    release_at(s, x->place, s->p->graph.bytes[x->node], time);
}

static void hold(struct sim_walk *w, int32_t place, int64_t bytes, int64_t workspace) {
    w->held[place] += bytes;
    int64_t level = w->held[place] + workspace;
    if (level > w->peak[place]) {
        w->peak[place] = level;
        w->peak_at[place] = w->task;
    }
}

// ---- Tasks ----

int32_t sim_bound(const struct sim *s, int32_t node, int32_t place, int64_t label) {
    int32_t b = SIM_NONE;
    for (int32_t t = s->first_of[node]; t != SIM_NONE; t = s->task[t].sibling) {
        const struct sim_task *x = &s->task[t];
        if (x->label >= label)
            break;
        if (x->place == place)
            b = t;
    }
    return b;
}

// A resource is busy from start to finish. It cannot end before its load and its idle time so far.
static void take(struct sim *s, int32_t resource, int64_t start, int64_t finish) {
    struct sim_walk *w = &s->walk;
    if (start > w->avail[resource]) {
        w->idle[resource] += start - w->avail[resource];
        s->is_cut = s->is_cut || s->busy_cost[resource] + w->idle[resource] > s->most_cost;
    }
    w->avail[resource] = finish;
}

// When a task ends at another time than before, it matters as long as somebody reads it.
static void note_change(struct sim *s, int32_t t, int32_t end) {
    if (s->finish[t] == s->settled[t])
        return;
    int64_t label = end >= 0 ? s->task[end].label : INT64_MAX;
    s->changed_to = label > s->changed_to ? label : s->changed_to;
}

static bool run_task(struct sim *s, int32_t t) {
    const struct sim_task *x = &s->task[t];
    const struct problem *g = &s->p->graph;
    struct sim_walk *w = &s->walk;
    int32_t v = x->node, place = x->place, first = g->in_start[v];
    int32_t n = g->in_start[v + 1] - first;
    int64_t start = w->avail[place];
    for (int32_t e = 0; e < n; e++) {
        int32_t b = sim_bound(s, g->in_of[first + e], place, x->label);
        if (b == SIM_NONE)
            return false;
        s->inputs[e] = b;
        start = s->finish[b] > start ? s->finish[b] : start;
    }
    flush(w, place, start);
    hold(w, place, g->bytes[v], g->workspace[v]);
    s->finish[t] = start + x->duration;
    take(s, place, start, s->finish[t]);
    note_change(s, t, x->end);
    for (int32_t e = 0; e < n; e++)
        if (s->task[s->inputs[e]].end == t)
            release(s, s->inputs[e], s->finish[t]);
    if (x->end == t)
        w->held[place] -= g->bytes[v];
    return true;
}

static bool fetch_task(struct sim *s, int32_t t) {
    const struct sim_task *x = &s->task[t];
    struct sim_walk *w = &s->walk;
    int32_t place = x->place, b = sim_bound(s, x->node, x->from, x->label);
    if (b == SIM_NONE)
        return false;
    bool stores = place == s->p->host;
    int64_t clock = stores ? w->host_clock : w->avail[place];
    int64_t start = s->finish[b] > clock ? s->finish[b] : clock;
    const struct route *r = placement_route(s->p, x->from, place);
    for (int32_t k = 0; k < r->n_resources; k++)
        start = w->avail[r->resource[k]] > start ? w->avail[r->resource[k]] : start;
    if (stores)
        w->host_clock = start;
    flush(w, place, stores ? start : clock);
    hold(w, place, s->p->graph.bytes[x->node], 0);
    s->finish[t] = start + x->duration;
    for (int32_t k = 0; k < r->n_resources; k++)
        take(s, r->resource[k], start, s->finish[t]);
    note_change(s, t, x->end);
    note_change(s, t, s->task[b].end); // what it is fetched from stays until then
    if (s->task[b].end == t)
        release(s, b, s->finish[t]);
    if (x->end == t)
        release_at(s, place, s->p->graph.bytes[x->node], s->finish[t]);
    return true;
}

// Whether the walk is at a snapshot behind all edits, with everything as it was there before.
static bool is_as_before(struct sim *s) {
    if (s->to_snapshot == s->n_snapshots || s->snapshot[s->to_snapshot]->task != s->walk.task)
        return false;
    if (s->task[s->walk.task].label > s->changed_to &&
        same_walk(s, &s->walk, s->snapshot[s->to_snapshot]))
        return true;
    s->to_snapshot++;
    return false;
}

static enum sim_verdict walk(struct sim *s) {
    struct sim_walk *w = &s->walk;
    int32_t until_snapshot = SNAPSHOT_EVERY;
    for (; w->task != SIM_END; w->task = s->task[w->task].next) {
        if (is_as_before(s))
            return SIM_RIGHT;
        if (until_snapshot-- == 0) {
            take_snapshot(s);
            until_snapshot = SNAPSHOT_EVERY - 1;
        }
        int32_t t = w->task;
        s->n_walked++;
        if (!(s->task[t].from == TASK_RUN ? run_task(s, t) : fetch_task(s, t)))
            return SIM_WRONG;
        if (s->finish[t] > w->makespan_cost)
            w->makespan_cost = s->finish[t];
        if (s->is_cut)
            return SIM_CUT;
    }
    return SIM_RIGHT;
}

// ---- Results ----

int64_t sim_load_cost(const struct sim *s) {
    int64_t most = 0;
    for (int32_t q = 0; q < s->p->n_resources; q++)
        most = s->busy_cost[q] > most ? s->busy_cost[q] : most;
    return most;
}

int64_t sim_resident_excess(const struct sim *s) {
    int64_t excess = 0;
    for (int32_t k = 0; k < s->p->n_devices; k++)
        if (s->base_bytes[k] > s->p->place[k].memory_bytes)
            excess += s->base_bytes[k] - s->p->place[k].memory_bytes;
    return excess;
}

static void add_segment(struct sim *s, const struct sim_walk *w) {
    struct sim_result *r = &s->result;
    r->makespan_cost = w->makespan_cost > r->makespan_cost ? w->makespan_cost : r->makespan_cost;
    for (int32_t k = 0; k < s->p->n_places; k++)
        if (w->peak[k] > s->peak[k]) {
            s->peak[k] = w->peak[k];
            s->peak_at[k] = w->peak_at[k];
        }
}

// All segments: those before the walk, its own, and those behind it that stay as they were.
static void add_segments(struct sim *s) {
    memset(s->peak, 0, (size_t)s->p->n_places * sizeof *s->peak);
    for (int32_t k = 0; k <= s->from_snapshot; k++)
        add_segment(s, s->snapshot[k]);
    for (int32_t k = 0; k < s->n_fresh; k++)
        add_segment(s, s->fresh[k]);
    add_segment(s, &s->walk);
    if (s->walk.task == SIM_END)
        return;
    for (int32_t k = s->to_snapshot + 1; k < s->n_snapshots; k++)
        add_segment(s, s->snapshot[k]);
    add_segment(s, &s->last);
}

static void sum_up(struct sim *s) {
    struct sim_result *r = &s->result;
    const struct placement *p = s->p;
    *r = (struct sim_result){.load_cost = sim_load_cost(s), .moved_bytes = s->moved_bytes};
    if (!s->untimed)
        add_segments(s);
    for (int32_t k = 0; k < p->n_places; k++) {
        int64_t peak = s->base_bytes[k] + s->peak[k];
        if (peak > p->place[k].memory_bytes)
            r->excess_bytes += peak - p->place[k].memory_bytes;
        if (k < p->n_devices) {
            r->energy += (double)s->busy_cost[k] * (double)p->place[k].power;
            r->peak_bytes = peak > r->peak_bytes ? peak : r->peak_bytes;
        }
    }
}

enum sim_verdict sim_evaluate(struct sim *s, int64_t most_cost) {
    if (s->untimed) {
        sum_up(s);
        return s->broken ? SIM_WRONG : SIM_RIGHT;
    }
    sim_find_ends(s);
    resume(s);
    s->walked_from = s->walk.task;
    s->most_cost = most_cost;
    s->is_cut = false;
    s->changed_to = -1;
    enum sim_verdict verdict = walk(s);
    s->walked_to = s->walk.task;
    if (verdict != SIM_RIGHT) // the task itself was looked at, too
        s->walked_to = s->task[s->walk.task].next;
    else if (s->walk.task == SIM_END)
        s->to_snapshot = s->n_snapshots;
    if (s->broken)
        return SIM_WRONG;
    if (verdict == SIM_RIGHT)
        sum_up(s);
    return verdict;
}
