// The sequence of tasks under edits: see sim.h. Every edit is recorded, so that it can be undone; a
// removed task keeps its slot until commit or undo.
#include "solver/sim/sim.h"

#include <assert.h>
#include <string.h>

#define LABEL_GAP ((int64_t)1 << 24)

// The internal state of a loaded sequence must not depend on the previous one.
static void clear(struct sim *s) {
    const struct placement *p = s->p;
    s->task[SIM_END] = (struct sim_task){.prev = SIM_END, .next = SIM_END};
    s->n_tasks = 1;
    s->n_in = 0;
    s->free_task = SIM_NONE;
    s->moved_bytes = 0;
    s->edits.n = s->touched.n = s->dirty.n = s->changed.n = 0;
    s->last_edit = -1;
    s->relabelled = false;
    memset(s->busy_cost, 0, (size_t)p->n_resources * sizeof *s->busy_cost);
    memset(s->n_users, 0, (size_t)s->n_clocks * sizeof *s->n_users);
    for (int32_t k = 0; k < p->n_places; k++)
        s->base_bytes[k] = k < p->n_devices ? p->graph.persistent_bytes : 0;
    for (int32_t v = 0; v < p->graph.n; v++) {
        s->first_of[v] = SIM_NONE;
        s->is_touched[v] = false;
    }
    sim_snapshots_clear(s);
}

bool sim_make(struct arena *a, const struct placement *p, struct sim *out) {
    *out = (struct sim){.p = p, .arena = a, .n_clocks = p->n_resources + 1};
    out->first_of = ARENA_ARRAY(a, int32_t, p->graph.n);
    out->is_touched = ARENA_ARRAY(a, bool, p->graph.n);
    out->busy_cost = ARENA_ARRAY(a, int64_t, p->n_resources);
    out->base_bytes = ARENA_ARRAY(a, int64_t, p->n_places);
    out->n_users = ARENA_ARRAY(a, int64_t, out->n_clocks);
    out->peak = ARENA_ARRAY(a, int64_t, p->n_places);
    out->peak_at = ARENA_ARRAY(a, int64_t, p->n_places);
    out->cap_tasks = 2 * p->graph.n + 64;
    out->task = ARENA_ARRAY(a, struct sim_task, out->cap_tasks);
    out->time = ARENA_ARRAY(a, struct sim_time, out->cap_tasks);
    out->path = ARENA_ARRAY(a, int64_t, out->cap_tasks);
    if (!out->first_of || !out->is_touched || !out->busy_cost || !out->base_bytes ||
        !out->n_users || !out->task || !out->time || !out->path || !out->peak || !out->peak_at ||
        !sim_snapshots_make(out))
        return false;
    clear(out);
    return true;
}

// ---- Slots and labels ----

void *sim_grow(struct sim *s, const void *at, size_t n_bytes, size_t cap_bytes) {
    void *more = arena_alloc(s->arena, cap_bytes);
    if (more && n_bytes > 0)
        memcpy(more, at, n_bytes);
    return more;
}

static bool grow_tasks(struct sim *s) {
    int32_t cap = s->cap_tasks * 2;
    struct sim_task *task = SIM_GROW(s, s->task, s->n_tasks, cap);
    struct sim_time *time = SIM_GROW(s, s->time, s->n_tasks, cap);
    int64_t *path = SIM_GROW(s, s->path, s->n_tasks, cap);
    if (!task || !time || !path)
        return false;
    s->task = task;
    s->path = path;
    s->time = time;
    s->cap_tasks = cap;
    return true;
}

static int32_t new_task(struct sim *s) {
    if (s->free_task != SIM_NONE) {
        int32_t t = s->free_task;
        s->free_task = s->task[t].next;
        return t;
    }
    if (s->n_tasks == s->cap_tasks && !grow_tasks(s)) {
        s->broken = true;
        return SIM_NONE;
    }
    return s->n_tasks++;
}

