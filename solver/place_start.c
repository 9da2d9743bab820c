// Starts for the placement search: see place.h. Each is an assignment of groups to devices;
// strategy_assign makes the tasks.
#include <stdlib.h>
#include <string.h>

#include "solver/place.h"

struct starter {
    const struct placement *p;
    struct arena *arena;   // for the strategies
    struct arena *scratch; // for the rest
    int32_t *device;       // per group
    struct strategy *out;
    int32_t n, most;
    bool ok;
};

static int64_t group_cost(const struct placement *p, int32_t g, int32_t device) {
    int64_t sum = 0;
    for (int32_t k = p->group_start[g]; k < p->group_start[g + 1]; k++)
        sum += placement_cost(p, p->group_nodes[k], device);
    return sum;
}

static int64_t group_resident(const struct placement *p, int32_t g) {
    int64_t sum = 0;
    for (int32_t k = p->group_start[g]; k < p->group_start[g + 1]; k++)
        sum += p->resident_bytes[p->group_nodes[k]];
    return sum;
}

static void finish(struct starter *s, const int32_t *order) {
    const struct placement *p = s->p;
    bool *on = ARENA_ARRAY(s->scratch, bool, (size_t)p->graph.n *(size_t)p->n_devices);
    s->ok = s->ok && on;
    for (int32_t v = 0; s->ok && v < p->graph.n; v++)
        on[(int64_t)v * p->n_devices + s->device[p->group[v]]] = true;
    s->ok = s->ok && strategy_assign(p, order, on, s->arena, &s->out[s->n++]);
}

// ---- Contiguous splits ----

// Groups in their order, as many to each device in turn as keep its load within `most_cost` and its
// resident bytes within its memory. False: some are left over.
static bool fill(struct starter *s, int64_t most_cost) {
    const struct placement *p = s->p;
    int32_t k = 0;
    int64_t load = 0, bytes = p->graph.fixed_bytes;
    for (int32_t g = 0; g < p->n_groups; g++) {
        int64_t resident = group_resident(p, g);
        for (;; k++, load = 0, bytes = p->graph.fixed_bytes) {
            if (k == p->n_devices)
                return false;
            if (!placement_group_runs_on(p, g, k))
                continue;
            int64_t cost = group_cost(p, g, k);
            if (load + cost <= most_cost && bytes + resident <= p->place[k].memory_bytes) {
                load += cost;
                bytes += resident;
                s->device[g] = k;
                break;
            }
        }
    }
    return true;
}

// The least largest load, by bisection.
static void split(struct starter *s) {
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

// ---- One device ----

static void single(struct starter *s, int32_t device) {
    for (int32_t g = 0; g < s->p->n_groups; g++) {
        if (!placement_group_runs_on(s->p, g, device))
            return;
        s->device[g] = device;
    }
    finish(s, NULL);
}

// ---- List schedule ----

struct ranked {
    double rank; // the longest way to the end, with mean costs
    int32_t node;
};

static int compare_ranked(const void *x, const void *y) {
    const struct ranked *a = x, *b = y;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static double mean_cost(const struct placement *p, int32_t v) {
    double sum = 0;
    int32_t n = 0;
    for (int32_t k = 0; k < p->n_devices; k++)
        if (placement_runs_on(p, v, k)) {
            sum += (double)placement_cost(p, v, k);
            n++;
        }
    return sum / n;
}

static int64_t move_time(const struct placement *p, int32_t v, int32_t from, int32_t to) {
    const struct route *r = placement_route(p, from, to);
    if (from == to)
        return 0;
    if (r->n_resources >= 0 && !r->via_host)
        return placement_transfer_cost(p, v, from, to);
    return placement_transfer_cost(p, v, from, p->host) +
           placement_transfer_cost(p, v, p->host, to);
}

struct list {
    bool copies;    // forward nodes run on every device
    int64_t *end;   // per node and device: of the run there, or of the one run
    int64_t *avail; // per device
    int64_t *room;  // per device: bytes left for residents
};

// Whether the node runs everywhere. In the forward pass the other devices would only wait, and what
// their share of the backward pass reads is then there without a transfer.
static bool is_copied(const struct starter *s, const struct list *l, int32_t v) {
    const struct placement *p = s->p;
    int32_t group = p->group[v];
    bool can = l->copies && !p->graph.backward[v] && !p->graph.once[v] && !p->graph.keep[v] &&
               p->group_start[group + 1] - p->group_start[group] == 1;
    for (int32_t k = 0; can && k < p->n_devices; k++)
        can = placement_runs_on(p, v, k);
    return can;
}

static int64_t end_on(const struct starter *s, const struct list *l, int32_t v, int32_t k) {
    const struct placement *p = s->p;
    const struct problem *g = &p->graph;
    int64_t start = l->avail[k];
    for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
        int32_t u = g->in_of[e], from = is_copied(s, l, u) ? k : s->device[p->group[u]];
        int64_t there = l->end[(int64_t)u * p->n_devices + from] + move_time(p, u, from, k);
        start = there > start ? there : start;
    }
    return start + placement_cost(p, v, k);
}

// The device on which the node ends first, of those with room for its group.
static int32_t best_device(const struct starter *s, const struct list *l, int32_t v) {
    int32_t group = s->p->group[v], best = -1;
    int64_t resident = group_resident(s->p, group), least = 0;
    for (int32_t pass = 0; pass < 2 && best < 0; pass++) // the second ignores memory
        for (int32_t k = 0; k < s->p->n_devices; k++) {
            if (!placement_group_runs_on(s->p, group, k) || (pass == 0 && resident > l->room[k]))
                continue;
            int64_t end = end_on(s, l, v, k);
            if (best < 0 || end < least) {
                best = k;
                least = end;
            }
        }
    return best;
}

// The longest way to the end first.
static bool rank(struct starter *s, int32_t *order) {
    const struct problem *g = &s->p->graph;
    struct ranked *by_rank = ARENA_ARRAY(s->scratch, struct ranked, g->n);
    if (!by_rank || !order)
        return false;
    for (int32_t v = g->n; v-- > 0;) {
        double tail = 0;
        for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++) {
            double rank = by_rank[g->out_of[e]].rank;
            tail = rank > tail ? rank : tail;
        }
        by_rank[v] = (struct ranked){tail + mean_cost(s->p, v), v};
    }
    qsort(by_rank, (size_t)g->n, sizeof *by_rank, compare_ranked);
    for (int32_t i = 0; i < g->n; i++)
        order[i] = by_rank[i].node;
    return true;
}

