// The solver of libmfc, for compilers with an IR of their own: from a graph of costs and sizes to
// the cheapest order of computing, freeing and recomputing within a budget of memory. Installed as
// mfc/solve.h.
//
//     struct mfc_problem p = {.size = sizeof p, .n_nodes = n, .cost = cost, .bytes = bytes,
//                             .n_edges = n_edges, .edges = edges};
//     struct mfc_solve_options o;
//     mfc_solve_init(&o, sizeof o);
//     o.budget_bytes = budget;
//     const struct mfc_schedule *s;
//     if (!mfc_solve(m, &p, &o, &s))
//         for (size_t i = 0; i < s->n_steps; i++)
//             …                               // s->steps[i] computes or frees a node
//
// `m` is a session (mfc.h): it holds the limit on memory, messages (mfc_on_message) and progress
// (mfc_on_search), and mfc_cancel ends the search with the best schedule so far. It need not hold a
// model; one that it holds stays as it is.
//
// Memory model: the output of a node occupies memory from its computation until it is freed. While
// a node runs, everything in memory counts, its inputs and its output among it, its workspace, and
// the persistent bytes. A node may run many times.
#ifndef MFC_SOLVE_H
#define MFC_SOLVE_H

#include "mfc.h"

#ifdef __cplusplus
extern "C" {
#endif

// What is special about a node: a sum of these.
enum mfc_node_flags {
    MFC_NODE_KEEP = 1,    // a result of the whole: in memory when the schedule ends
    MFC_NODE_ONCE = 2,    // must not run twice: random, or with effects
    MFC_NODE_BACKWARD = 4 // of the backward pass; only published baselines (`method`) ask for it
};

// Nodes are numbered from 0 in a topological order, the given order. All arrays belong to the
// caller and are not used after the call.
struct mfc_problem {
    size_t size; // sizeof(struct mfc_problem): tells the library which members the caller knows
    int32_t n_nodes;
    const int64_t *cost;            // per node, >= 0, in any unit; their sum is at most 2^53
    const int64_t *bytes;           // of the output of each node, >= 0
    const int64_t *workspace_bytes; // counted only while the node runs; NULL: none
    const unsigned char *flags;     // per node (enum mfc_node_flags); NULL: none
    const char *const *names;       // for messages; NULL: the numbers
    int64_t n_edges;
    const int32_t *edges;     // n_edges pairs: a node, and a node that reads its output
    int64_t persistent_bytes; // counted at every moment
};

enum mfc_order {
    MFC_ORDER_ANY,  // the first executions of nodes may come in any topological order
    MFC_ORDER_GIVEN // they come in the given order
};

enum mfc_step_kind { MFC_COMPUTE, MFC_FREE };

struct mfc_step {
    int32_t kind; // enum mfc_step_kind
    int32_t node;
};

// mfc_solve_init sets all members to their defaults.
struct mfc_solve_options {
    size_t size;
    int64_t budget_bytes; // persistent bytes included; 0: by the share
    double budget_share;  // of what the given order needs without recomputation; default 1
    int32_t order;        // enum mfc_order
    int32_t threads;      // 0: one per processor
    double gap;           // ends when (cost - bound) / cost is at most this; default 0.001
    double seconds;       // on the clock; 0: no limit; default 60
    int64_t work;         // units of search effort: repeatable results. 0: no limit
    uint64_t seed;        // default 1
    const char *method;   // as of `mfc solve --method`; NULL: all methods side by side
    const char *worker;   // path of the command mfc, to run integer programs in a process of
                          // its own, which a cancel can end at once; NULL: in this process
    const struct mfc_step *initial; // a schedule to begin with, e.g. of a similar problem, or NULL
    size_t n_initial;
};

MFC_API void mfc_solve_init(struct mfc_solve_options *o, size_t size);

enum mfc_outcome {
    MFC_OUTCOME_UNKNOWN,   // nothing found, nothing proven
    MFC_OUTCOME_FEASIBLE,  // a schedule
    MFC_OUTCOME_OPTIMAL,   // a schedule, proven optimal within the gap
    MFC_OUTCOME_INFEASIBLE // proven: no schedule fits the budget
};

// What a search found and has proven. Of a member that is not known, the value is MFC_UNKNOWN.
struct mfc_schedule {
    int32_t outcome; // enum mfc_outcome
    int64_t budget_bytes;
    int64_t peak_bytes;       // of the schedule, by an independent replay, as is its cost
    int64_t cost;             // of the schedule
    int64_t base_cost;        // every node once
    int64_t given_peak_bytes; // of the given order, nothing recomputed
    // The certificate. Lower bounds on the cost of every schedule within the budget: of those with
    // the first executions in this schedule's order, and of all.
    int64_t bound_order, bound;
    int64_t min_bytes;            // no schedule has a lower peak
    int64_t feasible_bytes;       // the least peak of a schedule that was seen
    const int32_t *forcing;       // infeasible: nodes whose tensors are in memory together
    size_t n_forcing;             // 0: they are not known
    const struct mfc_step *steps; // n_steps of them; 0: no schedule
    size_t n_steps;
    int64_t n_recomputed; // executions beyond the first of each node
};

// Searches. MFC_OK: a schedule within the budget. MFC_INFEASIBLE, MFC_NO_PLAN: there is none, or
// none was found; a message says so, and *out what is known. MFC_MALFORMED: a wrong problem; the
// message names the node. Any other failure sets *out to NULL. The session owns the result until
// its next mfc_solve or mfc_free.
MFC_API int mfc_solve(struct mfc *m, const struct mfc_problem *p, const struct mfc_solve_options *o,
                      const struct mfc_schedule **out);

// The result of replaying a schedule.
struct mfc_replay {
    int64_t peak_bytes, cost;
    int64_t peak_step;   // where the peak is
    int64_t failed_step; // the step that is wrong; n_steps: something lacks at the end; -1: valid
    int32_t node;        // the node that the reason is about; -1: none
    const char *reason;  // NULL: valid
    int32_t given_order; // whether the first executions come in the given order
};

// Replays steps from anywhere, by the code that checks every schedule of mfc_solve and shares
// nothing with the search. MFC_OK: valid, within the budget or not. MFC_VERIFY: *out says why not.
MFC_API int mfc_replay(struct mfc *m, const struct mfc_problem *p, const struct mfc_step *steps,
                       size_t n_steps, struct mfc_replay *out);

#ifdef __cplusplus
}
#endif

#endif