// Removed tasks keep old labels, so the whole sequence is walked again.
static void relabel(struct sim *s) {
    int64_t label = 0;
    for (int32_t t = s->task[SIM_END].next; t != SIM_END; t = s->task[t].next)
        s->task[t].label = label += LABEL_GAP;
    s->relabelled = true;
}

static void set_label(struct sim *s, int32_t t) {
    struct sim_task *x = &s->task[t];
    int64_t low = x->prev == SIM_END ? 0 : s->task[x->prev].label;
    int64_t high = x->next == SIM_END ? low + 2 * LABEL_GAP : s->task[x->next].label;
    if (high - low < 2) {
        relabel(s);
        return;
    }
    x->label = low + (high - low) / 2;
}

// ---- Linking ----

void sim_mark_dirty(struct sim *s, int64_t label) {
    if (!VEC_PUSH(s->arena, &s->dirty, label))
        s->broken = true;
}

static void edit_at(struct sim *s, int64_t label) {
    s->last_edit = label > s->last_edit ? label : s->last_edit;
    sim_mark_dirty(s, label);
}

static void touch(struct sim *s, int32_t node) {
    if (s->is_touched[node])
        return;
    s->is_touched[node] = true;
    if (!VEC_PUSH(s->arena, &s->touched, node))
        s->broken = true;
}

static void touch_around(struct sim *s, const struct sim_task *x) {
    const struct problem *g = &s->p->graph;
    touch(s, x->node);
    if (x->from == TASK_RUN)
        for (int32_t e = g->in_start[x->node]; e < g->in_start[x->node + 1]; e++)
            touch(s, g->in_of[e]);
}

bool sim_runs_at(const struct sim *s, int32_t node, int32_t device) {
    for (int32_t t = s->first_of[node]; t != SIM_NONE; t = s->task[t].sibling)
        if (s->task[t].place == device && s->task[t].from == TASK_RUN)
            return true;
    return false;
}

static void count(struct sim *s, const struct sim_task *x, int64_t sign) {
    const struct placement *p = s->p;
    if (x->from == TASK_RUN) {
        s->busy_cost[x->place] += sign * x->duration;
        s->n_users[x->place] += sign;
        if (!sim_runs_at(s, x->node, x->place))
            s->base_bytes[x->place] += sign * p->resident_bytes[x->node];
        return;
    }
    const struct route *r = placement_route(p, x->from, x->place);
    s->n_users[sim_clock_of(s, x->place)] += sign;
    for (int32_t k = 0; k < r->n_resources; k++) {
        s->busy_cost[r->resource[k]] += sign * x->duration;
        s->n_users[r->resource[k]] += sign;
    }
    s->moved_bytes += sign * p->graph.bytes[x->node];
}

static void link_task(struct sim *s, int32_t t, int32_t before, bool has_label) {
    struct sim_task *x = &s->task[t];
    x->next = before;
    x->prev = s->task[before].prev;
    s->task[x->prev].next = t;
    s->task[before].prev = t;
    x->in = true;
    if (!has_label)
        set_label(s, t);
    count(s, x, 1); // while it is not yet among its siblings
    int32_t *at = &s->first_of[x->node];
    while (*at != SIM_NONE && s->task[*at].label < x->label)
        at = &s->task[*at].sibling;
    x->sibling = *at;
    *at = t;
    s->n_in++;
}

static void unlink_task(struct sim *s, int32_t t) {
    struct sim_task *x = &s->task[t];
    s->task[x->prev].next = x->next;
    s->task[x->next].prev = x->prev;
    int32_t *at = &s->first_of[x->node];
    while (*at != t)
        at = &s->task[*at].sibling;
    *at = x->sibling;
    x->in = false;
    count(s, x, -1);
    s->n_in--;
}

