// One chain of the placement search: Metropolis-Hastings over strategies.
//
// A state is a strategy in the simulator (sim.h). A proposal edits a few tasks and repairs what
// depends on them: missing inputs are fetched, dead fetches removed. The cost of a state is the
// objective plus a price on every byte over memory (excess_price.h); only states within memory
// become the chain's best. A worse state is accepted by the rule of Metropolis; the temperature is
// relative to the cost of the current state.
//
// Random numbers are counter-based: the same start, seed and calls give the same result.
#pragma once

#include "ir/base/rng.h"
#include "ir/base/stop.h"
#include "solver/excess_price.h"
#include "solver/sim/sim.h"

// MOVE(NAME, text): the kinds of proposals.
#define MCMC_MOVES(MOVE)                                                                           \
    MOVE(NODE, "move a node or group")                                                             \
    MOVE(BLOCK, "move a block")                                                                    \
    MOVE(BOUNDARY, "shift a boundary")                                                             \
    MOVE(SWAP, "swap two")                                                                         \
    MOVE(DUPLICATE, "duplicate")                                                                   \
    MOVE(DROP, "remove a duplicate, a recomputation or a fetch")                                   \
    MOVE(ORDER, "change the order")                                                                \
    MOVE(RECOMPUTE, "recompute")                                                                   \
    MOVE(OFFLOAD, "offload and fetch back")

enum mcmc_kind {
#define MOVE(name, text) MCMC_##name,
    MCMC_MOVES(MOVE)
#undef MOVE
        MCMC_KINDS
};

// The terms of an objective; times in units of the problem.
struct mcmc_values {
    double makespan, load, peak_bytes, moved_bytes, energy;
};

enum mcmc_goal { MCMC_LATENCY, MCMC_THROUGHPUT, MCMC_CUSTOM };

struct mcmc_objective {
    enum mcmc_goal goal;
    double (*value)(void *context, const struct mcmc_values *v); // MCMC_CUSTOM
    void *context;                                               // shared by several threads
    uint64_t identity; // of MCMC_CUSTOM: a checkpoint belongs to one; 0: unknown
};

struct mcmc_allowed {
    bool duplicates, recompute, offload, order;
    bool devices; // nodes may move to other devices
};

struct mcmc_count {
    int64_t n_tried, n_accepted;
};

struct mcmc {
    const struct placement *p;
    struct mcmc_objective objective;
    struct mcmc_allowed allowed;
    struct sim sim;
    struct rng rng;
    double value; // of the current state: the objective
    double guide; // breaks ties towards even loads
    int64_t excess_bytes;
    struct excess_price price; // of bytes over memory
    double temperature;        // relative to the cost of the current state

    struct task *best; // the best within memory; n_best = 0: none yet
    int32_t n_best, cap_best;
    double best_value;

    int32_t *nodes, n_nodes; // to be repaired
    bool *is_listed;
    int32_t *earliest; // per place: scratch of repairs
    int32_t *block;    // nodes that move together
    int32_t *peak_at;  // per place: the task of its peak; when the state is over memory
    bool *over;        // per place: its peak is over its memory
    struct mcmc_count count[MCMC_KINDS];
    int64_t n_worse; // accepted proposals that are worse
};

// The chain is empty until mcmc_start. False: out of memory.
bool mcmc_make(struct arena *a, const struct placement *p, const struct mcmc_objective *objective,
               struct mcmc_allowed allowed, struct rng rng, struct mcmc *out);

// Continues from a valid strategy; the best stays. False: out of memory (c->sim.broken), or the
// strategy is not valid; the chain is then empty.
bool mcmc_start(struct mcmc *c, const struct strategy *s);

// n proposals, or fewer when `stop` is raised. Returns how many. c->sim.broken: out of memory.
int64_t mcmc_run(struct mcmc *c, int64_t n, const struct stop *stop);

// One random proposal, edited into c->sim but not evaluated; false: there was nothing to propose,
// or it is not executable.
bool mcmc_propose(struct mcmc *c, enum mcmc_kind *kind);

// The value of the objective.
double mcmc_value(const struct mcmc_objective *o, const struct sim_result *r);
double mcmc_value_of_facts(const struct mcmc_objective *o, const struct placement *p,
                           const struct strategy_facts *facts); // of the plain replay
double mcmc_cost(const struct mcmc *c); // of the current state, with the price of its excess

// ---- For the files of the moves ----

// Edits (mcmc_edit.c). After edits of the runs or inputs of nodes, mcmc_repair makes every input
// available again and removes dead fetches.
void mcmc_mark(struct mcmc *c, int32_t node);                   // to be repaired
void mcmc_mark_with_inputs(struct mcmc *c, int32_t node);       // and its inputs
bool mcmc_repair(struct mcmc *c);                               // false: impossible
void mcmc_put_run(struct mcmc *c, int32_t run, int32_t device); // moves a run to a device
void mcmc_put_group(struct mcmc *c, int32_t group, int32_t device);
// Adds a fetch of the node to the place, from any place that has it before `reader`; false: none
// has.
bool mcmc_add_fetch(struct mcmc *c, int32_t node, int32_t place, int32_t reader);

// Each makes one proposal, without evaluating it; false: there was nothing to propose.
bool mcmc_move_node(struct mcmc *c);
bool mcmc_move_block(struct mcmc *c);
bool mcmc_move_boundary(struct mcmc *c);
bool mcmc_move_swap(struct mcmc *c);
bool mcmc_move_duplicate(struct mcmc *c);
bool mcmc_move_drop(struct mcmc *c);
bool mcmc_move_order(struct mcmc *c);
bool mcmc_move_recompute(struct mcmc *c);
bool mcmc_move_offload(struct mcmc *c);

// A random task of the sequence; SIM_END: none was drawn.
int32_t mcmc_random_task(struct mcmc *c);
int32_t mcmc_random(struct mcmc *c, int32_t n); // 0 .. n-1
int32_t mcmc_first_run(const struct sim *s, int32_t node);
