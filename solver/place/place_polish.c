// Polishing of one device: see place_polish.h. Stages:
//   extract  a problem of the device's part, in the order in which its nodes first occur: a node
//   for
//            each that it runs, one for each fetch to it, which runs once, and one for each fetch
//            from it, which reads what is sent. The current part is a schedule of that problem
//   solve    within the memory that resident bytes leave
//   splice   the runs of the new schedule replace those of the device; fetches stay, and recomputed
//            runs come right before the first of these that needs them
//   evaluate by the simulator. A transfer holds its source longer than the problem models, so the
//            device may still be over its memory: then again with a smaller budget
#include "solver/place/place_polish.h"

#include <assert.h>
#include <string.h>

#include "solver/solve.h"

enum { TRIES = 3 };

struct polisher {
    const struct placement *p;
    const struct mcmc_objective *objective;
    const struct polish_effort *effort;
    struct arena *scratch; // of one device
    struct diags *diags;
    struct sim sim;
    struct strategy s; // the incumbent
    int64_t excess_bytes;
    double value;

    int32_t device;
    struct problem problem;
    int32_t *node;        // per problem node: that of the placement; of a fetch: SIM_NONE
    int32_t *at;          // per task of s: its problem node; SIM_NONE: of another device
    struct sequence part; // the device's tasks as problem nodes
};

// ---- Extract ----

struct extraction {
    int32_t *runs;   // per node: the problem node of its runs
    int32_t *latest; // per node: that of its latest instance on the device
    struct problem_edge *edge;
    int64_t n_edges;
    int32_t n;
};

static void add_node(struct polisher *f, struct extraction *x, int32_t k) {
    const struct task *t = &f->s.at[k];
    const struct problem *g = &f->p->graph;
    int32_t i = x->n++;
    bool runs = t->from == TASK_RUN;
    f->node[i] = runs ? t->node : SIM_NONE;
    f->at[k] = i;
    if (runs) {
        x->runs[t->node] = i;
        for (int32_t e = g->in_start[t->node]; e < g->in_start[t->node + 1]; e++)
            x->edge[x->n_edges++] = (struct problem_edge){x->latest[g->in_of[e]], i};
    } else if (t->place != f->device) {
        x->edge[x->n_edges++] = (struct problem_edge){x->latest[t->node], i};
    }
}

// Numbers the device's tasks, and finds the inputs of each where it first occurs.
static void number(struct polisher *f, struct extraction *x) {
    for (int32_t v = 0; v < f->p->graph.n; v++)
        x->runs[v] = x->latest[v] = SIM_NONE;
    f->part.n = 0;
    for (int32_t k = 0; k < f->s.n; k++) {
        const struct task *t = &f->s.at[k];
        f->at[k] = SIM_NONE;
        if (t->place != f->device && t->from != f->device)
            continue;
        if (t->from == TASK_RUN && x->runs[t->node] != SIM_NONE)
            f->at[k] = x->runs[t->node];
        else
            add_node(f, x, k);
        if (t->place == f->device)
            x->latest[t->node] = f->at[k];
        f->part.at[f->part.n++] = f->at[k];
    }
}

static void fill(struct polisher *f, bool *is_kept) {
    const struct problem *g = &f->p->graph;
    f->problem.persistent_bytes = g->persistent_bytes;
    for (int32_t k = 0; k < f->s.n; k++) {
        const struct task *t = &f->s.at[k];
        int32_t i = f->at[k];
        if (i == SIM_NONE)
            continue;
        bool runs = t->from == TASK_RUN;
        f->problem.bytes[i] = t->place == f->device ? g->bytes[t->node] : 0;
        f->problem.once[i] = !runs || g->once[t->node];
        f->problem.cost[i] = runs ? placement_cost(f->p, t->node, f->device) : 0;
        f->problem.workspace[i] = runs ? g->workspace[t->node] : 0;
    }
    for (int32_t i = 0; i < f->problem.n; i++)
        f->problem.persistent_bytes += f->node[i] >= 0 ? f->p->resident_bytes[f->node[i]] : 0;
    // The last run of a node over all devices is the one that is kept.
    for (int32_t k = f->s.n; k-- > 0;) {
        int32_t v = f->s.at[k].node;
        if (f->s.at[k].from != TASK_RUN || !g->keep[v] || is_kept[v])
            continue;
        is_kept[v] = true;
        if (f->at[k] != SIM_NONE)
            f->problem.keep[f->at[k]] = true;
    }
}

