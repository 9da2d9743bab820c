// The Metropolis-Hastings loop: see mcmc.h.
#include "solver/place/mcmc.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define WORTHLESS    1e250 // in place of an objective that is not finite
#define GUIDE_WEIGHT 0.02  // of the mean load, beside the objective

bool mcmc_make(struct arena *a, const struct placement *p, const struct mcmc_objective *objective,
               struct mcmc_allowed allowed, struct rng rng, struct mcmc *out) {
    assert(p->n_devices > 0 && (objective->goal != MCMC_CUSTOM || objective->value));
    *out = (struct mcmc){.p = p,
                         .objective = *objective,
                         .allowed = allowed,
                         .rng = rng,
                         .temperature = 0.01,
                         .best_value = INFINITY};
    out->nodes = ARENA_ARRAY(a, int32_t, p->graph.n);
    out->is_listed = ARENA_ARRAY(a, bool, p->graph.n);
    out->earliest = ARENA_ARRAY(a, int32_t, p->n_places);
    out->block = ARENA_ARRAY(a, int32_t, p->graph.n);
    out->peak_at = ARENA_ARRAY(a, int32_t, p->n_places);
    out->over = ARENA_ARRAY(a, bool, p->n_places);
    if (!out->nodes || !out->is_listed || !out->earliest || !out->block || !out->peak_at ||
        !out->over || !sim_make(a, p, &out->sim))
        return false;
    out->sim.untimed = objective->goal == MCMC_THROUGHPUT && !p->has_sizes;
    return true;
}

double mcmc_cost(const struct mcmc *c) {
    return c->value + c->guide + c->price.now * (double)c->excess_bytes;
}

// ---- The value of a state ----

double mcmc_value(const struct mcmc_objective *o, const struct sim_result *r) {
    struct mcmc_values v = {(double)r->makespan_cost, (double)r->load_cost, (double)r->peak_bytes,
                            (double)r->moved_bytes, r->energy};
    switch (o->goal) {
    case MCMC_LATENCY:
        return v.makespan;
    case MCMC_THROUGHPUT:
        return v.load;
    default:
        v.makespan = o->value(o->context, &v);
        return isfinite(v.makespan) ? v.makespan : WORTHLESS;
    }
}

double mcmc_value_of_facts(const struct mcmc_objective *o, const struct placement *p,
                           const struct strategy_facts *facts) {
    struct sim_result r = {.makespan_cost = facts->makespan_cost,
                           .load_cost = facts->load_cost,
                           .moved_bytes = facts->moved_bytes,
                           .energy = (double)facts->energy};
    for (int32_t k = 0; k < p->n_devices; k++)
        if (facts->peak_bytes[k] > r.peak_bytes)
            r.peak_bytes = facts->peak_bytes[k];
    return mcmc_value(o, &r);
}

// The root mean square of the loads: of states of equal value, those with even loads are closer to
// better ones.
static double guide_of(const struct mcmc *c) {
    double sum = 0;
    if (c->objective.goal == MCMC_CUSTOM)
        return 0;
    for (int32_t q = 0; q < c->p->n_resources; q++)
        sum += (double)c->sim.busy_cost[q] * (double)c->sim.busy_cost[q];
    return GUIDE_WEIGHT * sqrt(sum / c->p->n_devices);
}

static void note_peaks(struct mcmc *c) {
    const struct sim *s = &c->sim;
    if (s->untimed || c->excess_bytes == 0)
        return;
    for (int32_t k = 0; k < c->p->n_places; k++) {
        c->peak_at[k] = (int32_t)s->peak_at[k];
        c->over[k] = s->base_bytes[k] + s->peak[k] > c->p->place[k].memory_bytes;
    }
}

static void note_best(struct mcmc *c) {
    struct sim *s = &c->sim;
    if (c->excess_bytes > 0 || c->value >= c->best_value)
        return;
    if (s->n_in > c->cap_best) {
        int32_t cap = s->n_in + s->n_in / 2;
        struct task *best = ARENA_ARRAY(s->arena, struct task, cap);
        if (!best) {
            s->broken = true;
            return;
        }
        c->best = best;
        c->cap_best = cap;
    }
    c->n_best = sim_save(s, c->best);
    c->best_value = c->value;
}

bool mcmc_start(struct mcmc *c, const struct strategy *x) {
    const struct placement *p = c->p;
    assert(x->n > 0);
    if (!sim_load(&c->sim, x))
        return false;
    c->value = mcmc_value(&c->objective, &c->sim.result);
    c->guide = guide_of(c);
    c->excess_bytes = c->sim.result.excess_bytes;
    if (c->price.now == 0) {
        double bytes = 1;
        for (int32_t i = 0; i < p->graph.n; i++)
            bytes += (double)(p->graph.bytes[i] + p->resident_bytes[i]);
        excess_price_reset(&c->price, 4 * (c->value + 1) / bytes);
    }
    note_peaks(c);
    note_best(c);
    return true;
}

