// Cycles of simulated annealing over pipelines of stages, or all of them: see stage_search.h.
#include "solver/stages/stage_search.h"

#include <assert.h>
#include <math.h>

#include "solver/check/stages_check.h"
#include "solver/stages/stage_state.h"

enum { CYCLE_PER_NODE = 1000, CYCLE_MAX = 1000000, STOP_EVERY = 256, ENUMERATION_MAX = 2500000 };
#define WARMEST     0.2 // temperatures, relative to the cost
#define COLDEST     1e-5
#define MIN_EVEN    1e-3 // weight of even loads beside the objective
#define SLACK_BYTES 0.05 // of memory: what the first price of excess bytes equals the cost at

struct annealer {
    const struct modal *p;
    const struct stage_options *o;
    const struct stop *stop;
    struct arena *arena;
    struct diags *diags;
    struct stage_result *out;
    struct stage_meter meter;
    struct stage_state now, next, best, start;
    struct rng rng;
    struct excess_price price;
    double cost; // of `now`
    int32_t *scratch;
    bool has_best;
    double best_value;
};

static double value_of(const struct annealer *a, const struct stage_worth *w) {
    const struct mcmc_objective *o = &a->o->objective;
    if (o->goal == MCMC_CUSTOM)
        return o->value(o->context, &(struct mcmc_values){w->makespan, w->load, w->peak_bytes,
                                                          w->moved_bytes, w->energy});
    return o->goal == MCMC_THROUGHPUT ? w->load : w->makespan;
}

static double cost_of(const struct annealer *a, const struct stage_worth *w) {
    if (w->is_wrong)
        return INFINITY;
    return value_of(a, w) + MIN_EVEN * w->evenness + a->price.now * w->excess_bytes;
}

// A state within memory that is better than the incumbent.
static void keep(struct annealer *a, const struct stage_state *s, const struct stage_worth *w) {
    int64_t excess = (int64_t)w->excess_bytes;
    double value = value_of(a, w);
    if (!w->is_wrong && excess < a->out->min_excess_bytes)
        a->out->min_excess_bytes = excess;
    if (w->is_wrong || w->excess_bytes > 0 || !isfinite(value) ||
        (a->has_best && value >= a->best_value))
        return;
    a->has_best = true;
    a->best_value = value;
    stage_state_copy(a->p, s, &a->best);
}

// ---- Initial solutions ----

// Everything in one stage of a degree, with so many replicas; false: impossible.
static bool in_one_stage(const struct annealer *a, int32_t degree, int32_t replicas,
                         struct stage_state *s) {
    const struct modal *p = a->p;
    int32_t width = degree * replicas;
    if (width > p->places.n_devices || (a->o->n_samples > 0 && a->o->n_samples % replicas != 0))
        return false;
    for (int32_t v = 0; v < p->graph.n; v++) {
        int32_t best = -1;
        s->order[v] = v;
        for (int32_t m = p->mode_start[v]; m < p->mode_start[v + 1]; m++)
            if (p->mode[m].degree == degree && stage_can_run(p, m, 0, width) &&
                (best < 0 || p->mode[m].cost[0] < p->mode[best].cost[0]))
                best = m;
        if (best < 0)
            return false;
        s->choice[v] = (struct stage_choice){best, 0, replicas};
    }
    stage_state_index(p, s);
    return true;
}

// Every node in its mode of the least cost by itself, on the first devices that can run it.
static bool each_fastest(const struct annealer *a, struct stage_state *s) {
    const struct modal *p = a->p;
    for (int32_t v = 0; v < p->graph.n; v++) {
        struct stage_choice best = {-1, 0, 1};
        s->order[v] = v;
        for (int32_t m = p->mode_start[v]; m < p->mode_start[v + 1]; m++)
            for (int32_t f = 0; f + p->mode[m].degree <= p->places.n_devices; f++)
                if (stage_can_run(p, m, f, p->mode[m].degree) &&
                    (best.mode < 0 || p->mode[m].cost[f] < p->mode[best.mode].cost[best.first]))
                    best = (struct stage_choice){m, f, 1};
        if (best.mode < 0)
            return false;
        s->choice[v] = best;
    }
    stage_state_index(p, s);
    return true;
}

static void consider(struct annealer *a, const struct stage_state *s) {
    struct stage_worth w = stage_measure(&a->meter, s);
    keep(a, s, &w);
    double cost = cost_of(a, &w);
    if (!(cost >= a->cost)) {
        a->cost = cost;
        stage_state_copy(a->p, s, &a->now);
    }
}

static bool split(struct annealer *a, struct stage_state *s) {
    struct arena scratch = arena_make(a->arena->mem);
    bool done = stage_split(a->p, a->o->n_samples, &scratch, s);
    arena_free(&scratch);
    return done;
}

