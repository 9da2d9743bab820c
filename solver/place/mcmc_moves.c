// Proposals that change where nodes run: see mcmc.h.
#include "solver/place/mcmc.h"

enum { BLOCK_DOUBLINGS = 6, DROP_TRIES = 8, SWAP_TRIES = 4 };

static int32_t group_size(const struct placement *p, int32_t group) {
    return p->group_start[group + 1] - p->group_start[group];
}

static int32_t n_runs(const struct sim *s, int32_t node) {
    int32_t n = 0;
    for (int32_t t = s->first_of[node]; t != SIM_NONE; t = s->task[t].sibling)
        n += s->task[t].from == TASK_RUN;
    return n;
}

static int32_t device_of(const struct sim *s, int32_t node) {
    return s->task[mcmc_first_run(s, node)].place;
}

// A device for the node: with probability one half that of a neighbour, which may save a transfer.
static int32_t target_for(struct mcmc *c, int32_t node) {
    const struct problem *g = &c->p->graph;
    int32_t n_in = g->in_start[node + 1] - g->in_start[node];
    int32_t n_out = g->out_start[node + 1] - g->out_start[node];
    if (n_in + n_out == 0 || mcmc_random(c, 2))
        return mcmc_random(c, c->p->n_devices);
    int32_t k = mcmc_random(c, n_in + n_out);
    int32_t other =
        k < n_in ? g->in_of[g->in_start[node] + k] : g->out_of[g->out_start[node] + k - n_in];
    return device_of(&c->sim, other);
}

static bool put(struct mcmc *c, int32_t group, int32_t device) {
    if (device_of(&c->sim, c->p->group_nodes[c->p->group_start[group]]) == device ||
        !placement_group_runs_on(c->p, group, device))
        return false;
    mcmc_put_group(c, group, device);
    return true;
}

// Moves one of several runs of a node.
static bool put_one_run(struct mcmc *c, int32_t node, int32_t device) {
    struct sim *s = &c->sim;
    int32_t k = mcmc_random(c, n_runs(s, node)), t = s->first_of[node];
    while (s->task[t].from != TASK_RUN || k-- > 0)
        t = s->task[t].sibling;
    if (sim_runs_at(s, node, device) || !placement_runs_on(c->p, node, device))
        return false;
    mcmc_put_run(c, t, device);
    return true;
}

bool mcmc_move_node(struct mcmc *c) {
    int32_t node = mcmc_random(c, c->p->graph.n), to = target_for(c, node);
    if (group_size(c->p, c->p->group[node]) == 1 && n_runs(&c->sim, node) > 1 && mcmc_random(c, 4))
        return put_one_run(c, node, to);
    return put(c, c->p->group[node], to);
}

// Moves consecutive nodes of a device to another one together.
bool mcmc_move_block(struct mcmc *c) {
    struct sim *s = &c->sim;
    int32_t node = mcmc_random(c, c->p->graph.n), to = target_for(c, node);
    int32_t t = mcmc_first_run(s, node), from = s->task[t].place;
    int32_t longest = 2 << mcmc_random(c, BLOCK_DOUBLINGS);
    int32_t length = 2 + mcmc_random(c, longest - 1), n = 0;
    bool some = false;
    if (from == to)
        return false;
    // Moving a group changes the sequence, so all nodes are collected first.
    for (; t != SIM_END && n < length && n < c->p->graph.n; t = s->task[t].next)
        if (s->task[t].place == from && s->task[t].from == TASK_RUN)
            c->block[n++] = s->task[t].node;
    for (int32_t k = 0; k < n && !s->broken; k++)
        if (device_of(s, c->block[k]) == from)
            some = put(c, c->p->group[c->block[k]], to) || some;
    return some;
}

// Moves one end of a transfer to the device of the other.
bool mcmc_move_boundary(struct mcmc *c) {
    struct sim *s = &c->sim;
    const struct problem *g = &c->p->graph;
    int32_t v = mcmc_random(c, g->n), n_out = g->out_start[v + 1] - g->out_start[v];
    if (n_out == 0)
        return false;
    int32_t w = g->out_of[g->out_start[v] + mcmc_random(c, n_out)];
    for (int32_t k = 0; k < n_out && device_of(s, w) == device_of(s, v); k++)
        w = g->out_of[g->out_start[v] + k];
    return mcmc_random(c, 2) ? put(c, c->p->group[v], device_of(s, w))
                             : put(c, c->p->group[w], device_of(s, v));
}

bool mcmc_move_swap(struct mcmc *c) {
    struct sim *s = &c->sim;
    int32_t a = mcmc_random(c, c->p->graph.n), b = a, from = device_of(s, a), to = from;
    for (int32_t k = 0; k < SWAP_TRIES && to == from; k++) {
        b = mcmc_random(c, c->p->graph.n);
        to = device_of(s, b);
    }
    if (from == to || !placement_group_runs_on(c->p, c->p->group[a], to) ||
        !placement_group_runs_on(c->p, c->p->group[b], from))
        return false;
    mcmc_put_group(c, c->p->group[a], to);
    mcmc_put_group(c, c->p->group[b], from);
    return true;
}

// A device that fetches a node runs a duplicate instead.
bool mcmc_move_duplicate(struct mcmc *c) {
    struct sim *s = &c->sim;
    int32_t t = mcmc_random_task(c);
    for (int32_t k = 0; k < DROP_TRIES && (t == SIM_END || s->task[t].from == TASK_RUN); k++)
        t = mcmc_random_task(c);
    struct sim_task x = s->task[t];
    if (t == SIM_END || x.from == TASK_RUN || x.place == c->p->host || c->p->graph.once[x.node] ||
        group_size(c->p, c->p->group[x.node]) > 1 || !placement_runs_on(c->p, x.node, x.place))
        return false;
    int32_t run = sim_insert(s, x.node, x.place, TASK_RUN, t);
    for (int32_t f = s->first_of[x.node], next; f != SIM_NONE && run != SIM_NONE; f = next) {
        next = s->task[f].sibling;
        if (s->task[f].place == x.place && s->task[f].from != TASK_RUN)
            sim_remove(s, f);
    }
    mcmc_mark_with_inputs(c, x.node);
    return true;
}

// Removes a run of a node that has another, or a fetch of what is already at the place.
bool mcmc_move_drop(struct mcmc *c) {
    struct sim *s = &c->sim;
    for (int32_t k = 0; k < DROP_TRIES; k++) {
        int32_t t = mcmc_random_task(c);
        if (t == SIM_END)
            continue;
        const struct sim_task *x = &s->task[t];
        bool extra = x->from == TASK_RUN ? n_runs(s, x->node) > 1
                                         : sim_bound(s, x->node, x->place, x->label) != SIM_NONE;
        if (!extra)
            continue;
        mcmc_mark_with_inputs(c, x->node);
        sim_remove(s, t);
        return true;
    }
    return false;
}
