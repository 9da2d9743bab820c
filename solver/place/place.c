// Markov chains in rounds with replica exchange (parallel tempering): see place.h.
#include "solver/place/place_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "solver/parallel.h"

enum { ROUND_PROPOSALS = 1000, EXCHANGE_STREAM = 1 << 20 }; // proposals: mean of a chain
#define POLISH_SHARE     0.05 // of the time, for each polishing during the search
#define POLISH_END       0.1  // and at its end
#define COOLER_SHARE     0.6  // of the proposals of the next cooler rung
#define TEMPERATURE_STEP 1.2
#define MIN_TEMPERATURE  1e-7
#define MAX_TEMPERATURE  0.3
#define WORSE_LOWEST     0.002 // target share of proposals that are worse and accepted
#define WORSE_HIGHEST    0.1

struct place_options place_defaults(void) {
    return (struct place_options){.allowed = {true, true, true, true, true},
                                  .seconds = 30,
                                  .seed = 1,
                                  .n_chains = 8,
                                  .exchange = true,
                                  .checkpoint_seconds = 10};
}

// ---- The incumbent ----

static bool copy_best(struct place_search *s, const struct strategy *x) {
    struct strategy *best = &s->out->best;
    if (x->n > s->cap_best) {
        struct task *at = ARENA_ARRAY(s->arena, struct task, 2 * x->n);
        if (!at)
            return false;
        best->at = at;
        s->cap_best = 2 * x->n;
    }
    memcpy(best->at, x->at, (size_t)x->n * sizeof *x->at);
    best->n = x->n;
    return true;
}

status place_keep(struct place_search *s, const struct strategy *x, double value) {
    struct place_result *out = s->out;
    assert(x->n > 0);
    struct arena scratch = arena_make(s->arena->mem);
    struct diags d = diags_make(&scratch);
    struct strategy_facts f;
    status st = strategy_check(s->p, x, &scratch, &d, &f);
    bool is_custom = s->options->objective.goal == MCMC_CUSTOM; // may be rounded otherwise
    if (st == ST_OK && !is_custom && mcmc_value_of_facts(&s->options->objective, s->p, &f) != value)
        st = ST_VERIFY;
    if (st == ST_OK && !copy_best(s, x))
        st = ST_LIMIT;
    if (st == ST_OK) {
        out->value = value;
        struct place_event e = {value, f.makespan_cost, f.load_cost, place_team_proposals(s),
                                (double)(stop_clock_ns() - s->start_ns) * 1e-9};
        if (!VEC_PUSH(s->arena, &out->curve, e))
            st = ST_LIMIT;
        else if (s->hooks->improved)
            s->hooks->improved(s->hooks->context, &e, &out->best, &f);
    }
    arena_free(&scratch);
    out->n_refused += st == ST_VERIFY;
    return st == ST_LIMIT ? diag_out_of_memory(s->diags) : ST_OK;
}

void place_start_chain(struct place_search *s, struct place_chain *ch, const struct strategy *x) {
    if (mcmc_start(&ch->mc, x))
        return;
    ch->failed = true;
    s->out->n_refused += !ch->mc.sim.broken;
}

// The best of all chains, in the order of their numbers, is offered as the incumbent.
static status collect(struct place_search *s) {
    struct mcmc *better = NULL;
    for (int32_t k = 0; k < s->n_chains; k++) {
        struct mcmc *c = &s->chain[k].mc;
        if (c->n_best > 0 && c->best_value < (better ? better->best_value : s->out->value))
            better = c;
    }
    if (!better)
        return ST_OK;
    struct strategy best = {better->best, better->n_best};
    status st = place_keep(s, &best, better->best_value);
    if (s->out->value != better->best_value) { // refused
        better->n_best = 0;
        better->best_value = INFINITY;
    }
    return st;
}

// ---- Rounds ----

// The proposals of a round for each rung: fewer at higher temperatures, as chains at low
// ones find most incumbents and the others only diversify. The shares sum up to the round.
static int64_t share_of(const struct place_search *s, int32_t rung) {
    double all = 1 - pow(COOLER_SHARE, s->n_chains);
    double from = (1 - pow(COOLER_SHARE, rung)) / all;
    double to = (1 - pow(COOLER_SHARE, rung + 1)) / all;
    int64_t last = rung + 1 == s->n_chains ? s->in_round : (int64_t)(to * (double)s->in_round);
    return last - (int64_t)(from * (double)s->in_round);
}

