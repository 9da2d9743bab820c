// First and last readers: see sim.h. Each instance is on the list of its last reader, which
// releases it; each fetch also on that of its first reader, which waits for it. Edits do not change
// the lists; before a walk, the nodes that they touched are bound anew.
#include "solver/sim/sim.h"

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

bool sim_is_unread(const struct sim *s, int32_t t) {
    const struct problem *g = &s->p->graph;
    const struct sim_task *x = &s->task[t];
    int64_t until = INT64_MAX;
    for (int32_t f = x->sibling; f != SIM_NONE; f = s->task[f].sibling) {
        if (s->task[f].from == x->place)
            return false;
        if (s->task[f].place == x->place) {
            until = s->task[f].label;
            break;
        }
    }
    if (x->place == s->p->host)
        return true;
    for (int32_t e = g->out_start[x->node]; e < g->out_start[x->node + 1]; e++)
        for (int32_t r = s->first_of[g->out_of[e]]; r != SIM_NONE; r = s->task[r].sibling) {
            const struct sim_task *y = &s->task[r];
            if (y->label > until)
                break;
            if (y->from == TASK_RUN && y->place == x->place && y->label > x->label)
                return false;
        }
    return true;
}

// ---- Lists ----

static struct sim_reader *reader(struct sim *s, int32_t t, enum sim_edit_kind which) {
    return which == SIM_LAST ? &s->task[t].last : &s->task[t].first;
}

static void put_reader(struct sim *s, enum sim_edit_kind which, int32_t t, int32_t by) {
    struct sim_reader *x = reader(s, t, which);
    if (x->by >= 0) {
        int32_t *at = &reader(s, x->by, which)->list;
        while (*at != t)
            at = &reader(s, *at, which)->next;
        *at = x->next;
    }
    x->by = by;
    if (by >= 0) {
        int32_t *list = &reader(s, by, which)->list;
        x->next = *list;
        *list = t;
    }
}

void sim_unbind(struct sim *s, const struct sim_edit *e) {
    if (e->kind == SIM_SOURCE)
        s->task[e->task].first.list = e->other;
    else
        put_reader(s, e->kind, e->task, e->other);
}

// The old and the new reader both change.
static void mark_both_dirty(struct sim *s, int32_t before, int32_t now) {
    if (before >= 0)
        sim_mark_dirty(s, s->task[before].label);
    if (now >= 0)
        sim_mark_dirty(s, s->task[now].label);
}

static void set_reader(struct sim *s, enum sim_edit_kind which, int32_t t, int32_t by) {
    int32_t before = reader(s, t, which)->by;
    if (before == by)
        return;
    mark_both_dirty(s, before, by);
    sim_note(s, which, t, before);
    put_reader(s, which, t, by);
}

// A source is held until all fetches from it have finished, so its release changes, too.
static void set_source(struct sim *s, int32_t t, int32_t source) {
    int32_t before = s->task[t].first.list;
    if (before == source)
        return;
    mark_both_dirty(s, t, SIM_NONE);
    mark_both_dirty(s, before >= 0 ? s->task[before].last.by : SIM_NONE,
                    source >= 0 ? s->task[source].last.by : SIM_NONE);
    sim_note(s, SIM_SOURCE, t, before);
    s->task[t].first.list = source;
}

// ---- Binding ----

// The latest instance at the place before the label; NULL: there is none.
static struct sim_binding *latest(struct sim *s, int32_t place, int64_t label) {
    for (size_t k = s->bindings.n; k-- > 0;) {
        const struct sim_task *x = &s->task[s->bindings.at[k].task];
        if (x->place == place && x->label < label)
            return &s->bindings.at[k];
    }
    return NULL;
}

static void read_by(const struct sim *s, struct sim_binding *b, int32_t t) {
    int64_t label = s->task[t].label;
    if (label > s->task[b->end].label)
        b->end = t;
    if (s->task[t].from == TASK_RUN && s->task[b->task].from != TASK_RUN &&
        (b->first == SIM_NONE || label < s->task[b->first].label))
        b->first = t;
}

static bool bind_readers(struct sim *s, int32_t v) {
    const struct problem *g = &s->p->graph;
    for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++)
        for (int32_t r = s->first_of[g->out_of[e]]; r != SIM_NONE; r = s->task[r].sibling) {
            const struct sim_task *y = &s->task[r];
            if (y->from != TASK_RUN)
                continue;
            struct sim_binding *b = latest(s, y->place, y->label);
            if (!b)
                return false;
            read_by(s, b, r);
        }
    return true;
}

static bool bind_node(struct sim *s, int32_t v) {
    int32_t last_run = SIM_NONE;
    s->bindings.n = 0;
    for (int32_t t = s->first_of[v]; t != SIM_NONE; t = s->task[t].sibling) {
        const struct sim_task *x = &s->task[t];
        if (x->from == TASK_RUN) {
            last_run = t;
        } else {
            struct sim_binding *b = latest(s, x->from, x->label);
            if (!b)
                return false;
            read_by(s, b, t);
        }
        if (!VEC_PUSH(s->arena, &s->bindings, (struct sim_binding){t, t, SIM_NONE})) {
            s->broken = true;
            return false;
        }
    }
    if (!bind_readers(s, v))
        return false;
    for (size_t k = 0; k < s->bindings.n; k++) {
        struct sim_binding b = s->bindings.at[k];
        bool kept = s->p->graph.keep[v] && b.task == last_run;
        set_reader(s, SIM_LAST, b.task, kept ? SIM_KEPT : b.end);
        if (s->task[b.task].from == TASK_RUN)
            continue;
        set_reader(s, SIM_FIRST, b.task, b.first);
        set_source(s, b.task, latest(s, s->task[b.task].from, s->task[b.task].label)->task);
    }
    return true;
}

bool sim_bind(struct sim *s) {
    size_t n_edits = s->edits.n;
    for (size_t k = 0; k < n_edits; k++) {
        int32_t t = s->edits.at[k].task;
        if (s->edits.at[k].kind != SIM_REMOVED)
            continue;
        if (s->task[t].from != TASK_RUN) {
            set_source(s, t, SIM_NONE);
            set_reader(s, SIM_FIRST, t, SIM_NONE);
        }
        set_reader(s, SIM_LAST, t, SIM_NONE);
    }
    for (size_t k = 0; k < s->touched.n; k++)
        if (!bind_node(s, s->touched.at[k]))
            return false;
    for (size_t k = 0; k < s->touched.n; k++)
        s->is_touched[s->touched.at[k]] = false;
    s->touched.n = 0;
    return !s->broken;
}
