// Proposals that change what is in memory when: see mcmc.h. For a place over its memory, they
// choose an instance that is live but idle at the peak, with a probability proportional to its
// size, and evict it until its next use. There it is recomputed, with a random choice whether to
// recompute its inputs, too; or it is offloaded to the host and fetched back; or fetched again.
#include "solver/place/mcmc.h"

enum { MAX_ALONG = 8, MAX_RECOMPUTE_DEPTH = 6, ORDER_PASSES = 5 };

static bool has_edge(const struct problem *g, int32_t from, int32_t to) {
    for (int32_t e = g->in_start[to]; e < g->in_start[to + 1]; e++)
        if (g->in_of[e] == from)
            return true;
    return false;
}

// Whether task x reads the node of y at the place of y.
static bool reads(const struct mcmc *c, const struct sim_task *x, const struct sim_task *y) {
    if (x->from != TASK_RUN)
        return x->node == y->node && x->from == y->place;
    return x->place == y->place && has_edge(&c->p->graph, y->node, x->node);
}

// ---- Idle instances at the peak ----

struct idle {
    int32_t instance, peak, reader; // reader: the first one after the peak
};

static int32_t peak_of(struct mcmc *c) {
    struct sim *s = &c->sim;
    if (c->excess_bytes > 0) {
        int32_t n_over = 0, place = 0;
        for (int32_t k = 0; k < c->p->n_places; k++)
            if (c->over[k] && mcmc_random(c, ++n_over) == 0)
                place = k;
        int32_t t = n_over > 0 ? c->peak_at[place] : SIM_END;
        return s->task[t].in ? t : SIM_END;
    }
    int32_t t = mcmc_random_task(c);
    return s->task[t].place == c->p->host ? SIM_END : t;
}

static bool find_idle(struct mcmc *c, struct idle *out) {
    struct sim *s = &c->sim;
    int32_t peak = peak_of(c);
    if (peak == SIM_END)
        return false;
    const struct sim_task *k = &s->task[peak];
    double sum = 0;
    int32_t chosen = SIM_NONE;
    for (int32_t t = s->task[SIM_END].next; t != peak; t = s->task[t].next) {
        const struct sim_task *x = &s->task[t];
        if (x->place != k->place || x->last.by < 0 || s->task[x->last.by].label <= k->label ||
            reads(c, k, x))
            continue;
        double weight = (double)c->p->graph.bytes[x->node];
        sum += weight;
        if (weight > 0 && rng_unit(&c->rng) * sum < weight)
            chosen = t;
    }
    if (chosen == SIM_NONE)
        return false;
    int32_t reader = k->next;
    while (reader != SIM_END && !reads(c, &s->task[reader], &s->task[chosen]))
        reader = s->task[reader].next;
    if (reader == SIM_END)
        return false;
    *out = (struct idle){chosen, peak, reader};
    return true;
}

// ---- Recomputing ----

static bool can_recompute(const struct mcmc *c, int32_t node, int32_t place) {
    int32_t g = c->p->group[node];
    bool alone = c->p->group_start[g + 1] - c->p->group_start[g] == 1;
    return place < c->p->n_devices && !c->p->graph.once[node] &&
           placement_runs_on(c->p, node, place) && (alone || sim_runs_at(&c->sim, node, place));
}

// Runs the node before `reader`. Each input that is evicted before the peak is recomputed, too,
// with probability one half.
static void recompute_before(struct mcmc *c, int32_t node, int32_t place, int32_t reader,
                             int64_t peak_label, int32_t depth) {
    struct sim *s = &c->sim;
    const struct problem *g = &c->p->graph;
    for (int32_t e = g->in_start[node]; e < g->in_start[node + 1]; e++) {
        int32_t u = g->in_of[e], b = sim_bound(s, u, place, s->task[reader].label);
        bool gone = b == SIM_NONE || (s->task[b].last.by >= 0 && s->task[b].label < peak_label &&
                                      s->task[s->task[b].last.by].label <= peak_label);
        if (gone && depth < MAX_RECOMPUTE_DEPTH && can_recompute(c, u, place) && mcmc_random(c, 2))
            recompute_before(c, u, place, reader, peak_label, depth + 1);
    }
    sim_insert(s, node, place, TASK_RUN, reader);
    mcmc_mark_with_inputs(c, node);
}

