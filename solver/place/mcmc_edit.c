// Edits that all proposals share: see mcmc.h. Moves change runs; repairs adapt the transfers.
#include "solver/place/mcmc.h"

enum { DUPLICATE_ONE_IN = 8 };

int32_t mcmc_random(struct mcmc *c, int32_t n) {
    return (int32_t)rng_below(&c->rng, (uint64_t)n);
}

int32_t mcmc_random_task(struct mcmc *c) {
    for (int32_t k = 0; k < 16; k++) {
        int32_t t = 1 + mcmc_random(c, c->sim.n_tasks - 1);
        if (c->sim.task[t].in)
            return t;
    }
    return SIM_END;
}

int32_t mcmc_first_run(const struct sim *s, int32_t node) {
    int32_t t = s->first_of[node];
    while (s->task[t].from != TASK_RUN)
        t = s->task[t].sibling;
    return t;
}

void mcmc_mark(struct mcmc *c, int32_t node) {
    if (!c->is_listed[node]) {
        c->is_listed[node] = true;
        c->nodes[c->n_nodes++] = node;
    }
}

void mcmc_mark_with_inputs(struct mcmc *c, int32_t node) {
    const struct problem *g = &c->p->graph;
    mcmc_mark(c, node);
    for (int32_t e = g->in_start[node]; e < g->in_start[node + 1]; e++)
        mcmc_mark(c, g->in_of[e]);
}

// ---- Fetches ----

// The instance of the node before `label` with the fastest transfer to `place`; SIM_NONE.
static int32_t source_for(const struct mcmc *c, int32_t node, int32_t place, int64_t label) {
    const struct sim *s = &c->sim;
    int32_t best = SIM_NONE;
    int64_t least = INT64_MAX;
    for (int32_t t = s->first_of[node]; t != SIM_NONE; t = s->task[t].sibling) {
        const struct sim_task *x = &s->task[t];
        if (x->label >= label)
            break;
        const struct route *r = placement_route(c->p, x->place, place);
        bool through_host = r->via_host && place != c->p->host && x->place != c->p->host;
        if (x->place == place || r->n_resources < 0 || through_host)
            continue;
        int64_t time = placement_transfer_cost(c->p, node, x->place, place);
        if (time < least) {
            least = time;
            best = t;
        }
    }
    return best;
}

// Where a fetch for `reader` is inserted: right after its source; one run of the place before the
// reader; or right before the reader. The first is fast, the last holds memory for the shortest
// time.
static int32_t position(struct mcmc *c, int32_t source, int32_t place, int32_t reader) {
    const struct sim *s = &c->sim;
    int32_t early = s->task[source].next, late = reader;
    switch (mcmc_random(c, 4)) {
    case 0:
        return late;
    case 1:
        while (late != early) {
            late = s->task[late].prev;
            if (s->task[late].place == place && s->task[late].from == TASK_RUN)
                break;
        }
        return late;
    default:
        return early;
    }
}

bool mcmc_add_fetch(struct mcmc *c, int32_t node, int32_t place, int32_t reader) {
    struct sim *s = &c->sim;
    int32_t source = source_for(c, node, place, s->task[reader].label);
    if (source == SIM_NONE && place != c->p->host) {
        if (!mcmc_add_fetch(c, node, c->p->host, reader))
            return false;
        source = source_for(c, node, place, s->task[reader].label);
    }
    if (source == SIM_NONE)
        return false;
    sim_insert(s, node, place, s->task[source].place, position(c, source, place, reader));
    return !s->broken;
}

// ---- Repairs ----

// Fetches whose source is gone get another one, or are removed.
static void repair_sources(struct mcmc *c, int32_t v) {
    struct sim *s = &c->sim;
    int32_t next;
    for (int32_t t = s->first_of[v]; t != SIM_NONE && !s->broken; t = next) {
        struct sim_task x = s->task[t];
        next = x.sibling;
        if (x.from == TASK_RUN || sim_bound(s, v, x.from, x.label) != SIM_NONE)
            continue;
        int32_t source = source_for(c, v, x.place, x.label);
        bool has_it = sim_bound(s, v, x.place, x.label) != SIM_NONE;
        sim_remove(s, t);
        if (source != SIM_NONE && !has_it)
            sim_insert(s, v, x.place, s->task[source].place, x.next);
    }
}

