// The inner state of a placement search, for place.c and place_checkpoint.c.
#pragma once

#include "solver/place.h"

enum { PLACE_STARTS_MOST = 8 };

struct place_chain {
    struct arena arena;
    struct mcmc mc;
    int32_t rung; // 0: the coldest
    int64_t n_worse, n_done;
    bool failed; // out of memory: it is out of the race
};

struct place_search {
    const struct placement *p;
    const struct place_options *options;
    const struct place_hooks *hooks;
    struct arena *arena;
    struct diags *diags;
    struct stop *stop;
    struct place_chain *chain;
    int32_t n_chains;
    int32_t *at_rung;           // the chain on each rung
    double *temperature;        // of each rung
    int64_t share;              // proposals of each chain in this round
    int64_t start_ns, saved_ns; // saved: the last checkpoint
    struct rng rng;             // for exchanges
    struct strategy starts[PLACE_STARTS_MOST];
    int32_t n_starts;
    struct place_result *out;
    int32_t cap_best;
};

// The checkpoint of options.checkpoint_path, and going on from options.resume (place_checkpoint.c).
status place_save(struct place_search *s);
status place_resume(struct place_search *s);