// ---- Proposals ----

// Shares of the kinds, of 64: for states within memory, over memory, and when only the devices
// matter.
static const int32_t share_fits[MCMC_KINDS] = {14, 6, 8, 6, 4, 6, 16, 2, 2};
static const int32_t share_over[MCMC_KINDS] = {10, 5, 6, 4, 3, 4, 8, 14, 10};
static const int32_t share_plain[MCMC_KINDS] = {24, 6, 10, 20, 2, 2, 0, 0, 0};

static bool is_allowed(const struct mcmc *c, enum mcmc_kind kind) {
    bool several = c->p->n_devices > 1;
    switch (kind) {
    case MCMC_DUPLICATE:
        return c->allowed.duplicates && several;
    case MCMC_DROP:
        return c->allowed.duplicates || c->allowed.recompute || c->allowed.offload;
    case MCMC_RECOMPUTE:
        return c->allowed.recompute;
    case MCMC_OFFLOAD:
        return c->allowed.offload;
    case MCMC_ORDER:
        return c->allowed.order;
    default:
        return c->allowed.devices && several;
    }
}

static enum mcmc_kind choose(struct mcmc *c) {
    const int32_t *share = c->sim.untimed        ? share_plain
                           : c->excess_bytes > 0 ? share_over
                                                 : share_fits;
    int32_t sum = 0, kind = 0;
    for (int32_t k = 0; k < MCMC_KINDS; k++)
        sum += is_allowed(c, (enum mcmc_kind)k) ? share[k] : 0;
    if (sum == 0)
        return MCMC_ORDER;
    for (int32_t left = mcmc_random(c, sum);; kind++) {
        int32_t part = is_allowed(c, (enum mcmc_kind)kind) ? share[kind] : 0;
        if (left < part)
            return (enum mcmc_kind)kind;
        left -= part;
    }
}

bool mcmc_propose(struct mcmc *c, enum mcmc_kind *kind) {
    static bool (*const moves[MCMC_KINDS])(struct mcmc *) = {
        mcmc_move_node, mcmc_move_block, mcmc_move_boundary,  mcmc_move_swap,   mcmc_move_duplicate,
        mcmc_move_drop, mcmc_move_order, mcmc_move_recompute, mcmc_move_offload};
    *kind = choose(c);
    bool some = moves[*kind](c);
    return mcmc_repair(c) && some;
}

// Whether the proposal is valid and cheap enough. One whose loads alone are too expensive is not
// simulated.
static bool evaluate(struct mcmc *c, double max_cost, double *value, double *guide) {
    struct sim *s = &c->sim;
    *guide = guide_of(c);
    double bound = c->price.now * (double)sim_resident_excess(s) + *guide;
    if (c->objective.goal != MCMC_CUSTOM)
        bound += (double)sim_load_cost(s);
    if (bound > max_cost)
        return false;
    bool timed = c->objective.goal == MCMC_LATENCY && max_cost - *guide < 9e18;
    if (sim_evaluate(s, timed ? (int64_t)(max_cost - *guide) : INT64_MAX) != SIM_VALID)
        return false;
    *value = mcmc_value(&c->objective, &s->result);
    return *value + *guide + c->price.now * (double)s->result.excess_bytes <= max_cost;
}

static void step(struct mcmc *c) {
    enum mcmc_kind kind;
    double cost = mcmc_cost(c), value, guide;
    double max_cost = cost - c->temperature * fabs(cost) * log(1 - rng_unit(&c->rng));
    bool has_proposal = mcmc_propose(c, &kind);
    c->count[kind].n_tried++;
    if (!has_proposal || !evaluate(c, max_cost, &value, &guide)) {
        sim_undo(&c->sim);
        return;
    }
    sim_commit(&c->sim);
    c->count[kind].n_accepted++;
    c->n_worse += value + guide > c->value + c->guide;
    c->value = value;
    c->guide = guide;
    c->excess_bytes = c->sim.result.excess_bytes;
    note_peaks(c);
    note_best(c);
}

int64_t mcmc_run(struct mcmc *c, int64_t n, const struct stop *stop) {
    int64_t k = 0;
    c->price.n_over = 0;
    for (; k < n && !c->sim.broken; k++) {
        if (k % EXCESS_PRICE_EVERY == 0) {
            if (k > 0)
                excess_price_adjust(&c->price);
            if (stop && stop_now(stop))
                break;
        }
        step(c);
        excess_price_note(&c->price, c->excess_bytes > 0);
    }
    return k;
}