static void list_node(struct starter *s, struct list *l, int32_t v, bool *on) {
    const struct placement *p = s->p;
    int32_t *device = &s->device[p->group[v]];
    bool copied = is_copied(s, l, v);
    int64_t resident = copied || *device < 0 ? group_resident(p, p->group[v]) : 0;
    if (!copied && *device < 0)
        *device = best_device(s, l, v);
    for (int32_t k = 0; k < p->n_devices; k++)
        if (copied || k == *device) {
            on[k] = true;
            l->room[k] -= resident;
            l->end[(int64_t)v * p->n_devices + k] = l->avail[k] = end_on(s, l, v, k);
        }
}

static void list_schedule(struct starter *s, bool copies) {
    const struct placement *p = s->p;
    int32_t n = p->graph.n, *order = ARENA_ARRAY(s->scratch, int32_t, n);
    size_t all = (size_t)n * (size_t)p->n_devices;
    bool *on = ARENA_ARRAY(s->scratch, bool, all);
    struct list l = {copies, ARENA_ARRAY(s->scratch, int64_t, all),
                     ARENA_ARRAY(s->scratch, int64_t, p->n_devices),
                     ARENA_ARRAY(s->scratch, int64_t, p->n_devices)};
    s->ok = s->ok && rank(s, order) && on && l.end && l.avail && l.room;
    if (!s->ok)
        return;
    for (int32_t k = 0; k < p->n_devices; k++)
        l.room[k] = p->place[k].memory_bytes - p->graph.fixed_bytes;
    for (int32_t x = 0; x < p->n_groups; x++)
        s->device[x] = -1;
    for (int32_t i = 0; i < n; i++)
        list_node(s, &l, order[i], &on[(int64_t)order[i] * p->n_devices]);
    s->ok = strategy_assign(p, order, on, s->arena, &s->out[s->n++]);
}

int32_t place_starts(const struct placement *p, bool copies, struct arena *a, struct strategy *out,
                     int32_t most) {
    struct arena scratch = arena_make(a->mem);
    struct starter s = {.p = p,
                        .arena = a,
                        .scratch = &scratch,
                        .device = ARENA_ARRAY(&scratch, int32_t, p->n_groups),
                        .out = out,
                        .most = most};
    s.ok = s.device != NULL;
    if (s.ok && s.n < most)
        split(&s);
    if (s.ok && s.n < most)
        list_schedule(&s, false);
    if (s.ok && s.n < most && copies && p->graph.has_forward && p->n_devices > 1)
        list_schedule(&s, true);
    for (int32_t k = 0; s.ok && k < p->n_devices && s.n < most; k++)
        single(&s, k);
    arena_free(&scratch);
    return s.ok ? s.n : -1;
}
