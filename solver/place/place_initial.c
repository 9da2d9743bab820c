// Initial solutions of the placement search: see place.h. Each is an assignment of groups to
// devices, from which strategy_assign makes the tasks.
#include "solver/place.h"

#include <assert.h>
#include <string.h>

#include "solver/place/place_bound_parts.h"
#include "solver/place/place_list.h"
#include "solver/place/place_split.h"

enum { SPLIT_MAX_GROUPS = 3000 };

struct maker {
    const struct placement *p;
    struct arena *arena;   // for the strategies
    struct arena *scratch; // for the rest
    int32_t *device;       // per group
    struct strategy *out;
    int32_t n, max_n;
    bool ok;
};

static int64_t group_cost(const struct placement *p, int32_t g, int32_t device) {
    int64_t sum = 0;
    for (int32_t k = p->group_start[g]; k < p->group_start[g + 1]; k++)
        sum += placement_cost(p, p->group_nodes[k], device);
    return sum;
}

static void finish(struct maker *s, const int32_t *order) {
    const struct placement *p = s->p;
    bool *on = ARENA_ARRAY(s->scratch, bool, (size_t)p->graph.n *(size_t)p->n_devices);
    s->ok = s->ok && on;
    for (int32_t v = 0; s->ok && v < p->graph.n; v++)
        on[(int64_t)v * p->n_devices + s->device[p->group[v]]] = true;
    s->ok = s->ok && strategy_assign(p, order, on, s->arena, &s->out[s->n++]);
}

// ---- Contiguous splits ----

// Assigns groups in their order to one device after the other, as long as its load is at most
// max_cost and its resident bytes fit its memory. False: some groups are left.
static bool fill(struct maker *s, int64_t max_cost) {
    const struct placement *p = s->p;
    int32_t k = 0;
    int64_t load = 0, bytes = p->graph.persistent_bytes;
    for (int32_t g = 0; g < p->n_groups; g++) {
        int64_t resident = placement_group_resident(p, g);
        for (;; k++, load = 0, bytes = p->graph.persistent_bytes) {
            if (k == p->n_devices)
                return false;
            if (!placement_group_runs_on(p, g, k))
                continue;
            int64_t cost = group_cost(p, g, k);
            if (load + cost <= max_cost && bytes + resident <= p->place[k].memory_bytes) {
                load += cost;
                bytes += resident;
                s->device[g] = k;
                break;
            }
        }
    }
    return true;
}

// Minimizes the largest load by bisection, without transfers.
static void split(struct maker *s) {
    int64_t low = -1, high = 0;
    for (int32_t g = 0; g < s->p->n_groups; g++) {
        int64_t most = 0;
        for (int32_t k = 0; k < s->p->n_devices; k++) {
            int64_t cost = placement_group_runs_on(s->p, g, k) ? group_cost(s->p, g, k) : 0;
            most = cost > most ? cost : most;
        }
        high += most;
    }
    if (!fill(s, high))
        return;
    while (high - low > 1) {
        int64_t mid = low + (high - low) / 2;
        if (fill(s, mid))
            high = mid;
        else
            low = mid;
    }
    fill(s, high);
    finish(s, NULL);
}

// Nodes as a depth-first walk comes to them, each after its inputs; with `last` the walk begins at
// the ends. Groups in the order of their first nodes.
static bool walk(struct maker *s, bool last, int32_t *order) {
    const struct problem *g = &s->p->graph;
    const int32_t *start = last ? g->out_start : g->in_start, *of = last ? g->in_of : g->out_of;
    const int32_t *next = last ? g->in_start : g->out_start;
    int32_t *left = ARENA_ARRAY(s->scratch, int32_t, g->n), n_open = 0, n = 0;
    int32_t *open = ARENA_ARRAY(s->scratch, int32_t, g->n);
    bool *seen = ARENA_ARRAY(s->scratch, bool, s->p->n_groups);
    if (!left || !open || !seen)
        return false;
    for (int32_t v = 0; v < g->n; v++) {
        int32_t u = last ? v : g->n - 1 - v; // the first one is on top
        left[u] = start[u + 1] - start[u];
        if (left[u] == 0)
            open[n_open++] = u;
    }
    while (n_open > 0) {
        int32_t v = open[--n_open], group = s->p->group[v];
        if (!seen[group])
            order[n++] = group;
        seen[group] = true;
        for (int32_t e = next[v]; e < next[v + 1]; e++)
            if (--left[of[e]] == 0)
                open[n_open++] = of[e];
    }
    for (int32_t k = 0; last && k < n / 2; k++) {
        int32_t other = order[k];
        order[k] = order[n - 1 - k];
        order[n - 1 - k] = other;
    }
    return true;
}

