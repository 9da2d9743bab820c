// Longest paths from tasks and clocks to the end: see sim.h. They depend only on the tasks behind a
// snapshot, so changes before it leave them valid; they are computed backwards, on demand.
//
// The path from a task continues with the next tasks of its resources; with the fetches from its
// place; and, for a fetch, with its first reader. Other readers come later in the queue of the same
// device.
#include <string.h>

#include "ir/base/checked.h"
#include "solver/sim/sim.h"

// The longest path of the fetches of an instance that are behind the label.
static int64_t path_of_fetches(const struct sim *s, int32_t t, int64_t label) {
    const struct sim_task *x = &s->task[t];
    int64_t path = 0;
    for (int32_t f = x->sibling; f != SIM_NONE; f = s->task[f].sibling) {
        if (s->task[f].from == x->place && s->task[f].label >= label)
            path = int64_max(path, s->path[f]);
        if (s->task[f].place == x->place)
            break;
    }
    return path;
}

static void step_back(struct sim *s, int32_t t, int64_t *tail) {
    const struct sim_task *x = &s->task[t];
    int64_t after = path_of_fetches(s, t, 0);
    if (x->from == TASK_RUN) {
        tail[x->place] = s->path[t] = x->duration + int64_max(after, tail[x->place]);
        return;
    }
    const struct route *r = placement_route(s->p, x->from, x->place);
    int32_t own = sim_clock_of(s, x->place);
    if (x->first.by >= 0)
        after = int64_max(after, s->path[x->first.by]);
    for (int32_t k = 0; k < r->n_resources; k++)
        after = int64_max(after, tail[r->resource[k]]);
    int64_t path = x->duration + after;
    if (x->place == s->p->host) // the next fetch may begin when this one has begun
        path = int64_max(path, tail[own]);
    s->path[t] = path;
    for (int32_t k = 0; k < r->n_resources; k++)
        tail[r->resource[k]] = path;
    tail[own] = int64_max(tail[own], path);
}

static void find_tails(struct sim *s, int32_t k) {
    size_t n_bytes = (size_t)s->n_clocks * sizeof(int64_t);
    int32_t from = k;
    while (from < s->n_snapshots && !s->snapshot[from]->has_tail)
        from++;
    for (int32_t j = from - 1; j >= k; j--) {
        struct sim_walk *w = s->snapshot[j];
        bool is_last = j + 1 == s->n_snapshots;
        if (is_last)
            memset(w->tail, 0, n_bytes);
        else
            memcpy(w->tail, s->snapshot[j + 1]->tail, n_bytes);
        int32_t t = is_last ? SIM_END : s->snapshot[j + 1]->task;
        do
            step_back(s, t = s->task[t].prev, w->tail);
        while (t != w->task);
        w->has_tail = true;
    }
}

int64_t sim_tail_bound(struct sim *s, int32_t k) {
    const struct sim_walk *w = &s->walk;
    int64_t label = s->task[w->task].label, bound = w->makespan_cost;
    find_tails(s, k);
    const int64_t *tail = s->snapshot[k]->tail;
    for (int32_t c = 0; c < s->n_clocks; c++)
        if (tail[c] > 0)
            bound = int64_max(bound, w->clock[c] + tail[c]);
    for (size_t i = 0; i < s->loose.n; i++) {
        int32_t t = s->loose.at[i],
                first = s->task[t].from == TASK_RUN ? SIM_NONE : s->task[t].first.by;
        int64_t path = path_of_fetches(s, t, label);
        if (first >= 0 && s->task[first].label >= label)
            path = int64_max(path, s->path[first]);
        if (path > 0)
            bound = int64_max(bound, s->time[t].finish + path);
    }
    return bound;
}
