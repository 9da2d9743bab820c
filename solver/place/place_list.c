// List scheduling: see place_list.h. For each device in turn, a dry run makes the inputs of a node
// available and runs it; then the device with the earliest finish time does it for real. An input
// is made available by a transfer, or by a duplicate run, for which its own inputs must be
// available.
#include "solver/place/place_list.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/checked.h"

// Limits of the recursion over duplicates: its depth, and the nodes probed for one node.
enum { MAX_DUPLICATE_DEPTH = 4, MAX_PROBES = 100 };

struct list {
    const struct placement *p;
    enum list_kind kind;
    int32_t *home;    // per group: its device; -1: none yet
    bool *on;         // per node and device: it runs there
    int64_t *there;   // per node and device: when it is there; -1: it is not
    int64_t *avail;   // per resource: when it is free
    int64_t *slack;   // per device: bytes left for residents
    int32_t n_probes; // left for the current node
};

static size_t at(const struct list *l, int32_t v, int32_t k) {
    return (size_t)v * (size_t)l->p->n_devices + (size_t)k;
}

// ---- Order ----

struct ranked {
    double rank; // the longest path to the end, with mean costs
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

static bool rank(const struct placement *p, struct arena *scratch, int32_t *order) {
    const struct problem *g = &p->graph;
    struct ranked *by_rank = ARENA_ARRAY(scratch, struct ranked, g->n);
    if (!by_rank || !order)
        return false;
    for (int32_t v = g->n; v-- > 0;) {
        double tail = 0;
        for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++) {
            double rank = by_rank[g->out_of[e]].rank;
            tail = rank > tail ? rank : tail;
        }
        by_rank[v] = (struct ranked){tail + mean_cost(p, v), v};
    }
    qsort(by_rank, (size_t)g->n, sizeof *by_rank, compare_ranked);
    for (int32_t i = 0; i < g->n; i++)
        order[i] = by_rank[i].node;
    return true;
}

// ---- Making nodes available ----

static bool is_alone(const struct placement *p, int32_t v) {
    int32_t g = p->group[v];
    return p->group_start[g + 1] - p->group_start[g] == 1;
}

static bool may_duplicate(const struct placement *p, int32_t v) {
    return !p->graph.once[v] && !p->graph.keep[v] && is_alone(p, v);
}

// The earliest finish of a transfer over the route that starts at `time` or later.
static int64_t send_over(struct list *l, int32_t v, int32_t from, int32_t to, int64_t time,
                         bool is_real) {
    const struct route *r = placement_route(l->p, from, to);
    for (int32_t k = 0; k < r->n_resources; k++)
        time = int64_max(time, l->avail[r->resource[k]]);
    time += placement_transfer_cost(l->p, v, from, to);
    for (int32_t k = 0; is_real && k < r->n_resources; k++)
        l->avail[r->resource[k]] = time;
    return time;
}

static int64_t send_to(struct list *l, int32_t v, int32_t from, int32_t to, bool is_real) {
    const struct route *r = placement_route(l->p, from, to);
    int32_t host = l->p->host;
    int64_t time = l->there[at(l, v, from)];
    if (r->n_resources >= 0 && !r->via_host)
        return send_over(l, v, from, to, time, is_real);
    time = send_over(l, v, from, host, time, is_real);
    return send_over(l, v, host, to, time, is_real);
}

// The earliest arrival of the node at the device by a transfer.
static int64_t send(struct list *l, int32_t v, int32_t to, bool is_real) {
    int32_t best = -1;
    int64_t earliest = 0;
    for (int32_t q = 0; q < l->p->n_devices; q++) {
        int64_t time = l->on[at(l, v, q)] ? send_to(l, v, q, to, false) : -1;
        if (time >= 0 && (best < 0 || time < earliest)) {
            best = q;
            earliest = time;
        }
    }
    return is_real ? send_to(l, v, best, to, true) : earliest;
}

static int64_t make_available(struct list *l, int32_t v, int32_t device, int32_t depth,
                              bool is_real);

// The finish time of the node if the device runs it next.
static int64_t run(struct list *l, int32_t v, int32_t device, int32_t depth, bool is_real) {
    const struct problem *g = &l->p->graph;
    int64_t start = 0;
    for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
        start = int64_max(start, make_available(l, g->in_of[e], device, depth, is_real));
    start = int64_max(start, l->avail[device]) + placement_cost(l->p, v, device);
    if (is_real) {
        l->on[at(l, v, device)] = true;
        l->there[at(l, v, device)] = l->avail[device] = start;
    }
    return start;
}

