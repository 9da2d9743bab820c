// The sequence of tasks under edits: see sim.h. Every edit is noted, so that it can be taken back;
// a removed task keeps its slot until the edits are settled.
#include "solver/sim.h"

#include <string.h>

#define LABEL_GAP ((int64_t)1 << 24)

// As new: what a loaded sequence looks like inside must not depend on what was there before.
static void clear(struct sim *s) {
    const struct placement *p = s->p;
    s->task[SIM_END] = (struct sim_task){.prev = SIM_END, .next = SIM_END};
    s->n_tasks = 1;
    s->n_in = 0;
    s->free_task = SIM_NONE;
    s->moved_bytes = 0;
    s->edits.n = s->touched.n = 0;
    s->walked_from = s->walked_to = SIM_END;
    memset(s->busy_cost, 0, (size_t)p->n_resources * sizeof *s->busy_cost);
    for (int32_t k = 0; k < p->n_places; k++)
        s->base_bytes[k] = k < p->n_devices ? p->graph.fixed_bytes : 0;
    for (int32_t v = 0; v < p->graph.n; v++) {
        s->first_of[v] = SIM_NONE;
        s->is_touched[v] = false;
    }
    sim_walk_reset(s);
    s->dirty = 0;
    s->dirty_to = INT64_MAX;
}

bool sim_make(struct arena *a, const struct placement *p, struct sim *out) {
    int32_t most_in = 1;
    for (int32_t v = 0; v < p->graph.n; v++) {
        int32_t n_in = p->graph.in_start[v + 1] - p->graph.in_start[v];
        most_in = n_in > most_in ? n_in : most_in;
    }
    *out =
        (struct sim){.p = p, .arena = a, .free_task = SIM_NONE, .dirty = INT64_MAX, .dirty_to = -1};
    out->first_of = ARENA_ARRAY(a, int32_t, p->graph.n);
    out->is_touched = ARENA_ARRAY(a, bool, p->graph.n);
    out->busy_cost = ARENA_ARRAY(a, int64_t, p->n_resources);
    out->base_bytes = ARENA_ARRAY(a, int64_t, p->n_places);
    out->inputs = ARENA_ARRAY(a, int32_t, most_in);
    out->peak = ARENA_ARRAY(a, int64_t, p->n_places);
    out->peak_at = ARENA_ARRAY(a, int64_t, p->n_places);
    out->cap_tasks = 2 * p->graph.n + 64;
    out->task = ARENA_ARRAY(a, struct sim_task, out->cap_tasks);
    out->finish = ARENA_ARRAY(a, int64_t, out->cap_tasks);
    out->settled = ARENA_ARRAY(a, int64_t, out->cap_tasks);
    if (!out->first_of || !out->is_touched || !out->busy_cost || !out->base_bytes || !out->inputs ||
        !out->task || !out->finish || !out->settled || !out->peak || !out->peak_at ||
        !sim_walk_make(out, &out->walk) || !sim_walk_make(out, &out->last))
        return false;
    clear(out);
    return true;
}

// ---- Slots and labels ----

static bool more_tasks(struct sim *s) {
    int32_t cap = s->cap_tasks * 2;
    struct sim_task *task = ARENA_ARRAY(s->arena, struct sim_task, cap);
    int64_t *finish = ARENA_ARRAY(s->arena, int64_t, cap);
    int64_t *settled = ARENA_ARRAY(s->arena, int64_t, cap);
    if (!task || !finish || !settled)
        return false;
    memcpy(task, s->task, (size_t)s->n_tasks * sizeof *task);
    memcpy(finish, s->finish, (size_t)s->n_tasks * sizeof *finish);
    memcpy(settled, s->settled, (size_t)s->n_tasks * sizeof *settled);
    s->task = task;
    s->finish = finish;
    s->settled = settled;
    s->cap_tasks = cap;
    return true;
}

static int32_t new_task(struct sim *s) {
    if (s->free_task != SIM_NONE) {
        int32_t t = s->free_task;
        s->free_task = s->task[t].next;
        return t;
    }
    if (s->n_tasks == s->cap_tasks && !more_tasks(s)) {
        s->broken = true;
        return SIM_NONE;
    }
    return s->n_tasks++;
}

static void relabel(struct sim *s) {
    int64_t label = 0;
    bool dirty = s->dirty != INT64_MAX;
    for (int32_t t = s->task[SIM_END].next; t != SIM_END; t = s->task[t].next)
        s->task[t].label = label += LABEL_GAP;
    // Tasks that are out for now have labels of the old kind, so all is walked again.
    s->dirty = dirty ? 0 : INT64_MAX;
    s->dirty_to = dirty ? INT64_MAX : -1;
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

static void reach(struct sim *s, int64_t label) {
    s->dirty = label < s->dirty ? label : s->dirty;
    s->dirty_to = label > s->dirty_to ? label : s->dirty_to;
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
        if (!sim_runs_at(s, x->node, x->place))
            s->base_bytes[x->place] += sign * p->resident_bytes[x->node];
        return;
    }
    const struct route *r = placement_route(p, x->from, x->place);
    for (int32_t k = 0; k < r->n_resources; k++)
        s->busy_cost[r->resource[k]] += sign * x->duration;
    s->moved_bytes += sign * p->graph.bytes[x->node];
}