bool mcmc_move_recompute(struct mcmc *c) {
    struct idle w;
    if (!find_idle(c, &w))
        return false;
    struct sim_task x = c->sim.task[w.instance];
    if (!can_recompute(c, x.node, x.place))
        return false;
    recompute_before(c, x.node, x.place, w.reader, c->sim.task[w.peak].label, 0);
    return true;
}

// ---- Offload ----

// A fetch without a reader before the peak moves behind it.
static bool fetch_later(struct mcmc *c, const struct idle *w) {
    struct sim *s = &c->sim;
    struct sim_task x = s->task[w->instance];
    if (x.from == TASK_RUN)
        return false;
    for (int32_t t = x.next; t != w->peak; t = s->task[t].next)
        if (reads(c, &s->task[t], &x))
            return false;
    sim_remove(s, w->instance);
    sim_insert(s, x.node, x.place, x.from, w->reader);
    mcmc_mark(c, x.node);
    return true;
}

bool mcmc_move_offload(struct mcmc *c) {
    struct sim *s = &c->sim;
    struct idle w;
    if (!find_idle(c, &w))
        return false;
    struct sim_task x = s->task[w.instance];
    int32_t host = c->p->host;
    if (x.place == host || fetch_later(c, &w))
        return x.place != host;
    // From another place that has it by then, or from the host.
    int64_t label = s->task[w.reader].label;
    int32_t from = SIM_NONE;
    for (int32_t t = s->first_of[x.node], n = 0; t != SIM_NONE; t = s->task[t].sibling)
        if (s->task[t].label < label && s->task[t].place != x.place &&
            placement_route(c->p, s->task[t].place, x.place)->n_resources >= 0 &&
            mcmc_random(c, ++n) == 0)
            from = s->task[t].place;
    if (from == SIM_NONE || (from != host && mcmc_random(c, 2))) {
        if (placement_route(c->p, x.place, host)->n_resources < 0 ||
            placement_route(c->p, host, x.place)->n_resources < 0)
            return false;
        if (sim_bound(s, x.node, host, label) == SIM_NONE)
            sim_insert(s, x.node, host, x.place, s->task[w.instance].next);
        from = host;
    }
    int32_t before = w.reader;
    if (mcmc_random(c, 2)) // one run earlier, to hide the transfer
        for (int32_t t = s->task[before].prev; t != w.peak; t = s->task[t].prev)
            if (s->task[t].place == x.place && s->task[t].from == TASK_RUN) {
                before = t;
                break;
            }
    sim_insert(s, x.node, x.place, from, before);
    mcmc_mark(c, x.node);
    return true;
}

// ---- Order ----

// A task moves before or behind a few others of its place, together with the tasks that must stay
// before or behind it.
bool mcmc_move_order(struct mcmc *c) {
    struct sim *s = &c->sim;
    int32_t along[MAX_ALONG], n = 0, first = mcmc_random_task(c), passed = SIM_NONE;
    bool back = mcmc_random(c, 2);
    int32_t passes = 1 + mcmc_random(c, ORDER_PASSES);
    if (first == SIM_END)
        return false;
    along[n++] = first;
    for (int32_t t = first; passes > 0;) {
        t = back ? s->task[t].prev : s->task[t].next;
        if (t == SIM_END)
            break;
        bool bound = false;
        for (int32_t k = 0; k < n && !bound; k++) {
            const struct sim_task *x = &s->task[along[k]], *y = &s->task[t];
            bound = (back ? reads(c, x, y) : reads(c, y, x)) ||
                    (x->node == y->node && x->place == y->place);
        }
        if (bound && n == MAX_ALONG)
            break;
        if (bound) {
            along[n++] = t;
        } else {
            passes -= s->task[t].place == s->task[first].place;
            passed = t;
        }
    }
    if (passed == SIM_NONE)
        return false;
    struct sim_task moved[MAX_ALONG];
    for (int32_t k = 0; k < n; k++) {
        // In sequence order: the farthest first when they move back.
        int32_t t = along[back ? n - 1 - k : k];
        moved[k] = s->task[t];
        sim_remove(s, t);
    }
    int32_t before = back ? passed : s->task[passed].next;
    for (int32_t k = 0; k < n; k++)
        sim_insert(s, moved[k].node, moved[k].place, moved[k].from, before);
    return !s->broken;
}
