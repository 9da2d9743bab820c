// The placement search: a placement problem and options in, a checked strategy out.
//
// Several Markov chains (mcmc.h) run in parallel, in rounds. Within a round each makes a fixed
// number of proposals; between rounds, neighbours on a ladder of temperatures exchange their rungs
// (replica exchange), temperatures are adapted, and bad chains restart from the incumbent. The
// result does not depend on the number or timing of threads: the same seed and work give the same
// strategy. Searches in several processes (a team, team.h) share the work; every few rounds they
// exchange incumbents and replicas.
//
//     struct place_options o = place_defaults();
//     struct place_result r;
//     status st = place(&problem, &o, &(struct place_hooks){0}, &arena, &diags, &r);
#pragma once

#include "ir/base/stop.h"
#include "solver/check/strategy_check.h"
#include "solver/place/mcmc.h"
#include "solver/place/team.h"

enum { PLACE_MAX_CHAINS = 256 };

struct place_options {
    struct mcmc_objective objective;
    struct mcmc_allowed allowed;
    double seconds; // wall clock; <= 0: no limit
    int64_t work;   // proposals of all chains of the team; <= 0: no limit
    uint64_t seed;
    int32_t threads;                // <= 0: as many as there are processors
    int32_t n_chains;               // 1: plain Metropolis-Hastings
    bool exchange;                  // of replicas
    const struct strategy *initial; // solutions to start from, beside those that are made here
    int32_t n_initial;
    const char *checkpoint_path; // where the state of the search is saved, or NULL
    double checkpoint_seconds;   // how often, at most
    const struct source *resume; // a checkpoint to continue from, or NULL
    const struct team *team;     // the other processes of the search, or NULL
    const char *worker_path; // the mfc executable, to run CBC in a process of its own; NULL: here
};

struct place_options place_defaults(void);

// Lower bounds over all strategies, whatever is recomputed, duplicated or offloaded. False: out of
// memory.
struct place_bounds {
    int64_t makespan_cost, load_cost;
};
bool place_bounds(const struct placement *p, struct mem *mem, struct place_bounds *out);

// A point of the best-so-far curve.
struct place_event {
    double value; // of the objective
    int64_t makespan_cost, load_cost;
    int64_t n_proposals;
    double seconds;
};

struct place_hooks {
    void (*improved)(void *context, const struct place_event *event, const struct strategy *best,
                     const struct strategy_facts *facts); // or NULL; valid during the call
    void *context;
    struct stop *stop; // or NULL; a rank of a team raises it when another rank was stopped
};

struct place_result {
    struct strategy best; // the incumbent; best.n = 0: none within memory was found
    struct strategy_facts facts;
    double value;
    double bound;             // no strategy has a lower value; -INFINITY: no bound is known
    int64_t min_excess_bytes; // without an incumbent: the least excess over memory of a state
    int64_t n_proposals, n_rounds, n_exchanges, n_exchanges_tried; // of the team; own rounds
    int64_t n_refused; // strategies that the checker did not accept: defects, always 0
    int32_t n_left;    // ranks of the team whose search failed
    struct mcmc_count count[MCMC_KINDS];
    VEC(struct place_event) curve;
};

// Whether the best strategy is proven to be optimal.
static inline bool place_is_optimal(const struct place_result *r) {
    return r->best.n > 0 && r->value <= r->bound;
}

// ST_OK: a strategy within memory. ST_NO_PLAN: none was found; out->min_excess_bytes says by how
// much. Any other status comes with a diagnostic.
status place(const struct placement *p, const struct place_options *options,
             const struct place_hooks *hooks, struct arena *a, struct diags *d,
             struct place_result *out);

// ---- Initial solutions (place_initial.c) ----

// A contiguous split that minimizes the largest load, list schedules (with `duplicates` also such
// that duplicate nodes), and everything on one device. Returns how many, at most max_n; -1: out of
// memory.
int32_t place_initial(const struct placement *p, bool duplicates, struct arena *a,
                      struct strategy *out, int32_t max_n);

// The list schedule of nodes that run on every device d with on[v * n_devices + d]
// (place_assigned.c). False: out of memory.
bool place_assigned(const struct placement *p, const bool *on, struct arena *a,
                    struct strategy *out);