void sim_note(struct sim *s, enum sim_edit_kind kind, int32_t task, int32_t other) {
    if (!VEC_PUSH(s->arena, &s->edits, (struct sim_edit){kind, task, other}))
        s->broken = true;
}

int32_t sim_insert(struct sim *s, int32_t node, int32_t place, int32_t from, int32_t before) {
    assert(node >= 0 && node < s->p->graph.n && place >= 0 && place < s->p->n_places);
    assert(from == TASK_RUN ? place < s->p->n_devices : from != place && from < s->p->n_places);
    int32_t t = new_task(s);
    if (t == SIM_NONE)
        return SIM_NONE;
    struct sim_task *x = &s->task[t];
    *x = (struct sim_task){.node = node,
                           .place = (int16_t)place,
                           .from = (int16_t)from,
                           .last = {SIM_NONE, SIM_NONE, SIM_NONE},
                           .first = {SIM_NONE, SIM_NONE, SIM_NONE}};
    x->duration = from == TASK_RUN ? placement_cost(s->p, node, place)
                                   : placement_transfer_cost(s->p, node, from, place);
    s->time[t].settled = -1; // none
    link_task(s, t, before, false);
    sim_note(s, SIM_INSERTED, t, SIM_NONE);
    touch_around(s, x);
    edit_at(s, x->label);
    return t;
}

void sim_remove(struct sim *s, int32_t t) {
    struct sim_task *x = &s->task[t];
    assert(t != SIM_END && x->in);
    sim_note(s, SIM_REMOVED, t, x->next);
    touch_around(s, x);
    edit_at(s, x->label);
    unlink_task(s, t);
}

// ---- Commit and undo ----

static void free_task(struct sim *s, int32_t t) {
    s->task[t].next = s->free_task;
    s->free_task = t;
}

static void close_edits(struct sim *s) {
    s->edits.n = s->dirty.n = s->changed.n = 0;
    s->last_edit = -1;
    s->relabelled = false;
}

void sim_commit(struct sim *s) {
    assert(!s->broken && !s->is_cut);
    for (size_t k = 0; k < s->changed.n; k++)
        s->time[s->changed.at[k]].settled = s->time[s->changed.at[k]].finish;
    if (s->walked)
        sim_snapshots_commit(s);
    for (size_t k = 0; k < s->edits.n; k++)
        if (s->edits.at[k].kind == SIM_REMOVED)
            free_task(s, s->edits.at[k].task);
    close_edits(s);
}

void sim_undo(struct sim *s) {
    for (size_t k = 0; k < s->changed.n; k++)
        s->time[s->changed.at[k]].finish = s->time[s->changed.at[k]].settled;
    if (s->walked)
        sim_snapshots_drop(s);
    for (size_t k = s->edits.n; k-- > 0;) {
        struct sim_edit e = s->edits.at[k];
        if (e.kind == SIM_INSERTED) {
            unlink_task(s, e.task);
            free_task(s, e.task);
        } else if (e.kind == SIM_REMOVED) {
            link_task(s, e.task, e.other, !s->relabelled);
        } else {
            sim_unbind(s, &e);
        }
    }
    for (size_t k = 0; k < s->touched.n; k++)
        s->is_touched[s->touched.at[k]] = false;
    s->touched.n = 0;
    close_edits(s);
}

bool sim_load(struct sim *s, const struct strategy *x) {
    clear(s);
    for (int32_t k = 0; k < x->n && !s->broken; k++)
        sim_insert(s, x->at[k].node, x->at[k].place, x->at[k].from, SIM_END);
    if (s->broken || sim_evaluate(s, INT64_MAX) != SIM_VALID)
        return false;
    sim_commit(s);
    return true;
}

int32_t sim_save(const struct sim *s, struct task *out) {
    int32_t n = 0;
    for (int32_t t = s->task[SIM_END].next; t != SIM_END; t = s->task[t].next)
        out[n++] = (struct task){s->task[t].node, s->task[t].place, s->task[t].from};
    return n;
}
