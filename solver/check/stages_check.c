// The exact check of a pipeline of stages: see stages_check.h. It walks the stages three times: for
// the loads in the steady state, for memory, and for the first sample through the pipeline.
#include "solver/check/stages_check.h"

#include <string.h>

#include "ir/base/checked.h"

struct check {
    const struct modal *p;
    const struct stages *s;
    struct arena *arena;
    struct diags *diags;
    struct stages_facts *out;
    int32_t *stage_of; // per node
};

// ---- Form ----

static status fails(const struct check *c, int32_t stage, const char *what, const char *name) {
    const char *path = str_format(c->arena, "stage %d", stage);
    return diag_error(c->diags, DIAG_VERIFY, loc_path(NULL, path ? path : "stage"), "%s%s%s%s",
                      name ? "\"" : "", name ? name : "", name ? "\" " : "", what);
}

static bool are_shared(const struct stage *a, const struct stage *b) {
    for (int32_t i = 0; i < a->n_devices; i++)
        for (int32_t j = 0; j < b->n_devices; j++)
            if (a->device[i] == b->device[j])
                return true;
    return false;
}

static status check_devices(const struct check *c, int32_t k) {
    const struct stage *x = &c->s->at[k];
    if (x->n_devices % x->replicas != 0)
        return fails(c, k, "the number of devices is no multiple of the replicas", NULL);
    for (int32_t i = 0; i < x->n_devices; i++)
        for (int32_t j = 0; j < i; j++)
            if (x->device[i] == x->device[j])
                return fails(c, k, "is there twice", c->p->places.place[x->device[i]].name);
    if (c->s->n_samples > 0 && c->s->n_samples % x->replicas != 0)
        return fails(c, k, "the samples of a step are no multiple of the replicas", NULL);
    for (int32_t j = 0; j < k && c->p->is_disjoint; j++)
        if (are_shared(x, &c->s->at[j]))
            return fails(c, k, "a device is in an earlier stage, too; the problem is disjoint",
                         NULL);
    return ST_OK;
}

static status check_node(const struct check *c, int32_t k, int32_t v) {
    const struct stage *x = &c->s->at[k];
    const struct mode *m = &c->p->mode[c->s->mode[v]];
    if (c->stage_of[v] >= 0)
        return fails(c, k, "is there twice", c->p->graph.name[v]);
    if (m->degree != x->n_devices / x->replicas)
        return fails(c, k, "has a mode of another degree than its stage", c->p->graph.name[v]);
    for (int32_t i = 0; i < x->n_devices; i++)
        if (m->cost[x->device[i]] < 0)
            return fails(c, k, "cannot run on a device of its stage", c->p->graph.name[v]);
    for (int32_t e = c->p->graph.in_start[v]; e < c->p->graph.in_start[v + 1]; e++)
        if (c->stage_of[c->p->graph.in_of[e]] < 0)
            return fails(c, k, "comes before a node that it reads", c->p->graph.name[v]);
    c->stage_of[v] = k;
    return ST_OK;
}

static status check_form(const struct check *c) {
    for (int32_t v = 0; v < c->p->graph.n; v++)
        c->stage_of[v] = -1;
    for (int32_t k = 0; k < c->s->n; k++) {
        status st = check_devices(c, k);
        for (int32_t i = c->s->at[k].start; i < c->s->at[k].end && st == ST_OK; i++)
            st = check_node(c, k, c->s->order[i]);
        if (st != ST_OK)
            return st;
    }
    return ST_OK; // the reader of the file has counted the nodes
}

// ---- Bytes ----

// Whether nothing moves along an edge between two stages but what resharding moves.
static bool is_local(const struct check *c, int32_t from, int32_t to) {
    const struct stage *a = &c->s->at[from], *b = &c->s->at[to];
    return a->n_devices == b->n_devices && a->replicas == b->replicas &&
           memcmp(a->device, b->device, (size_t)a->n_devices * sizeof *a->device) == 0;
}

// What an edge moves at its producer and at its reader; k: its place among the outputs.
struct moved {
    int64_t sent, received;
    bool is_local;
};