static status extract(struct polisher *f) {
    const struct problem *g = &f->p->graph;
    size_t n = (size_t)f->s.n, n_edges = n;
    for (int32_t k = 0; k < f->s.n; k++)
        n_edges += (size_t)(g->in_start[f->s.at[k].node + 1] - g->in_start[f->s.at[k].node]);
    struct extraction x = {.runs = ARENA_ARRAY(f->scratch, int32_t, g->n),
                           .latest = ARENA_ARRAY(f->scratch, int32_t, g->n),
                           .edge = ARENA_ARRAY(f->scratch, struct problem_edge, n_edges)};
    f->node = ARENA_ARRAY(f->scratch, int32_t, n);
    f->at = ARENA_ARRAY(f->scratch, int32_t, n);
    f->part.at = ARENA_ARRAY(f->scratch, int32_t, n);
    bool *is_kept = ARENA_ARRAY(f->scratch, bool, g->n);
    if (!x.runs || !x.latest || !x.edge || !f->node || !f->at || !f->part.at || !is_kept)
        return diag_out_of_memory(f->diags);
    number(f, &x);
    if (x.n == 0) {
        f->problem.n = 0;
        return ST_OK;
    }
    status st = problem_alloc(f->scratch, f->diags, x.n, &f->problem);
    if (st)
        return st;
    fill(f, is_kept);
    return problem_link(f->scratch, f->diags, x.edge, x.n_edges, NULL, &f->problem);
}

// ---- Splice ----

// The runs of the schedule up to the problem node, where it first occurs; that one itself is
// passed.
static int32_t advance(const struct polisher *f, const struct steps *steps, int32_t at,
                       int32_t until, struct strategy *out) {
    for (; at < steps->n; at++) {
        int32_t i = steps->at[at].node;
        if (steps->at[at].kind != STEP_COMPUTE)
            continue;
        if (i == until)
            return at + 1;
        out->at[out->n++] = (struct task){f->node[i], f->device, TASK_RUN};
    }
    return at;
}

static bool splice(struct polisher *f, const struct steps *steps, struct arena *a,
                   struct strategy *out) {
    bool *seen = ARENA_ARRAY(f->scratch, bool, f->problem.n);
    *out = (struct strategy){ARENA_ARRAY(a, struct task, (size_t)f->s.n + (size_t)steps->n), 0};
    if (!seen || !out->at)
        return false;
    int32_t at = 0;
    for (int32_t k = 0; k < f->s.n; k++) {
        int32_t i = f->at[k];
        if (i != SIM_NONE && seen[i])
            continue; // a recomputation: the schedule has its own
        if (i != SIM_NONE) {
            at = advance(f, steps, at, i, out);
            seen[i] = true;
        }
        out->at[out->n++] = f->s.at[k];
    }
    advance(f, steps, at, SIM_NONE, out);
    return true;
}

// ---- Solve and evaluate ----

static status solve_part(struct polisher *f, int64_t budget, double seconds, struct schedule *out) {
    struct solve_options o = solve_defaults();
    struct steps start;
    struct sequence_facts facts;
    if (!sequence_measure(&f->problem, f->part, f->scratch, &facts))
        return diag_out_of_memory(f->diags);
    if (facts.wrong_at < 0 && sequence_to_steps(&f->problem, f->part, f->scratch, &start)) {
        o.initial = &start;
        o.n_initial = 1;
    }
    o.budget_bytes = budget;
    o.free_order = false;
    o.gap = f->effort->gap;
    o.seconds = seconds;
    o.work = f->effort->work_per_node * f->problem.n;
    o.seed = f->effort->seed;
    o.threads = 1;
    o.worker_path = f->effort->worker_path;
    struct solve_hooks hooks = {.stop = f->effort->stop};
    return solve(&f->problem, &o, &hooks, f->scratch, f->diags, out);
}

