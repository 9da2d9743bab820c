// Tasks for an assignment of nodes to devices: see strategy.h.
#include "solver/model/strategy.h"

#include <string.h>

struct maker {
    const struct placement *p;
    const bool *on;
    bool *wanted; // per device: reads the node at hand without running it
    struct arena *arena;
    VEC(struct task) tasks;
    bool ok;
};

static void add(struct maker *m, int32_t node, int32_t place, int32_t from) {
    m->ok = m->ok && VEC_PUSH(m->arena, &m->tasks, (struct task){node, place, from});
}

static bool runs(const struct maker *m, int32_t node, int32_t device) {
    return m->on[(int64_t)node * m->p->n_devices + device];
}

// The device that has the node and sends it to `place` fastest; -1: only the host can send it.
static int32_t nearest(const struct maker *m, int32_t node, int32_t place) {
    int32_t best = -1;
    int64_t least = INT64_MAX;
    for (int32_t q = 0; q < m->p->n_devices; q++) {
        const struct route *r = placement_route(m->p, q, place);
        if (!runs(m, node, q) || r->n_resources < 0 || (place != m->p->host && r->via_host))
            continue;
        int64_t time = placement_transfer_cost(m->p, node, q, place);
        if (time < least) {
            least = time;
            best = q;
        }
    }
    return best;
}

// Sends node v to the devices that want it; through the host at most once.
static void send(struct maker *m, int32_t v) {
    bool stored = false;
    for (int32_t k = 0; k < m->p->n_devices; k++) {
        if (!m->wanted[k])
            continue;
        int32_t from = nearest(m, v, k);
        if (from < 0) {
            if (!stored)
                add(m, v, m->p->host, nearest(m, v, m->p->host));
            stored = true;
            from = m->p->host;
        }
        add(m, v, k, from);
    }
}

bool strategy_assign(const struct placement *p, const int32_t *order, const bool *on,
                     struct arena *a, struct strategy *out) {
    struct maker m = {.p = p, .on = on, .arena = a, .ok = true};
    m.wanted = ARENA_ARRAY(a, bool, p->n_devices);
    if (!m.wanted)
        return false;
    const struct problem *g = &p->graph;
    for (int32_t i = 0; i < g->n && m.ok; i++) {
        int32_t v = order ? order[i] : i;
        memset(m.wanted, 0, (size_t)p->n_devices * sizeof *m.wanted);
        for (int32_t k = 0; k < p->n_devices; k++) {
            if (runs(&m, v, k))
                add(&m, v, k, TASK_RUN);
            for (int32_t e = g->out_start[v]; e < g->out_start[v + 1] && !runs(&m, v, k); e++)
                m.wanted[k] = m.wanted[k] || runs(&m, g->out_of[e], k);
        }
        send(&m, v);
    }
    *out = (struct strategy){m.tasks.at, (int32_t)m.tasks.n};
    return m.ok;
}