static struct moved moved_by(const struct check *c, int32_t u, int32_t k, int32_t v) {
    const struct problem *g = &c->p->graph;
    int32_t e = c->p->out_edge[g->out_start[u] + k];
    const struct mode *from = &c->p->mode[c->s->mode[u]], *to = &c->p->mode[c->s->mode[v]];
    int64_t both = modal_reshard_bytes(c->p, e, c->s->mode[u], c->s->mode[v]);
    struct moved m = {both, both, is_local(c, c->stage_of[u], c->stage_of[v])};
    if (!m.is_local) {
        m.sent += c->p->edge_bytes[e] + (from->send ? from->send[k] : 0);
        m.received += c->p->edge_bytes[e] + (to->receive ? to->receive[e - g->in_start[v]] : 0);
    }
    return m;
}

// ---- The steady state ----

static void add_stage_bytes(const struct check *c, int64_t *bytes) {
    const struct problem *g = &c->p->graph;
    for (int32_t u = 0; u < g->n; u++)
        for (int32_t k = 0; k < g->out_start[u + 1] - g->out_start[u]; k++) {
            int32_t v = g->out_of[g->out_start[u] + k];
            struct moved m = moved_by(c, u, k, v);
            bytes[c->stage_of[u]] += m.sent;
            if (!m.is_local)
                bytes[c->stage_of[v]] += m.received;
            c->out->moved_bytes += m.received;
        }
}

// Replicas take turns, so each computes and moves for its share of the samples; they exchange
// gradients once in a step, each sending all of them about twice, as a ring does.
static void add_loads(const struct check *c, const int64_t *bytes) {
    const struct modal *p = c->p;
    for (int32_t k = 0; k < c->s->n; k++) {
        const struct stage *x = &c->s->at[k];
        int64_t exchanged = 0, samples = int64_max(c->s->n_samples, 1), r = x->replicas;
        for (int32_t i = x->start; i < x->end; i++)
            exchanged += p->mode[c->s->mode[c->s->order[i]]].exchange_bytes;
        int64_t moving = modal_move_time(p, bytes[k], r) +
                         modal_move_time(p, 2 * exchanged * (r - 1), r * samples);
        for (int32_t i = 0; i < x->n_devices; i++) {
            int64_t cost = 0;
            for (int32_t j = x->start; j < x->end; j++)
                cost += p->mode[c->s->mode[c->s->order[j]]].cost[x->device[i]];
            c->out->busy_cost[x->device[i]] += (cost + r - 1) / r;
            c->out->moving_cost[x->device[i]] += moving;
        }
    }
    for (int32_t d = 0; d < p->places.n_devices; d++) {
        int64_t busy = c->out->busy_cost[d], moving = c->out->moving_cost[d];
        int64_t load = p->blocks ? busy + moving : int64_max(busy, moving);
        c->out->load_cost = int64_max(c->out->load_cost, load);
        c->out->energy += busy * p->places.place[d].power;
    }
}

// ---- Memory ----

// A replica holds a sample from when it arrives until its gradient has come back through all later
// stages. As in 1F1B there are as many in flight as replicas in this and the later stages, for each
// replica of this stage. Stages that share devices count once.
static void count_in_flight(const struct check *c, bool *seen) {
    int64_t sum = 0, samples = c->s->n_samples;
    for (int32_t k = c->s->n; k-- > 0;) {
        const struct stage *x = &c->s->at[k];
        bool is_new = true;
        for (int32_t i = 0; i < x->n_devices; i++)
            is_new = is_new && !seen[x->device[i]];
        for (int32_t i = 0; i < x->n_devices; i++)
            seen[x->device[i]] = true;
        sum = int64_max(is_new ? sum + x->replicas : sum, x->replicas);
        int64_t n = (sum + x->replicas - 1) / x->replicas;
        c->out->in_flight[k] = samples > 0 ? int64_min(n, samples / x->replicas) : n;
    }
}

static void add_memory(const struct check *c) {
    const struct modal *p = c->p;
    for (int32_t d = 0; d < p->places.n_devices; d++) {
        int64_t held = p->graph.persistent_bytes, workspace = 0;
        for (int32_t k = 0; k < c->s->n; k++)
            for (int32_t i = 0; i < c->s->at[k].n_devices; i++)
                for (int32_t j = c->s->at[k].start;
                     c->s->at[k].device[i] == d && j < c->s->at[k].end; j++) {
                    const struct mode *m = &p->mode[c->s->mode[c->s->order[j]]];
                    held += m->resident_bytes + m->stash_bytes * c->out->in_flight[k];
                    workspace = int64_max(workspace, m->workspace_bytes);
                }
        int64_t memory = p->places.place[d].memory_bytes;
        c->out->peak_bytes[d] = held + workspace;
        if (held + workspace > memory)
            c->out->excess_bytes += held + workspace - memory;
    }
}