static double value_of(const struct polisher *f) {
    return mcmc_value(f->objective, &f->sim.result);
}

// Takes the strategy if it is better. *over: its excess on the device.
static bool take_if_better(struct polisher *f, struct strategy x, int64_t *over, bool *better) {
    *over = 0;
    if (!sim_load(&f->sim, &x))
        return !f->sim.broken;
    int64_t excess = f->sim.result.excess_bytes, memory = f->p->place[f->device].memory_bytes;
    *over = f->sim.base_bytes[f->device] + f->sim.peak[f->device] - memory;
    if (excess > f->excess_bytes || (excess == f->excess_bytes && value_of(f) >= f->value))
        return true;
    f->s = x;
    f->excess_bytes = excess;
    f->value = value_of(f);
    *better = true;
    return true;
}

// Whether polishing can help: the device recomputes something, or is over its memory.
static bool can_gain(struct polisher *f) {
    if (!sim_load(&f->sim, &f->s))
        return false;
    int32_t n_runs = 0, n_nodes = 0;
    for (int32_t k = 0; k < f->part.n; k++)
        n_runs += f->node[f->part.at[k]] >= 0;
    for (int32_t i = 0; i < f->problem.n; i++)
        n_nodes += f->node[i] >= 0;
    return n_runs > n_nodes || f->sim.base_bytes[f->device] + f->sim.peak[f->device] >
                                   f->p->place[f->device].memory_bytes;
}

static status polish_device(struct polisher *f, double seconds, struct arena *a, bool *better) {
    status st = extract(f);
    if (st || f->problem.n == 0 || !can_gain(f))
        return st;
    int64_t budget = f->p->place[f->device].memory_bytes, over = 1;
    for (int32_t k = 0; k < TRIES && over > 0 && !stop_now(f->effort->stop); k++) {
        struct schedule found;
        struct strategy x;
        bool mine = false;
        st = solve_part(f, budget, seconds / TRIES, &found);
        if (st)
            return st;
        if (!splice(f, &found.steps, a, &x) || !take_if_better(f, x, &over, &mine))
            return diag_out_of_memory(f->diags);
        *better = *better || mine;
        if (mine) // the extracted problem belongs to the old strategy
            return ST_OK;
        budget -= over > 0 ? over : 0;
    }
    return ST_OK;
}

status place_polish(const struct placement *p, const struct mcmc_objective *objective,
                    const struct polish_effort *effort, struct strategy s, struct arena *a,
                    struct strategy *out) {
    assert(s.n > 0);
    struct arena all = arena_make(a->mem);
    struct polisher f = {.p = p, .objective = objective, .effort = effort, .s = s};
    status st = ST_OK;
    bool better = false;
    *out = (struct strategy){0};
    if (!sim_make(&all, p, &f.sim) || !sim_load(&f.sim, &s))
        st = ST_LIMIT;
    f.excess_bytes = f.sim.result.excess_bytes;
    f.value = st ? 0 : value_of(&f);
    for (f.device = 0; f.device < p->n_devices && !st && !stop_now(effort->stop); f.device++) {
        struct arena scratch = arena_make(a->mem);
        struct diags quiet = diags_make(&scratch);
        f.scratch = &scratch;
        f.diags = &quiet;
        st = polish_device(&f, effort->seconds / p->n_devices, &all, &better);
        st = st == ST_LIMIT ? st : ST_OK; // without a schedule the device is unchanged
        arena_free(&scratch);
    }
    if (!st && better) {
        struct task *at = arena_copy(a, f.s.at, (size_t)f.s.n * sizeof *at);
        if (at)
            *out = (struct strategy){at, f.s.n};
        else
            st = ST_LIMIT;
    }
    arena_free(&all);
    return st;
}