static void run_chain(void *context, int32_t index) {
    struct place_search *s = context;
    struct place_chain *ch = &s->chain[index];
    ch->n_done = 0;
    if (ch->failed)
        return;
    int64_t before = ch->mc.n_worse;
    ch->mc.temperature = s->temperature[ch->rung];
    ch->n_done = mcmc_run(&ch->mc, share_of(s, ch->rung), s->stop);
    ch->n_worse = ch->mc.n_worse - before;
    ch->failed = ch->mc.sim.broken;
}

// Adapts each temperature to the share of worse states that its rung should accept.
static void adapt(struct place_search *s) {
    for (int32_t r = 0; r < s->n_chains; r++) {
        const struct place_chain *ch = &s->chain[s->at_rung[r]];
        double up = s->n_chains > 1 ? (double)r / (s->n_chains - 1) : 0.25;
        double wanted = WORSE_LOWEST * pow(WORSE_HIGHEST / WORSE_LOWEST, up);
        if (ch->failed || ch->n_done == 0)
            continue;
        bool cold = (double)ch->n_worse < wanted * (double)ch->n_done;
        double next = s->temperature[r] * (cold ? TEMPERATURE_STEP : 1 / TEMPERATURE_STEP);
        s->temperature[r] = fmin(fmax(next, MIN_TEMPERATURE), MAX_TEMPERATURE);
    }
}

bool place_swaps(double temperature_a, double cost_a, double temperature_b, double cost_b,
                 double unit) {
    double scale = fmin(cost_a, cost_b) + 1e-300;
    double gain = (1 / temperature_a - 1 / temperature_b) * (cost_a - cost_b) / scale;
    return log(1 - unit) < gain;
}

static void exchange(struct place_search *s) {
    for (int32_t r = (int32_t)(s->out->n_rounds % 2); r + 1 < s->n_chains; r += 2) {
        struct place_chain *cold = &s->chain[s->at_rung[r]], *hot = &s->chain[s->at_rung[r + 1]];
        double unit = rng_unit(&s->rng);
        if (cold->failed || hot->failed)
            continue;
        s->out->n_exchanges_tried++;
        if (!place_swaps(s->temperature[r], mcmc_cost(&cold->mc), s->temperature[r + 1],
                         mcmc_cost(&hot->mc), unit))
            continue;
        int32_t other = s->at_rung[r];
        s->at_rung[r] = s->at_rung[r + 1];
        s->at_rung[r + 1] = other;
        cold->rung = r + 1;
        hot->rung = r;
        s->out->n_exchanges++;
    }
}

// The worst chain of the coldest half restarts from the incumbent.
static void restart(struct place_search *s) {
    int32_t worst = -1;
    double most = s->out->value;
    if (s->out->best.n == 0)
        return;
    for (int32_t r = 0; r < (s->n_chains + 1) / 2; r++) {
        const struct place_chain *ch = &s->chain[s->at_rung[r]];
        if (!ch->failed && mcmc_cost(&ch->mc) > most) {
            most = mcmc_cost(&ch->mc);
            worst = s->at_rung[r];
        }
    }
    if (worst >= 0)
        place_start_chain(s, &s->chain[worst], &s->out->best);
}

// Every chain reloads its current state, as it would from a checkpoint: so a resumed search
// continues exactly as if it had not been interrupted.
static status settle(struct place_search *s) {
    struct arena scratch = arena_make(s->arena->mem);
    for (int32_t k = 0; k < s->n_chains; k++) {
        struct place_chain *ch = &s->chain[k];
        if (ch->failed)
            continue;
        struct strategy now = {ARENA_ARRAY(&scratch, struct task, ch->mc.sim.n_in), 0};
        ch->failed = !now.at;
        if (ch->failed)
            continue;
        now.n = sim_save(&ch->mc.sim, now.at);
        place_start_chain(s, ch, &now);
    }
    arena_free(&scratch);
    if (!s->is_saving)
        return ST_OK;
    s->saved_ns = stop_clock_ns();
    return place_save(s);
}

