// Initial solutions that recompute: see place_remat.h. Stages:
//   cut      forward nodes to devices by their position in the order, so that each gets its share
//   of
//            the time by its speed, or of the bytes by its memory, or the fastest device
//            everything; a backward node to the device of the latest forward node that it reads,
//            else of the backward node that it reads; groups stay together
//   plan     for each device a problem of its nodes, in their order, and of its fetches, which run
//            once and are held until their last use; the solver makes it fit
//   merge    node by node in the order of the graph: the device's steps up to the first run of the
//            node, then the node, then its transfers. First runs keep the order, and recomputations
//            read only what is on their device, so every input comes before its use.
#include "solver/place/place_remat.h"

#include "solver/solve.h"

enum { WORK_PER_NODE = 1 };
#define INITIAL_GAP 0.05 // optimality gap: the search improves on it

enum share { BY_TIME, BY_BYTES, FASTEST, SHARES };

struct part { // of one device
    struct problem problem;
    int32_t *node;  // per problem node: that of the placement
    int32_t *local; // per node: its problem node + 1; 0: it is not there
    struct steps steps;
    int32_t at; // the step that comes next in the merge
};

struct cutting {
    const struct placement *p;
    const struct remat_effort *effort;
    struct arena *arena;   // for the strategies
    struct arena *scratch; // for the rest
    int32_t *device;       // per node
    double *until;         // per device: the part of the forward pass with which its share ends
    struct part *part;     // per device
    struct task *task;
    int32_t n_tasks;
    bool ok; // false: out of memory
};

// ---- Cut ----

static int64_t weight_of(const struct placement *p, int32_t v, enum share how) {
    return (how == BY_BYTES ? p->graph.bytes[v] : p->graph.cost[v]) + 1;
}

static double time_on(const struct placement *p, int32_t device) {
    double sum = 1;
    for (int32_t v = 0; v < p->graph.n; v++)
        sum += placement_runs_on(p, v, device) ? (double)placement_cost(p, v, device) : 0;
    return sum;
}

static double bytes_on(const struct placement *p, int32_t device) {
    double sum = 1, memory = (double)p->place[device].memory_bytes;
    for (int32_t v = 0; v < p->graph.n; v++)
        sum += (double)p->graph.bytes[v];
    return memory < sum ? memory : sum;
}

static int32_t fastest(const struct placement *p) {
    int32_t best = 0;
    for (int32_t d = 1; d < p->n_devices; d++)
        best = time_on(p, d) < time_on(p, best) ? d : best;
    return best;
}

// False: it would be the same as another cut.
static bool share_out(struct cutting *k, enum share how) {
    const struct placement *p = k->p;
    int32_t best = fastest(p);
    double all = 0, so_far = 0;
    bool same = true;
    for (int32_t pass = 0; pass < 2; pass++)
        for (int32_t d = 0; d < p->n_devices; d++) {
            double part = how == BY_TIME    ? 1 / time_on(p, d)
                          : how == BY_BYTES ? bytes_on(p, d)
                                            : (double)(d == best);
            same = same && time_on(p, d) <= time_on(p, best);
            all += pass == 0 ? part : 0;
            so_far += pass == 0 ? 0 : part;
            k->until[d] = so_far / all;
        }
    return how != FASTEST || !same;
}

// The device of a backward node. Inputs are sorted, so the last one counts.
static int32_t follow(const struct cutting *k, int32_t v) {
    const struct problem *g = &k->p->graph;
    int32_t device = k->p->n_devices - 1;
    bool forward = false;
    while (device > 0 && k->until[device - 1] >= 1)
        device--;
    for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++) {
        int32_t u = g->in_of[e];
        if (!g->backward[u] || !forward)
            device = k->device[u];
        forward = forward || !g->backward[u];
    }
    return device;
}

static bool cut(struct cutting *k, enum share how) {
    const struct problem *g = &k->p->graph;
    int32_t *home = ARENA_ARRAY(k->scratch, int32_t, k->p->n_groups);
    double all = 0, so_far = 0;
    if (!(k->ok = k->ok && home) || !share_out(k, how))
        return false;
    for (int32_t v = 0; v < g->n; v++)
        all += g->backward[v] ? 0 : (double)weight_of(k->p, v, how);
    for (int32_t v = 0; v < g->n; v++) {
        int32_t *group = &home[k->p->group[v]], device = 0;
        if (!g->backward[v]) {
            so_far += (double)weight_of(k->p, v, how);
            while (device < k->p->n_devices - 1 && (so_far - 0.5) / all >= k->until[device])
                device++;
        }
        if (g->backward[v])
            device = follow(k, v);
        if (!*group)
            *group = device + 1;
        k->device[v] = *group - 1;
        if (!placement_runs_on(k->p, v, k->device[v]))
            return false;
    }
    return true;
}

// ---- Plan ----

static bool is_read_on(const struct cutting *k, int32_t v, int32_t device) {
    const struct problem *g = &k->p->graph;
    for (int32_t e = g->out_start[v]; e < g->out_start[v + 1]; e++)
        if (k->device[g->out_of[e]] == device)
            return true;
    return false;
}

