// The internal state of a placement search, for the files of solver/place.
#pragma once

#include "solver/place.h"

enum { PLACE_MAX_INITIAL = 12, PLACE_MEET_EVERY = 16 }; // rounds between restarts, and meetings

struct place_chain {
    struct arena arena;
    struct mcmc mc;
    int32_t rung; // 0: the coldest
    int64_t n_worse, n_done;
    bool failed; // out of memory: it no longer runs
};

// Counts of one search, summed over a team.
struct place_totals {
    int64_t n_proposals, n_exchanges, n_exchanges_tried, n_refused, min_excess_bytes;
    struct mcmc_count count[MCMC_KINDS];
};

// Another search of the team, as of the last meeting.
struct place_peer {
    bool has_left; // its search failed
    struct place_totals done;
};

struct place_search {
    const struct placement *p;
    const struct place_options *options;
    const struct place_hooks *hooks;
    struct arena *arena;
    struct diags *diags;
    struct place_bounds bounds;
    const struct stop *stop;  // of the running phase, a child of
    struct stop *caller_stop; // raised when another rank of the team is stopped
    struct place_chain *chain;
    int32_t n_chains;
    int32_t *at_rung;           // the chain on each rung
    double *temperature;        // of each rung
    int64_t work;               // of this search; <= 0: no limit
    int64_t in_round;           // proposals of all chains in this round
    int64_t start_ns, saved_ns; // of the search; of the last checkpoint
    struct rng rng;             // for exchanges
    struct strategy initial[PLACE_MAX_INITIAL];
    int32_t n_initial;
    struct place_result *out;
    int32_t cap_best;
    bool is_saving; // a checkpoint is due
    // With a team:
    struct place_peer *peer; // per rank
    int64_t n_meetings;
    bool all_over;     // all ranks were, at the last meeting
    double told_value; // of the last incumbent that was sent to the others
};

// A strategy that is better than the incumbent takes its place, if the checker accepts it and
// confirms its value; else it is counted as refused.
status place_keep(struct place_search *s, const struct strategy *x, double value);

// The chain continues from a strategy; if the simulator refuses it, it is counted and the chain
// fails.
void place_start_chain(struct place_search *s, struct place_chain *ch, const struct strategy *x);

// Initial solutions and chains (place_make.c). A resumed search takes over given strategies that
// are better than its incumbent.
status place_make_initial(struct place_search *s);
status place_make_chains(struct place_search *s);
status place_keep_better_initial(struct place_search *s);

// Whether two replicas exchange their temperatures, for a random number of [0, 1).
bool place_swaps(double temperature_a, double cost_a, double temperature_b, double cost_b,
                 double unit);

// No strategy that the options allow has a lower value of the objective (place_bound.c); -INFINITY:
// no bound is known.
double place_bound_within(const struct placement *p, const struct place_options *o,
                          const struct place_bounds *bounds);

struct place_totals place_own_totals(const struct place_search *s);

// The searches of options.team (place_team.c). A search that is over meets the others until all of
// them are.
status place_team_make(struct place_search *s);
status place_team_meet(struct place_search *s, bool is_over);
int64_t place_team_proposals(const struct place_search *s); // of all, as far as is known

// Writes the checkpoint of options.checkpoint_path; continues from options.resume
// (place_checkpoint.c).
status place_save(struct place_search *s);
status place_resume(struct place_search *s);

// Polishes the best state within about so many seconds, or 0: a work that depends on the problem
// alone, and starts the coldest chain from the result (place_improve.c).
status place_improve(struct place_search *s, double seconds, bool is_end);
bool place_improves(const struct place_search *s); // whether polishing can change anything