static bool is_over(const struct place_search *s) {
    bool some = false;
    for (int32_t k = 0; k < s->n_chains; k++)
        some = some || !s->chain[k].failed;
    return !some || place_is_optimal(s->out) || stop_now(s->stop) ||
           (s->work > 0 && s->out->n_proposals >= s->work);
}

static status improve(struct place_search *s, double seconds, bool is_end) {
    status st = place_improve(s, seconds, is_end);
    return st == ST_OK ? collect(s) : st;
}

// Between rounds, every PLACE_MEET_EVERY of them. A team saves checkpoints together, so that they
// match.
static status between_rounds(struct place_search *s) {
    double since = (double)(stop_clock_ns() - s->saved_ns) * 1e-9;
    int64_t n = s->out->n_rounds / PLACE_MEET_EVERY;
    status st = ST_OK;
    if ((n & (n - 1)) == 0) // at powers of two
        st = improve(s, s->options->seconds * POLISH_SHARE, false);
    s->is_saving = s->options->checkpoint_path && since >= s->options->checkpoint_seconds;
    if (st == ST_OK && s->options->team)
        st = place_team_meet(s, false);
    restart(s);
    return st == ST_OK ? settle(s) : st;
}

static status run_round(struct place_search *s, int32_t n_threads) {
    struct place_result *out = s->out;
    int64_t left = s->work - out->n_proposals;
    s->in_round = (int64_t)ROUND_PROPOSALS * s->n_chains;
    if (s->work > 0 && left < s->in_round)
        s->in_round = left;
    parallel_run(n_threads, s->n_chains, run_chain, s);
    int64_t n_done = 0;
    bool lacks_memory = false;
    for (int32_t k = 0; k < s->n_chains; k++) {
        n_done += s->chain[k].n_done;
        lacks_memory = lacks_memory || s->chain[k].failed;
    }
    out->n_proposals += n_done;
    out->n_rounds++;
    // The rest of the work can be the share of a chain that no longer runs.
    if (n_done == 0 && lacks_memory && !stop_now(s->stop))
        return diag_out_of_memory(s->diags);
    status st = collect(s);
    adapt(s);
    if (s->options->exchange)
        exchange(s);
    return st == ST_OK && out->n_rounds % PLACE_MEET_EVERY == 0 ? between_rounds(s) : st;
}

static status run_rounds(struct place_search *s) {
    long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    int32_t n_threads = s->options->threads > 0 ? s->options->threads : (int32_t)n_processors;
    status st = ST_OK;
    while (st == ST_OK && !is_over(s))
        st = run_round(s, n_threads);
    return st;
}

// The last part of the time is for polishing the incumbent, and if some of it is left, for more
// rounds; not in a team, whose search is over by then. The checkpoint is written before the
// polishing, so that a resumed search continues as if it had not ended.
static status run_and_improve(struct place_search *s) {
    const struct stop *whole = s->stop;
    double left = stop_seconds_left(whole);
    bool improves = place_improves(s), timed = left < 1e9;
    struct stop early = stop_child(whole, improves ? left * (1 - POLISH_END) : INFINITY);
    s->stop = &early;
    status st = run_rounds(s);
    while (st == ST_OK && s->options->team && !s->all_over)
        st = place_team_meet(s, true);
    s->stop = whole;
    if (st == ST_OK && s->options->checkpoint_path)
        st = place_save(s);
    if (st != ST_OK || !improves || place_is_optimal(s->out) || stop_now(s->stop))
        return st;
    st = improve(s, timed ? stop_seconds_left(s->stop) : 0, true);
    return st == ST_OK && !s->options->team ? run_rounds(s) : st;
}

// ---- The whole search ----

