// The beginning of a placement search: initial solutions, and the chains that start from them.
#include <assert.h>
#include <math.h>

#include "solver/place/place_remat.h"
#include "solver/place/place_state.h"

#define REMAT_SHARE         0.25 // of the time, for initial solutions that recompute
#define LOWEST_TEMPERATURE  1e-4 // initial temperatures, relative to the cost
#define HIGHEST_TEMPERATURE 0.3

status place_make_initial(struct place_search *s) {
    struct arena scratch = arena_make(s->arena->mem);
    status st = ST_OK;
    for (int32_t k = 0; k < s->options->n_initial && s->n_initial < PLACE_MAX_INITIAL / 2; k++) {
        struct strategy_facts f;
        st = strategy_replay(s->p, &s->options->initial[k], &scratch, s->diags, &f);
        if (st != ST_OK)
            break;
        s->initial[s->n_initial++] = s->options->initial[k];
    }
    arena_free(&scratch);
    if (st != ST_OK ||
        (!s->options->allowed.devices && s->n_initial > 0)) // others would change the devices
        return st;
    int32_t n = 0;
    struct remat_effort effort = {.stop = s->stop,
                                  .seconds = s->options->seconds * REMAT_SHARE,
                                  .seed = s->options->seed,
                                  .worker_path = s->options->worker_path};
    if (s->options->allowed.recompute && !s->options->resume) // expensive, and useless for a resume
        n = place_remat(s->p, &effort, s->arena, s->initial + s->n_initial,
                        PLACE_MAX_INITIAL - s->n_initial);
    s->n_initial += n > 0 ? n : 0;
    if (n >= 0)
        n = place_initial(s->p, s->options->allowed.duplicates, s->arena, s->initial + s->n_initial,
                          PLACE_MAX_INITIAL - s->n_initial);
    s->n_initial += n > 0 ? n : 0;
    return n < 0 ? diag_out_of_memory(s->diags) : ST_OK;
}

// A resumed search takes over a given strategy that is better than the incumbent of its checkpoint.
status place_keep_better_initial(struct place_search *s) {
    const struct place_options *o = s->options;
    status st = ST_OK;
    for (int32_t k = 0; st == ST_OK && k < o->n_initial; k++) {
        struct arena scratch = arena_make(s->arena->mem);
        struct diags d = diags_make(&scratch);
        struct strategy_facts f;
        if (strategy_check(s->p, &o->initial[k], &scratch, &d, &f) == ST_OK) {
            double value = mcmc_value_of_facts(&o->objective, s->p, &f);
            if (value < s->out->value)
                st = place_keep(s, &o->initial[k], value);
        }
        arena_free(&scratch);
    }
    return st;
}

status place_make_chains(struct place_search *s) {
    const struct place_options *o = s->options;
    assert(s->n_initial > 0);
    s->n_chains = o->n_chains < 1 ? 1 : o->n_chains;
    s->n_chains = s->n_chains < PLACE_MAX_CHAINS ? s->n_chains : PLACE_MAX_CHAINS;
    s->chain = ARENA_ARRAY(s->arena, struct place_chain, s->n_chains);
    s->at_rung = ARENA_ARRAY(s->arena, int32_t, s->n_chains);
    s->temperature = ARENA_ARRAY(s->arena, double, s->n_chains);
    if (!s->chain || !s->at_rung || !s->temperature)
        return diag_out_of_memory(s->diags);
    int32_t n_good = 0, n_more = s->n_initial - s->n_chains;
    int32_t first = o->team ? o->team->rank * s->n_chains : 0;
    for (int32_t k = 0; k < s->n_chains; k++) {
        struct place_chain *ch = &s->chain[k];
        double up = s->n_chains > 1 ? (double)k / (s->n_chains - 1) : 0.25;
        s->temperature[k] =
            LOWEST_TEMPERATURE / s->p->n_groups * pow(HIGHEST_TEMPERATURE / LOWEST_TEMPERATURE, up);
        s->at_rung[k] = ch->rung = k;
        ch->arena = arena_make(s->arena->mem);
        ch->failed = !mcmc_make(&ch->arena, s->p, &o->objective, o->allowed,
                                rng_make(o->seed, (uint64_t)(first + k)), &ch->mc);
        // The best initial solution may be one that no chain starts from.
        for (int32_t i = 0; k == 0 && i < n_more && !ch->failed; i++)
            place_start_chain(s, ch, &s->initial[s->n_chains + i]);
        if (!ch->failed)
            place_start_chain(s, ch, &s->initial[(first + k) % s->n_initial]);
        n_good += !ch->failed;
    }
    return n_good > 0 ? ST_OK : diag_out_of_memory(s->diags);
}
