// The least largest load of few nodes on two devices, by branch and bound through all assignments:
// each node runs on one device or on both, and its output is moved, directly or by way of the host,
// to each device that reads it and does not run it. Memory counts as far as it is persistent.
//
// Recomputation, offload and every other transfer only add to a load, so no strategy has less.
#include <assert.h>
#include <string.h>

#include "solver/place/place_bound_parts.h"

enum {
    MAX_NODES = PLACE_LEAST_MAX_NODES,
    MAX_RESOURCES = 16,
    MAX_LEAVES = 200000, // assignments and ways of transfers, after which there is no bound
    BOTH = 3,            // sets of devices
};

struct least {
    const struct placement *p;
    bool duplicates;
    int32_t on[MAX_NODES]; // the set of devices of each node
    int64_t load[MAX_RESOURCES];
    int64_t best;
    int32_t best_on[MAX_NODES];
    int64_t n_leaves;
};

static int64_t largest(const struct least *s) {
    int64_t most = 0;
    for (int32_t q = 0; q < s->p->n_resources; q++)
        most = s->load[q] > most ? s->load[q] : most;
    return most;
}

static void move(struct least *s, int32_t node, int32_t from, int32_t to, int64_t sign) {
    const struct route *r = placement_route(s->p, from, to);
    for (int32_t k = 0; k < r->n_resources; k++)
        s->load[r->resource[k]] += sign * placement_transfer_cost(s->p, node, from, to);
}

// Without the host, whether that is faster or not.
static bool is_direct(const struct least *s, int32_t from, int32_t to) {
    return placement_route(s->p, from, to)->n_resources >= 0;
}

static bool is_read_on(const struct least *s, int32_t node, int32_t device) {
    const struct problem *g = &s->p->graph;
    for (int32_t e = g->out_start[node]; e < g->out_start[node + 1]; e++)
        if (s->on[g->out_of[e]] & 1 << device)
            return true;
    return false;
}

// The transfers of this node and all later ones, each in every way.
static void move_from(struct least *s, int32_t node) {
    const struct placement *p = s->p;
    if (s->n_leaves >= MAX_LEAVES || largest(s) >= s->best)
        return;
    if (node == p->graph.n) {
        s->n_leaves++;
        s->best = largest(s);
        memcpy(s->best_on, s->on, sizeof s->on);
        return;
    }
    int32_t from = s->on[node] - 1, to = 1 - from;
    if (s->on[node] == BOTH || !is_read_on(s, node, to)) {
        move_from(s, node + 1);
        return;
    }
    if (is_direct(s, from, to)) {
        move(s, node, from, to, 1);
        move_from(s, node + 1);
        move(s, node, from, to, -1);
    }
    if (is_direct(s, from, p->host) && is_direct(s, p->host, to)) {
        move(s, node, from, p->host, 1);
        move(s, node, p->host, to, 1);
        move_from(s, node + 1);
        move(s, node, p->host, to, -1);
        move(s, node, from, p->host, -1);
    }
    s->n_leaves++;
}

static bool is_allowed(const struct least *s, int32_t node, int32_t set) {
    const struct placement *p = s->p;
    int32_t group = p->group[node], first = p->group_nodes[p->group_start[group]];
    bool shared = p->group_start[group + 1] - p->group_start[group] > 1;
    if (set == BOTH && (!s->duplicates || shared || p->graph.once[node]))
        return false;
    for (int32_t d = 0; d < 2; d++)
        if (set & 1 << d && !placement_runs_on(p, node, d))
            return false;
    return first >= node || s->on[first] == set;
}

static void assign(struct least *s, int32_t node, const int64_t bytes[2]) {
    const struct placement *p = s->p;
    if (s->n_leaves >= MAX_LEAVES || largest(s) >= s->best)
        return;
    if (node == p->graph.n) {
        s->n_leaves++;
        move_from(s, 0);
        return;
    }
    for (int32_t set = 1; set <= BOTH; set++) {
        int64_t more[2] = {bytes[0], bytes[1]};
        if (!is_allowed(s, node, set))
            continue;
        for (int32_t d = 0; d < 2; d++)
            if (set & 1 << d) {
                s->load[d] += placement_cost(p, node, d);
                more[d] += p->resident_bytes[node];
            }
        s->on[node] = set;
        if (more[0] <= p->place[0].memory_bytes && more[1] <= p->place[1].memory_bytes)
            assign(s, node + 1, more);
        for (int32_t d = 0; d < 2; d++)
            if (set & 1 << d)
                s->load[d] -= placement_cost(p, node, d);
    }
}

int64_t place_bound_least(const struct placement *p, bool duplicates, int32_t *on) {
    assert(p->n_devices > 0);
    struct least s = {.p = p, .duplicates = duplicates, .best = INT64_MAX};
    int64_t bytes[2] = {p->graph.persistent_bytes, p->graph.persistent_bytes};
    if (p->n_devices != 2 || p->graph.n > MAX_NODES || p->n_resources > MAX_RESOURCES)
        return 0;
    assign(&s, 0, bytes);
    if (s.n_leaves >= MAX_LEAVES || s.best == INT64_MAX)
        return 0;
    if (on)
        memcpy(on, s.best_on, (size_t)p->graph.n * sizeof *on);
    return s.best;
}