static status make_part(struct cutting *k, int32_t device, struct diags *d) {
    const struct problem *g = &k->p->graph;
    struct part *part = &k->part[device];
    struct problem_edge *edge = ARENA_ARRAY(k->scratch, struct problem_edge, g->n_edges);
    int64_t n_edges = 0, fixed = g->persistent_bytes;
    int32_t n = 0;
    *part = (struct part){.node = ARENA_ARRAY(k->scratch, int32_t, g->n),
                          .local = ARENA_ARRAY(k->scratch, int32_t, g->n)};
    if (!part->node || !part->local || !edge)
        return diag_out_of_memory(d);
    for (int32_t v = 0; v < g->n; v++)
        if (k->device[v] == device || is_read_on(k, v, device)) {
            part->node[n++] = v;
            part->local[v] = n;
        }
    status st = problem_alloc(k->scratch, d, n, &part->problem);
    for (int32_t i = 0; i < n && !st; i++) {
        int32_t v = part->node[i];
        bool mine = k->device[v] == device;
        part->problem.bytes[i] = g->bytes[v];
        part->problem.once[i] = !mine || g->once[v];
        if (!mine)
            continue;
        part->problem.cost[i] = placement_cost(k->p, v, device);
        part->problem.workspace[i] = g->workspace[v];
        part->problem.keep[i] = g->keep[v];
        fixed += k->p->resident_bytes[v];
        for (int32_t e = g->in_start[v]; e < g->in_start[v + 1]; e++)
            edge[n_edges++] = (struct problem_edge){part->local[g->in_of[e]] - 1, i};
    }
    part->problem.persistent_bytes = fixed;
    return st ? st : problem_link(k->scratch, d, edge, n_edges, NULL, &part->problem);
}

// If nothing fits, all values are kept: the search may still fit them, with other devices or the
// host.
static status plan_part(struct cutting *k, int32_t device, struct diags *d) {
    struct part *part = &k->part[device];
    status st = make_part(k, device, d);
    if (st || part->problem.n == 0)
        return st;
    struct schedule s;
    struct solve_options o = solve_defaults();
    o.budget_bytes = k->p->place[device].memory_bytes;
    o.free_order = false;
    o.gap = INITIAL_GAP;
    o.seconds = k->effort->seconds / (SHARES * k->p->n_devices);
    o.work = (int64_t)WORK_PER_NODE * part->problem.n;
    o.seed = k->effort->seed;
    o.threads = 1;
    o.worker_path = k->effort->worker_path;
    struct solve_hooks hooks = {.stop = k->effort->stop};
    st = solve(&part->problem, &o, &hooks, k->scratch, d, &s);
    if (st == ST_INFEASIBLE || st == ST_NO_PLAN) {
        o.method = "keep-all";
        o.budget_bytes = BUDGET_NONE;
        st = solve(&part->problem, &o, &hooks, k->scratch, d, &s);
    }
    part->steps = s.steps;
    return st;
}

// ---- Merge ----

static void add_task(struct cutting *k, int32_t node, int32_t place, int32_t from) {
    k->task[k->n_tasks++] = (struct task){.node = node, .place = place, .from = from};
}

// Adds the device's runs up to the step that first makes `v` available; skips that step.
static void advance(struct cutting *k, int32_t device, int32_t v) {
    struct part *part = &k->part[device];
    int32_t until = part->local[v] - 1;
    for (; part->at < part->steps.n; part->at++) {
        const struct step *s = &part->steps.at[part->at];
        if (s->kind != STEP_COMPUTE)
            continue;
        if (s->node == until)
            break;
        add_task(k, part->node[s->node], device, TASK_RUN);
    }
    part->at++;
}

static void send(struct cutting *k, int32_t v, int32_t from, int32_t to) {
    const struct route *r = placement_route(k->p, from, to);
    bool through = r->n_resources < 0 || r->via_host;
    if (through)
        add_task(k, v, k->p->host, from);
    add_task(k, v, to, through ? k->p->host : from);
}

static bool merge(struct cutting *k, struct strategy *out) {
    const struct placement *p = k->p;
    size_t max_tasks = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
        max_tasks += 2 * (size_t)k->part[d].steps.n;
    k->n_tasks = 0;
    if (!(k->task = ARENA_ARRAY(k->arena, struct task, max_tasks)))
        return false;
    for (int32_t v = 0; v < p->graph.n; v++) {
        int32_t home = k->device[v];
        advance(k, home, v);
        add_task(k, v, home, TASK_RUN);
        for (int32_t d = 0; d < p->n_devices; d++)
            if (d != home && k->part[d].local[v]) {
                advance(k, d, v);
                send(k, v, home, d);
            }
    }
    *out = (struct strategy){k->task, k->n_tasks};
    return true;
}

// ---- All stages ----

static bool attempt(struct cutting *k, enum share how, struct strategy *out) {
    struct diags quiet = diags_make(k->scratch);
    if (!cut(k, how))
        return false;
    for (int32_t d = 0; d < k->p->n_devices; d++) {
        status st = plan_part(k, d, &quiet);
        k->ok = k->ok && st != ST_LIMIT;
        if (st)
            return false;
    }
    k->ok = merge(k, out);
    return k->ok;
}

int32_t place_remat(const struct placement *p, const struct remat_effort *effort, struct arena *a,
                    struct strategy *out, int32_t max_n) {
    int32_t n = 0;
    bool ok = true;
    for (int how = 0; p->graph.has_forward && how < SHARES && n < max_n && ok; how++) {
        struct arena scratch = arena_make(a->mem);
        struct cutting k = {.p = p,
                            .effort = effort,
                            .arena = a,
                            .scratch = &scratch,
                            .device = ARENA_ARRAY(&scratch, int32_t, p->graph.n),
                            .until = ARENA_ARRAY(&scratch, double, p->n_devices),
                            .part = ARENA_ARRAY(&scratch, struct part, p->n_devices)};
        k.ok = k.device && k.until && k.part;
        if (k.ok && !stop_now(effort->stop))
            n += attempt(&k, (enum share)how, &out[n]);
        ok = k.ok;
        arena_free(&scratch);
    }
    return ok ? n : -1;
}