// The earliest time at which the node is available on the device.
static int64_t make_available(struct list *l, int32_t v, int32_t device, int32_t depth,
                              bool is_real) {
    int64_t *there = &l->there[at(l, v, device)];
    if (*there >= 0)
        return *there;
    int64_t sent = send(l, v, device, false);
    if (l->kind == LIST_DUPLICATE && depth > 0 && l->n_probes-- > 0 && may_duplicate(l->p, v) &&
        placement_runs_on(l->p, v, device) && l->p->resident_bytes[v] <= l->slack[device]) {
        int64_t own = run(l, v, device, depth - 1, false);
        l->slack[device] -= is_real && own < sent ? l->p->resident_bytes[v] : 0;
        if (own < sent)
            return is_real ? run(l, v, device, depth - 1, true) : own;
    }
    if (is_real)
        *there = send(l, v, device, true);
    return sent;
}

// ---- Node by node ----

static bool is_everywhere(const struct list *l, int32_t v) {
    const struct placement *p = l->p;
    bool can = l->kind == LIST_DUPLICATE_FORWARD && !p->graph.backward[v] && may_duplicate(p, v);
    for (int32_t k = 0; can && k < p->n_devices; k++)
        can = placement_runs_on(p, v, k);
    return can;
}

// The device with the earliest finish of the node, of those with slack for its group.
static int32_t best_device(struct list *l, int32_t v) {
    const struct placement *p = l->p;
    int32_t group = p->group[v], best = -1;
    int64_t resident = placement_group_resident(p, group), earliest = 0;
    for (int32_t pass = 0; pass < 2 && best < 0; pass++) // the second ignores memory
        for (int32_t k = 0; k < p->n_devices; k++) {
            if (!placement_group_runs_on(p, group, k) || (pass == 0 && resident > l->slack[k]))
                continue;
            l->n_probes = MAX_PROBES;
            int64_t end = run(l, v, k, MAX_DUPLICATE_DEPTH, false);
            if (best < 0 || end < earliest) {
                best = k;
                earliest = end;
            }
        }
    return best;
}

static void place_node(struct list *l, int32_t v) {
    const struct placement *p = l->p;
    int32_t *home = &l->home[p->group[v]];
    bool everywhere = is_everywhere(l, v);
    int64_t resident = everywhere || *home < 0 ? placement_group_resident(p, p->group[v]) : 0;
    if (!everywhere && *home < 0)
        *home = best_device(l, v);
    for (int32_t k = 0; k < p->n_devices; k++)
        if (everywhere || k == *home) {
            l->slack[k] -= resident;
            l->n_probes = MAX_PROBES;
            run(l, v, k, MAX_DUPLICATE_DEPTH, true);
        }
}

bool place_list(const struct placement *p, enum list_kind kind, struct arena *a,
                struct strategy *out) {
    struct arena scratch = arena_make(a->mem);
    int32_t n = p->graph.n, *order = ARENA_ARRAY(&scratch, int32_t, n);
    size_t all = (size_t)n * (size_t)p->n_devices;
    struct list l = {.p = p,
                     .kind = kind,
                     .home = ARENA_ARRAY(&scratch, int32_t, p->n_groups),
                     .on = ARENA_ARRAY(&scratch, bool, all),
                     .there = ARENA_ARRAY(&scratch, int64_t, all),
                     .avail = ARENA_ARRAY(&scratch, int64_t, p->n_resources),
                     .slack = ARENA_ARRAY(&scratch, int64_t, p->n_devices)};
    bool ok = l.home && l.on && l.there && l.avail && l.slack && rank(p, &scratch, order);
    for (int32_t k = 0; ok && k < p->n_devices; k++)
        l.slack[k] = p->place[k].memory_bytes - p->graph.persistent_bytes;
    for (int32_t x = 0; ok && x < p->n_groups; x++)
        l.home[x] = -1;
    for (size_t i = 0; ok && i < all; i++)
        l.there[i] = -1;
    for (int32_t i = 0; ok && i < n; i++)
        place_node(&l, order[i]);
    ok = ok && strategy_assign(p, order, l.on, a, out);
    arena_free(&scratch);
    return ok;
}