struct place_totals place_own_totals(const struct place_search *s) {
    const struct place_result *out = s->out;
    struct place_totals sum = {out->n_proposals, out->n_exchanges, out->n_exchanges_tried,
                               out->n_refused,   INT64_MAX,        {{0}}};
    for (int32_t k = 0; k < s->n_chains; k++) {
        const struct mcmc *c = &s->chain[k].mc;
        for (int32_t m = 0; m < MCMC_KINDS; m++) {
            sum.count[m].n_tried += c->count[m].n_tried;
            sum.count[m].n_accepted += c->count[m].n_accepted;
        }
        if (c->excess_bytes < sum.min_excess_bytes)
            sum.min_excess_bytes = c->excess_bytes;
    }
    return sum;
}

// Sums the counts of all ranks in the result.
static void sum_up(struct place_search *s) {
    const struct team *t = s->options->team;
    struct place_result *out = s->out;
    struct place_totals own = place_own_totals(s);
    out->n_proposals = out->n_exchanges = out->n_exchanges_tried = out->n_refused = 0;
    out->min_excess_bytes = INT64_MAX;
    for (int32_t k = 0; k < (t ? t->n : 1); k++) {
        const struct place_totals *x = t && k != t->rank ? &s->peer[k].done : &own;
        for (int32_t m = 0; m < MCMC_KINDS; m++) {
            out->count[m].n_tried += x->count[m].n_tried;
            out->count[m].n_accepted += x->count[m].n_accepted;
        }
        out->n_proposals += x->n_proposals;
        out->n_exchanges += x->n_exchanges;
        out->n_exchanges_tried += x->n_exchanges_tried;
        out->n_refused += x->n_refused;
        if ((x == &own || x->n_proposals > 0) && x->min_excess_bytes < out->min_excess_bytes)
            out->min_excess_bytes = x->min_excess_bytes;
        out->n_left += t && k != t->rank && s->peer[k].has_left;
    }
}

static status search(struct place_search *s) {
    status st = s->options->team ? place_team_make(s) : ST_OK;
    if (st == ST_OK)
        st = place_make_initial(s);
    if (st == ST_OK)
        st = place_make_chains(s);
    if (st == ST_OK && s->options->resume)
        st = place_resume(s);
    if (st == ST_OK && s->options->resume)
        st = place_keep_better_initial(s);
    if (st == ST_OK)
        st = collect(s);
    if (st == ST_OK)
        st = run_and_improve(s);
    if (st == ST_OK)
        sum_up(s);
    for (int32_t k = 0; s->chain && k < s->n_chains; k++)
        if (s->chain[k].arena.mem)
            arena_free(&s->chain[k].arena);
    if (st != ST_OK)
        return st;
    if (s->out->n_refused > 0)
        diag_warning(
            s->diags, DIAG_VERIFY, loc_none(),
            "the search made %lld invalid strategies, which were refused: this is a defect "
            "of mfc",
            (long long)s->out->n_refused);
    if (s->out->best.n == 0)
        return ST_NO_PLAN;
    st = strategy_check(s->p, &s->out->best, s->arena, s->diags, &s->out->facts);
    s->out->facts.makespan_bound = s->bounds.makespan_cost;
    s->out->facts.load_bound = s->bounds.load_cost;
    return st;
}

status place(const struct placement *p, const struct place_options *options,
             const struct place_hooks *hooks, struct arena *a, struct diags *d,
             struct place_result *out) {
    struct stop stop = stop_child(hooks->stop, options->seconds > 0 ? options->seconds : INFINITY);
    int64_t now = stop_clock_ns();
    assert(p->n_devices > 0 && (options->n_initial == 0 || options->initial));
    uint64_t rank = options->team ? (uint64_t)options->team->rank : 0;
    struct place_bounds bounds;
    if (!place_bounds(p, a->mem, &bounds))
        return diag_out_of_memory(d);
    *out =
        (struct place_result){.value = INFINITY, .bound = place_bound_within(p, options, &bounds)};
    struct place_search s = {.p = p,
                             .options = options,
                             .hooks = hooks,
                             .arena = a,
                             .diags = d,
                             .bounds = bounds,
                             .stop = &stop,
                             .caller_stop = hooks->stop ? hooks->stop : &stop,
                             .start_ns = now,
                             .saved_ns = now,
                             .work = options->work,
                             .rng = rng_make(options->seed, EXCHANGE_STREAM + rank),
                             .out = out};
    return search(&s);
}