// The best split of three orders, as numbered and two walks, with the transfers in the load: the
// one to begin with where transfers occupy the devices.
static void split_moved(struct maker *s) {
    const struct placement *p = s->p;
    int32_t *order = ARENA_ARRAY(s->scratch, int32_t, p->n_groups);
    int32_t *device = ARENA_ARRAY(s->scratch, int32_t, p->n_groups);
    int64_t load, best = INT64_MAX;
    s->ok = s->ok && order && device;
    for (int32_t k = 0; s->ok && k < 3; k++) {
        for (int32_t g = 0; g < p->n_groups; g++)
            order[g] = g;
        s->ok =
            (k == 0 || walk(s, k == 2, order)) && place_split(p, order, s->scratch, device, &load);
        if (s->ok && load < best) {
            best = load;
            memcpy(s->device, device, (size_t)p->n_groups * sizeof *device);
        }
    }
    if (best != INT64_MAX)
        finish(s, NULL);
}

// Few nodes: the assignment of least load of all.
static void least(struct maker *s, bool duplicates) {
    const struct placement *p = s->p;
    int32_t set[PLACE_LEAST_MAX_NODES];
    if (place_bound_least(p, duplicates, set) == 0)
        return;
    bool *on = ARENA_ARRAY(s->scratch, bool, (size_t)p->graph.n *(size_t)p->n_devices);
    s->ok = on != NULL;
    for (int32_t i = 0; s->ok && i < p->graph.n * p->n_devices; i++)
        on[i] = set[i / p->n_devices] >> i % p->n_devices & 1;
    s->ok = s->ok && strategy_assign(p, NULL, on, s->arena, &s->out[s->n++]);
}

// ---- One device ----

static void single(struct maker *s, int32_t device) {
    for (int32_t g = 0; g < s->p->n_groups; g++) {
        if (!placement_group_runs_on(s->p, g, device))
            return;
        s->device[g] = device;
    }
    finish(s, NULL);
}

// ---- List schedules ----

static void list(struct maker *s, enum list_kind kind) {
    s->ok = place_list(s->p, kind, s->arena, &s->out[s->n++]);
}

int32_t place_initial(const struct placement *p, bool duplicates, struct arena *a,
                      struct strategy *out, int32_t max_n) {
    assert(max_n >= 0);
    struct arena scratch = arena_make(a->mem);
    struct maker s = {.p = p,
                      .arena = a,
                      .scratch = &scratch,
                      .device = ARENA_ARRAY(&scratch, int32_t, p->n_groups),
                      .out = out,
                      .max_n = max_n};
    s.ok = s.device != NULL;
    if (s.ok && s.n < max_n)
        split(&s);
    if (s.ok && s.n < max_n && p->n_devices > 1 && p->n_groups <= SPLIT_MAX_GROUPS)
        split_moved(&s);
    if (s.ok && s.n < max_n)
        least(&s, duplicates);
    if (s.ok && s.n < max_n)
        list(&s, LIST_SEND);
    if (s.ok && s.n < max_n && duplicates && p->n_devices > 1)
        list(&s, LIST_DUPLICATE);
    for (int32_t k = 0; s.ok && k < p->n_devices && s.n < max_n; k++)
        single(&s, k);
    if (s.ok && s.n < max_n && duplicates && p->graph.has_forward && p->n_devices > 1)
        list(&s, LIST_DUPLICATE_FORWARD);
    arena_free(&scratch);
    return s.ok ? s.n : -1;
}