// Sometimes a device that lacks v runs a duplicate of it, if that is allowed.
static bool duplicate_instead(struct mcmc *c, int32_t v, int32_t place, int32_t reader) {
    struct sim *s = &c->sim;
    int32_t g = c->p->group[v], source = s->first_of[v];
    if (!c->allowed.duplicates || mcmc_random(c, DUPLICATE_ONE_IN) || c->p->graph.once[v] ||
        c->p->group_start[g + 1] - c->p->group_start[g] > 1 || !placement_runs_on(c->p, v, place) ||
        s->task[source].label > s->task[reader].label)
        return false;
    sim_insert(s, v, place, TASK_RUN, mcmc_random(c, 2) ? s->task[source].next : reader);
    mcmc_mark_with_inputs(c, v);
    return true;
}

// Every run that reads v must find it on its device: adds a fetch for the first reader on each
// device that lacks it.
static bool repair_readers(struct mcmc *c, int32_t v) {
    struct sim *s = &c->sim;
    const struct problem *g = &c->p->graph;
    for (int32_t k = 0; k < c->p->n_devices; k++)
        c->earliest[k] = SIM_NONE;
    bool some = false;
    for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++)
        for (int32_t t = s->first_of[g->out_of[e]]; t != SIM_NONE; t = s->task[t].sibling) {
            const struct sim_task *x = &s->task[t];
            if (x->from != TASK_RUN)
                continue;
            int32_t *first = &c->earliest[x->place];
            if (*first != SIM_NONE && s->task[*first].label < x->label)
                continue;
            if (sim_bound(s, v, x->place, x->label) == SIM_NONE) {
                *first = t;
                some = true;
            }
        }
    bool ok = true;
    for (int32_t k = 0; some && ok && k < c->p->n_devices; k++)
        if (c->earliest[k] != SIM_NONE && !duplicate_instead(c, v, k, c->earliest[k]))
            ok = mcmc_add_fetch(c, v, k, c->earliest[k]);
    return ok;
}

// Removes dead fetches of v, until there are none: the source of a removed fetch may be dead, too.
static void repair_unread(struct mcmc *c, int32_t v) {
    struct sim *s = &c->sim;
    bool some;
    do {
        some = false;
        for (int32_t t = s->first_of[v], next; t != SIM_NONE; t = next) {
            next = s->task[t].sibling;
            if (s->task[t].from != TASK_RUN && sim_is_unread(s, t)) {
                sim_remove(s, t);
                some = true;
            }
        }
    } while (some && !s->broken);
}

bool mcmc_repair(struct mcmc *c) {
    bool ok = true;
    while (c->n_nodes > 0) {
        int32_t v = c->nodes[--c->n_nodes];
        c->is_listed[v] = false;
        if (!ok || c->sim.broken)
            continue;
        repair_sources(c, v);
        ok = repair_readers(c, v);
        repair_unread(c, v);
    }
    return ok && !c->sim.broken;
}

// ---- Runs ----

void mcmc_put_run(struct mcmc *c, int32_t run, int32_t device) {
    struct sim *s = &c->sim;
    int32_t v = s->task[run].node, before = s->task[run].next, next;
    sim_remove(s, run);
    sim_insert(s, v, device, TASK_RUN, before);
    for (int32_t t = s->first_of[v]; t != SIM_NONE && !s->broken; t = next) {
        next = s->task[t].sibling;
        if (s->task[t].place == device && s->task[t].from != TASK_RUN)
            sim_remove(s, t);
    }
    mcmc_mark_with_inputs(c, v);
}

// All runs of all its nodes; recomputations are removed.
void mcmc_put_group(struct mcmc *c, int32_t group, int32_t device) {
    struct sim *s = &c->sim;
    for (int32_t k = c->p->group_start[group]; k < c->p->group_start[group + 1]; k++) {
        int32_t v = c->p->group_nodes[k], first = mcmc_first_run(s, v), next;
        for (int32_t t = s->task[first].sibling; t != SIM_NONE; t = next) {
            next = s->task[t].sibling;
            if (s->task[t].from == TASK_RUN)
                sim_remove(s, t);
        }
        mcmc_put_run(c, first, device);
    }
}