static void link_task(struct sim *s, int32_t t, int32_t before) {
    struct sim_task *x = &s->task[t];
    x->next = before;
    x->prev = s->task[before].prev;
    s->task[x->prev].next = t;
    s->task[before].prev = t;
    x->in = true;
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

static void note(struct sim *s, enum sim_edit_kind kind, int32_t task, int32_t other) {
    if (!VEC_PUSH(s->arena, &s->edits, (struct sim_edit){kind, task, other}))
        s->broken = true;
}

int32_t sim_insert(struct sim *s, int32_t node, int32_t place, int32_t from, int32_t before) {
    int32_t t = new_task(s);
    if (t == SIM_NONE)
        return SIM_NONE;
    struct sim_task *x = &s->task[t];
    *x = (struct sim_task){.node = node, .place = place, .from = from, .end = t};
    x->duration = from == TASK_RUN ? placement_cost(s->p, node, place)
                                   : placement_transfer_cost(s->p, node, from, place);
    s->settled[t] = -1; // no time at all
    link_task(s, t, before);
    note(s, SIM_INSERTED, t, SIM_NONE);
    touch_around(s, x);
    reach(s, x->label);
    return t;
}

void sim_remove(struct sim *s, int32_t t) {
    struct sim_task *x = &s->task[t];
    note(s, SIM_REMOVED, t, x->next);
    touch_around(s, x);
    reach(s, x->label);
    reach(s, x->end >= 0 ? s->task[x->end].label : INT64_MAX); // who reads it may find nothing
    unlink_task(s, t);
}

// ---- Ends of instances ----

static int32_t later(const struct sim *s, int32_t a, int32_t b) {
    return s->task[a].label < s->task[b].label ? b : a;
}

// The last task that reads instance t: a run at its place, or a fetch from there, before the next
// instance of the node at that place.
int32_t sim_end_of(const struct sim *s, int32_t t) {
    const struct problem *g = &s->p->graph;
    const struct sim_task *x = &s->task[t];
    int32_t end = t;
    int64_t until = INT64_MAX;
    for (int32_t f = x->sibling; f != SIM_NONE; f = s->task[f].sibling) {
        if (s->task[f].from == x->place)
            end = f;
        if (s->task[f].place == x->place) {
            until = s->task[f].label;
            break;
        }
    }
    if (x->place == s->p->host)
        return end;
    for (int32_t e = g->out_start[x->node]; e < g->out_start[x->node + 1]; e++)
        for (int32_t r = s->first_of[g->out_of[e]]; r != SIM_NONE; r = s->task[r].sibling) {
            const struct sim_task *y = &s->task[r];
            if (y->label > until)
                break;
            if (y->from == TASK_RUN && y->place == x->place && y->label > x->label)
                end = later(s, end, r);
        }
    return end;
}

static void set_end(struct sim *s, int32_t t, int32_t end) {
    struct sim_task *x = &s->task[t];
    if (x->end == end)
        return;
    if (x->end >= 0 && s->task[x->end].label > 0)
        reach(s, s->task[x->end].label);
    reach(s, end >= 0 ? s->task[end].label : x->label);
    note(s, SIM_ENDED, t, x->end);
    x->end = end;
}

void sim_find_ends(struct sim *s) {
    for (size_t k = 0; k < s->touched.n; k++) {
        int32_t v = s->touched.at[k], last_run = SIM_NONE;
        s->is_touched[v] = false;
        if (s->p->graph.keep[v])
            for (int32_t t = s->first_of[v]; t != SIM_NONE; t = s->task[t].sibling)
                if (s->task[t].from == TASK_RUN)
                    last_run = t;
        for (int32_t t = s->first_of[v]; t != SIM_NONE; t = s->task[t].sibling)
            set_end(s, t, t == last_run ? SIM_KEPT : sim_end_of(s, t));
    }
    s->touched.n = 0;
}

// ---- Settling and taking back ----

// The walk has changed `finish` of some tasks; from one array to the other.
static void copy_times(struct sim *s, const int64_t *from, int64_t *to) {
    for (int32_t t = s->walked_from; t != s->walked_to; t = s->task[t].next)
        to[t] = from[t];
    s->walked_from = s->walked_to = SIM_END;
}

void sim_commit(struct sim *s) {
    copy_times(s, s->finish, s->settled);
    for (size_t k = 0; k < s->edits.n; k++) {
        int32_t t = s->edits.at[k].task;
        if (s->edits.at[k].kind == SIM_REMOVED && !s->task[t].in) {
            s->task[t].next = s->free_task;
            s->free_task = t;
        }
    }
    s->edits.n = 0;
    s->dirty = INT64_MAX;
    s->dirty_to = -1;
    if (s->walked)
        sim_walk_keep(s);
}

void sim_undo(struct sim *s) {
    copy_times(s, s->settled, s->finish);
    for (size_t k = s->edits.n; k-- > 0;) {
        struct sim_edit e = s->edits.at[k];
        if (e.kind == SIM_ENDED) {
            s->task[e.task].end = e.other;
        } else if (e.kind == SIM_REMOVED) {
            link_task(s, e.task, e.other);
        } else {
            unlink_task(s, e.task);
            s->task[e.task].next = s->free_task;
            s->free_task = e.task;
        }
    }
    for (size_t k = 0; k < s->touched.n; k++)
        s->is_touched[s->touched.at[k]] = false;
    s->touched.n = s->edits.n = 0;
    s->dirty = INT64_MAX;
    s->dirty_to = -1;
    if (s->walked)
        sim_walk_drop(s);
}

bool sim_load(struct sim *s, const struct strategy *x) {
    clear(s);
    for (int32_t k = 0; k < x->n && !s->broken; k++)
        sim_insert(s, x->at[k].node, x->at[k].place, x->at[k].from, SIM_END);
    if (s->broken || sim_evaluate(s, INT64_MAX) != SIM_RIGHT)
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