// ---- The first sample ----

// The devices of the first replica wait for each other.
static int64_t latest(const struct stage *x, const int64_t *clock) {
    int64_t time = 0;
    for (int32_t i = 0; i < x->n_devices / x->replicas; i++)
        time = int64_max(time, clock[x->device[i]]);
    return time;
}

static void set_clocks(const struct stage *x, int64_t *clock, int64_t time) {
    for (int32_t i = 0; i < x->n_devices / x->replicas; i++)
        clock[x->device[i]] = time;
}

struct first_sample {
    int64_t *finish;        // per node
    int64_t *device, *port; // per device: when it is free to compute, and to move
};

// When the operand of v from u has arrived.
static int64_t arrival(const struct check *c, struct first_sample *f, int32_t u, int32_t k,
                       int32_t v) {
    const struct stage *a = &c->s->at[c->stage_of[u]], *b = &c->s->at[c->stage_of[v]];
    struct moved m = moved_by(c, u, k, v);
    int64_t bytes = int64_max(m.sent, m.received);
    if (bytes == 0)
        return f->finish[u];
    int64_t start = int64_max(f->finish[u], int64_max(latest(a, f->port), latest(b, f->port)));
    int64_t end = start + modal_move_time(c->p, bytes, 1);
    set_clocks(a, f->port, end);
    set_clocks(b, f->port, end);
    return end;
}

static int64_t run_first_sample(const struct check *c, struct first_sample *f, int32_t *next) {
    const struct problem *g = &c->p->graph;
    int64_t makespan = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = c->s->order[i];
        const struct stage *x = &c->s->at[c->stage_of[v]];
        int64_t start = 0, cost = 0;
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
            int32_t u = g->in_of[e];
            for (next[u] = 0; c->p->out_edge[g->out_start[u] + next[u]] != e;)
                next[u]++;
            start = int64_max(start, arrival(c, f, u, next[u], v));
        }
        start = int64_max(start, latest(x, f->device));
        for (int32_t k = 0; k < x->n_devices / x->replicas; k++)
            cost = int64_max(cost, c->p->mode[c->s->mode[v]].cost[x->device[k]]);
        f->finish[v] = start + cost;
        set_clocks(x, f->device, f->finish[v]);
        makespan = int64_max(makespan, f->finish[v]);
    }
    return makespan;
}

static bool open_facts(const struct check *c) {
    int32_t n = c->p->places.n_devices;
    *c->out = (struct stages_facts){.busy_cost = ARENA_ARRAY(c->arena, int64_t, n),
                                    .moving_cost = ARENA_ARRAY(c->arena, int64_t, n),
                                    .peak_bytes = ARENA_ARRAY(c->arena, int64_t, n),
                                    .in_flight = ARENA_ARRAY(c->arena, int64_t, c->s->n)};
    return c->out->busy_cost && c->out->moving_cost && c->out->peak_bytes && c->out->in_flight;
}

status stages_check(const struct modal *p, const struct stages *s, struct arena *a, struct diags *d,
                    struct stages_facts *out) {
    struct check c = {p, s, a, d, out, ARENA_ARRAY(a, int32_t, p->graph.n)};
    int32_t n = p->places.n_devices;
    bool *seen = ARENA_ARRAY(a, bool, n);
    int64_t *bytes = ARENA_ARRAY(a, int64_t, s->n), *clock = ARENA_ARRAY(a, int64_t, n);
    struct first_sample f = {ARENA_ARRAY(a, int64_t, p->graph.n), clock,
                             p->blocks ? clock : ARENA_ARRAY(a, int64_t, n)};
    int32_t *next = ARENA_ARRAY(a, int32_t, p->graph.n);
    if (!c.stage_of || !seen || !bytes || !clock || !f.finish || !f.port || !next ||
        !open_facts(&c))
        return diag_out_of_memory(d);
    status st = check_form(&c);
    if (st != ST_OK)
        return st;
    add_stage_bytes(&c, bytes);
    add_loads(&c, bytes);
    count_in_flight(&c, seen);
    add_memory(&c);
    // Each further sample leaves the pipeline one period later.
    out->makespan_cost =
        run_first_sample(&c, &f, next) + (int64_max(s->n_samples, 1) - 1) * out->load_cost;
    return ST_OK;
}