// The state of given stages, whose devices must follow each other.
static bool from_stages(const struct annealer *a, const struct stages *x, struct stage_state *s) {
    for (int32_t k = 0; k < x->n; k++)
        for (int32_t i = x->at[k].start; i < x->at[k].end; i++) {
            const struct stage *y = &x->at[k];
            s->order[i] = x->order[i];
            s->choice[x->order[i]] =
                (struct stage_choice){x->mode[x->order[i]], y->device[0], y->replicas};
            if (y->device[y->n_devices - 1] != y->device[0] + y->n_devices - 1)
                return false;
        }
    stage_state_index(a->p, s);
    return true;
}

static void start_all(struct annealer *a) {
    const struct modal *p = a->p;
    a->cost = INFINITY;
    if (a->o->initial && from_stages(a, a->o->initial, &a->start))
        consider(a, &a->start);
    if (each_fastest(a, &a->start))
        consider(a, &a->start);
    for (int32_t degree = 1; degree <= p->max_degree; degree++)
        for (int32_t r = 1; r * degree <= p->places.n_devices; r++)
            if (in_one_stage(a, degree, r, &a->start))
                consider(a, &a->start);
    for (int32_t v = 0; v < p->graph.n; v++)
        a->start.order[v] = v;
    stage_state_index(p, &a->start);
    if (split(a, &a->start))
        consider(a, &a->start);
}

// ---- Annealing ----

static void step(struct annealer *a, double temperature) {
    stage_state_copy(a->p, &a->now, &a->next);
    if (!stage_propose(a->p, a->o->n_samples, &a->rng, &a->next))
        return;
    struct stage_worth w = stage_measure(&a->meter, &a->next);
    double cost = cost_of(a, &w), drop = a->cost - cost;
    keep(a, &a->next, &w);
    excess_price_note(&a->price, w.excess_bytes > 0);
    if (drop < 0 && rng_unit(&a->rng) >= exp(drop / (temperature * (fabs(a->cost) + 1e-300))))
        return;
    struct stage_state old = a->now;
    a->now = a->next;
    a->next = old;
    a->cost = cost;
}

static bool is_over(const struct annealer *a) {
    return (a->o->work > 0 && a->out->n_proposals >= a->o->work) || stop_now(a->stop) ||
           (a->has_best && a->best_value <= a->out->bound);
}

static void cool_down(struct annealer *a, int64_t n) {
    double ratio = pow(COLDEST / WARMEST, 1 / (double)n), temperature = WARMEST;
    for (int64_t k = 0; k < n; k++, temperature *= ratio) {
        if (k % STOP_EVERY == 0 && is_over(a))
            return;
        if (k % EXCESS_PRICE_EVERY == 0) { // the price is part of the cost
            excess_price_adjust(&a->price);
            struct stage_worth w = stage_measure(&a->meter, &a->now);
            a->cost = cost_of(a, &w);
        }
        a->out->n_proposals++;
        step(a, temperature);
    }
}

// Cycles begin with the incumbent, with the split of a new order, and with a new order whose nodes
// are where they were, in turn.
static void restart(struct annealer *a, int64_t cycle) {
    if (cycle > 0 && a->has_best)
        stage_state_copy(a->p, &a->best, &a->now);
    if (cycle % 3 == 2)
        stage_random_order(a->p, rng_unit(&a->rng), &a->rng, a->scratch, &a->now);
    if (cycle % 3 == 1) {
        stage_random_order(a->p, rng_unit(&a->rng), &a->rng, a->scratch, &a->start);
        if (split(a, &a->start)) {
            struct stage_worth w = stage_measure(&a->meter, &a->start);
            keep(a, &a->start, &w);
            stage_state_copy(a->p, &a->start, &a->now);
        }
    }
    struct stage_worth w = stage_measure(&a->meter, &a->now);
    a->cost = cost_of(a, &w);
}

// ---- Small problems ----

static bool visit(void *context, const struct stage_state *s) {
    struct annealer *a = context;
    struct stage_worth w = stage_measure(&a->meter, s);
    keep(a, s, &w);
    return ++a->out->n_proposals % STOP_EVERY != 0 || !stop_now(a->stop);
}

// With few states, all of them: the best is then optimal.
static bool enumerate(struct annealer *a) {
    struct arena scratch = arena_make(a->arena->mem);
    int64_t most = ENUMERATION_MAX;
    if (a->o->work > 0 && a->o->work < most)
        most = a->o->work;
    bool done = stage_enumerate(
        &(struct stage_enumeration){a->p, a->o->n_samples, most, &a->start, visit, a}, &scratch);
    arena_free(&scratch);
    if (done && a->has_best)
        a->out->bound = a->best_value;
    return done;
}

// ---- The result ----

