// The walk along the sequence that computes times and memory: see sim.h. Most instances are
// released when their last reader has run; one that is still being transferred stays in `pending`
// until the transfer has finished.
#include <string.h>

#include "ir/base/checked.h"
#include "solver/sim/sim.h"

enum { MAX_SEGMENT = 24, MIN_SEGMENT = 8 }; // tasks: where new ones begin, where old ones stay

// ---- Memory ----

bool sim_walk_reserve(struct sim *s, struct sim_walk *w, int32_t n) {
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

void sim_walk_flush(struct sim_walk *w, int32_t place, int64_t moment) {
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

static void release_at(struct sim *s, int32_t t, int64_t time) {
    struct sim_walk *w = &s->walk;
    int32_t place = s->task[t].place;
    int64_t bytes = s->p->graph.bytes[s->task[t].node];
    if (time <= w->clock[sim_clock_of(s, place)] || bytes == 0) {
        w->held[place] -= bytes;
        return;
    }
    if (!sim_walk_reserve(s, w, w->n_pending + 1))
        return;
    w->pending[w->n_pending++] = (struct sim_pending){time, bytes, place, t};
    w->release[place] = time < w->release[place] ? time : w->release[place];
}

// An instance is released when its last reader and all transfers of it have finished.
int64_t sim_walk_release_time(const struct sim *s, int32_t t) {
    const struct sim_task *x = &s->task[t];
    int64_t time = sim_finish(s, x->last.by);
    for (int32_t f = x->sibling; f != SIM_NONE && s->task[f].place != x->place;
         f = s->task[f].sibling)
        if (s->task[f].from == x->place)
            time = int64_max(time, sim_finish(s, f));
    return time;
}

static void release_ends(struct sim *s, int32_t t) {
    for (int32_t b = s->task[t].last.list; b != SIM_NONE; b = s->task[b].last.next)
        release_at(s, b, sim_walk_release_time(s, b));
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

static void look(struct sim_walk *w, int32_t clock, int64_t start) {
    w->used[clock]++;
    if (start < w->look[clock])
        w->look[clock] = start;
}

// A resource is busy until `finish`; the rest of its work comes after that.
static void take(struct sim *s, int32_t resource, int64_t finish, int64_t duration) {
    struct sim_walk *w = &s->walk;
    w->clock[resource] = finish;
    w->done[resource] += duration;
    look(w, resource, finish - duration);
    s->is_cut = s->is_cut || s->busy_cost[resource] - w->done[resource] > s->max_cost - finish;
}

static void ends_at(struct sim *s, int32_t t, int64_t time) {
    const struct sim_task *x = &s->task[t];
    s->time[t].finish = time;
    if (time > s->walk.makespan_cost)
        s->walk.makespan_cost = time;
    bool matters = (x->from != TASK_RUN || x->sibling != SIM_NONE) && !s->relabelled;
    if ((time != s->time[t].settled && !VEC_PUSH(s->arena, &s->changed, t)) ||
        (matters && !VEC_PUSH(s->arena, &s->loose, t)))
        s->broken = true;
}

static void run_task(struct sim *s, int32_t t) {
    const struct sim_task *x = &s->task[t];
    const struct problem *g = &s->p->graph;
    struct sim_walk *w = &s->walk;
    int32_t v = x->node, place = x->place;
    int64_t start = w->clock[place];
    for (int32_t b = x->first.list; b != SIM_NONE; b = s->task[b].first.next)
        start = int64_max(start, sim_finish(s, b));
    sim_walk_flush(w, place, start);
    hold(w, place, g->bytes[v], g->workspace[v]);
    ends_at(s, t, start + x->duration);
    take(s, place, s->time[t].finish, x->duration);
    release_ends(s, t);
}

static void fetch_task(struct sim *s, int32_t t) {
    const struct sim_task *x = &s->task[t];
    struct sim_walk *w = &s->walk;
    int32_t place = x->place, own = sim_clock_of(s, place);
    bool stores = place == s->p->host;
    int64_t clock = w->clock[own], start = int64_max(clock, sim_finish(s, x->first.list));
    const struct route *r = placement_route(s->p, x->from, place);
    for (int32_t k = 0; k < r->n_resources; k++)
        start = int64_max(start, w->clock[r->resource[k]]);
    look(w, own, start);
    if (stores)
        w->clock[own] = start;
    sim_walk_flush(w, place, stores ? start : clock);
    hold(w, place, s->p->graph.bytes[x->node], 0);
    ends_at(s, t, start + x->duration);
    for (int32_t k = 0; k < r->n_resources; k++)
        take(s, r->resource[k], s->time[t].finish, x->duration);
    release_ends(s, t);
}

// ---- The walk ----

// Finished transfers are not pending: equal states compare equal.
static void flush_all(struct sim *s) {
    for (int32_t place = 0; place < s->p->n_places; place++)
        sim_walk_flush(&s->walk, place, s->walk.clock[sim_clock_of(s, place)]);
}

// At the begin of an old segment the walk may end, or skip segments; else it begins a new segment.
// False: the walk is done.
static bool at_snapshot(struct sim *s, int32_t *k, int32_t *n_since) {
    const struct sim_walk *old = s->snapshot[*k];
    flush_all(s);
    bool behind = s->task[s->walk.task].label > s->last_edit && !s->relabelled;
    if (behind && s->max_cost != INT64_MAX && !s->is_bounded) {
        s->is_bounded = true;
        s->is_cut = sim_tail_bound(s, *k) > s->max_cost;
    }
    if (s->is_cut)
        return false;
    int32_t before = s->n_skips;
    if (sim_snapshots_settled(s, *k, k))
        return false;
    if (s->n_skips > before) {
        *n_since = 0;
    } else if (*n_since >= MIN_SEGMENT) {
        sim_snapshots_take(s, behind ? old : NULL);
        *n_since = 0;
    }
    return !s->broken;
}

static void walk(struct sim *s) {
    struct sim_walk *w = &s->walk;
    int32_t next = sim_snapshots_resume(s), n_since = 0;
    while (w->task != SIM_END && !s->broken) {
        while (next < s->n_snapshots && !s->task[s->snapshot[next]->task].in)
            next++;
        if (next < s->n_snapshots && s->snapshot[next]->task == w->task) {
            if (!at_snapshot(s, &next, &n_since))
                return;
        } else if (n_since >= MAX_SEGMENT) {
            flush_all(s);
            sim_snapshots_take(s, NULL);
            n_since = 0;
        }
        int32_t t = w->task;
        if (s->task[t].from == TASK_RUN)
            run_task(s, t);
        else
            fetch_task(s, t);
        if (s->is_cut)
            return;
        s->n_walked++;
        n_since++;
        w->task = s->task[t].next;
    }
    sim_snapshots_end_segment(s);
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

static void sum_up(struct sim *s) {
    struct sim_result *r = &s->result;
    const struct placement *p = s->p;
    *r = (struct sim_result){.load_cost = sim_load_cost(s), .moved_bytes = s->moved_bytes};
    if (!s->untimed)
        sim_snapshots_sum_up(s);
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

enum sim_verdict sim_evaluate(struct sim *s, int64_t max_cost) {
    s->is_cut = s->is_bounded = false;
    s->max_cost = max_cost;
    if (!s->untimed) {
        if (!sim_bind(s))
            return SIM_WRONG;
        walk(s);
    }
    if (s->broken)
        return SIM_WRONG;
    if (s->is_cut)
        return SIM_CUT;
    sum_up(s);
    return SIM_VALID;
}