static status write_best(struct annealer *a) {
    const struct modal *p = a->p;
    struct stages *s = &a->out->best;
    int32_t n = p->graph.n, *device = ARENA_ARRAY(a->arena, int32_t, p->places.n_devices);
    *s = (struct stages){.at = ARENA_ARRAY(a->arena, struct stage, n),
                         .order = a->best.order,
                         .mode = ARENA_ARRAY(a->arena, int32_t, n),
                         .n_samples = a->o->n_samples};
    if (!s->at || !s->mode || !device)
        return diag_out_of_memory(a->diags);
    for (int32_t d = 0; d < p->places.n_devices; d++)
        device[d] = d;
    for (int32_t i = 0; i < n; i++) {
        const struct stage_choice *c = &a->best.choice[s->order[i]];
        if (i == 0 || !stage_joins(p, &a->best.choice[s->order[i - 1]], c))
            s->at[s->n++] = (struct stage){stage_width(p, c), c->replicas, &device[c->first], i, i};
        s->at[s->n - 1].end = i + 1;
        s->mode[s->order[i]] = c->mode;
    }
    status st = stages_check(p, s, a->arena, a->diags, &a->out->facts);
    if (st == ST_OK && a->out->facts.excess_bytes > 0)
        st = diag_error(a->diags, DIAG_INTERNAL, loc_none(),
                        "the stages found need more memory than the search has counted");
    const struct stages_facts *f = &a->out->facts;
    int64_t peak = 0;
    for (int32_t d = 0; st == ST_OK && d < p->places.n_devices; d++)
        peak = f->peak_bytes[d] > peak ? f->peak_bytes[d] : peak;
    struct stage_worth w = {.load = (double)f->load_cost,
                            .makespan = (double)f->makespan_cost,
                            .peak_bytes = (double)peak,
                            .moved_bytes = (double)f->moved_bytes,
                            .energy = (double)f->energy};
    a->out->value = value_of(a, &w);
    return st;
}

// The least time and the least work (time by devices) of a node in any mode.
static void min_time_work(const struct modal *p, int32_t v, double *time, double *work) {
    *time = *work = INFINITY;
    for (int32_t m = p->mode_start[v]; m < p->mode_start[v + 1]; m++)
        for (int32_t d = 0; p->mode[m].cost && d < p->places.n_devices; d++) {
            double cost = (double)p->mode[m].cost[d];
            *time = cost >= 0 ? fmin(*time, cost) : *time;
            *work = cost >= 0 ? fmin(*work, cost * p->mode[m].degree) : *work;
        }
}

// The load of a device is at least the mean of the work; a sample takes at least the longest path.
static double lower_bound(const struct modal *p, const struct stage_options *o,
                          struct arena *scratch) {
    double sum = 0, longest = 0, *end = ARENA_ARRAY(scratch, double, p->graph.n);
    if (!end || o->objective.goal == MCMC_CUSTOM)
        return -INFINITY;
    for (int32_t v = 0; v < p->graph.n; v++) {
        double time, work;
        min_time_work(p, v, &time, &work);
        for (int32_t e = p->graph.in_start[v]; e < p->graph.in_start[v + 1]; e++)
            end[v] = fmax(end[v], end[p->graph.in_of[e]]);
        end[v] += time;
        longest = fmax(longest, end[v]);
        sum += work;
    }
    double load = ceil(sum / p->places.n_devices - 1e-6);
    if (o->objective.goal == MCMC_THROUGHPUT)
        return load;
    return fmax(load, longest) + (double)(o->n_samples > 1 ? o->n_samples - 1 : 0) * load;
}

static status make_annealer(struct annealer *a) {
    const struct modal *p = a->p;
    double memory = 0;
    for (int32_t d = 0; d < p->places.n_devices; d++)
        memory = fmax(memory, fmin(0x1p60, (double)p->places.place[d].memory_bytes));
    a->scratch = ARENA_ARRAY(a->arena, int32_t, 2 * p->graph.n);
    bool ok = a->scratch && stage_meter_make(p, a->o, a->arena, &a->meter) &&
              stage_state_make(p, a->arena, &a->now) && stage_state_make(p, a->arena, &a->next) &&
              stage_state_make(p, a->arena, &a->best) && stage_state_make(p, a->arena, &a->start);
    if (!ok)
        return diag_out_of_memory(a->diags);
    excess_price_reset(&a->price, 0);
    start_all(a);
    excess_price_reset(&a->price, fabs(a->cost) / (SLACK_BYTES * memory + 1));
    return ST_OK;
}

status stage_search(const struct modal *p, const struct stage_options *o, const struct stop *stop,
                    struct arena *arena, struct diags *d, struct stage_result *out) {
    assert(p->graph.n > 0 && out);
    struct stop own = stop_child(stop, o->seconds > 0 ? o->seconds : INFINITY);
    struct annealer a = {.p = p,
                         .o = o,
                         .stop = &own,
                         .arena = arena,
                         .diags = d,
                         .out = out,
                         .rng = rng_make(o->seed, 0)};
    *out = (struct stage_result){.min_excess_bytes = INT64_MAX, .bound = lower_bound(p, o, arena)};
    status st = make_annealer(&a);
    if (st != ST_OK)
        return st;
    int64_t length = (int64_t)CYCLE_PER_NODE * p->graph.n;
    bool is_done = enumerate(&a);
    for (int64_t cycle = 0; !is_done && !is_over(&a); cycle++) {
        restart(&a, cycle);
        cool_down(&a, length);
        length = length < CYCLE_MAX ? length + length / 2 : length; // some short, some long
    }
    return a.has_best ? write_best(&a) : ST_NO_PLAN;
}
