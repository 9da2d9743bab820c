// Rematerialization: from the graph to the solver's problem, and from its schedule back to a graph.
//
// Stages, one file each:
//   remat_units.c     units: the nodes that count, with what each makes and reads. Views do not
//                     count: they are rebuilt wherever they are read, at no cost
//   remat_parts.c     of a divided step, the part that each unit belongs to
//   remat_clusters.c  coarsening: units become clusters, to make the problem smaller
//   remat_problem.c   clusters become the solver's nodes
//   remat_relax.c     a problem that bounds every plan of the graph
//   remat_apply.c     a schedule becomes a graph: its order, and a node for every recomputation
//   remat_read.c      a schedule from a file
//   remat.c           the pass, and the options that it shares with the default pipeline
//
// Sizes are those of ir/storage.h. The liveness peak of the new graph is at most the peak that the
// solver reports; it can be lower, because a cluster is charged for all of its inputs while any of
// its units runs.
#pragma once

#include "ir/storage.h"
#include "passes/pass.h"
#include "solver/model/problem.h"
#include "solver/solve.h"

// A result of a unit: a storage that its node makes.
struct remat_product {
    uint32_t unit;
    int64_t bytes;
    bool is_output;
};

// A node that counts. With --recompute a node of the forward pass becomes two units: one that the
// forward pass reads, and a `second` one that the backward pass reads.
struct remat_unit {
    node_id node;
    bool second, once, backward;
    int32_t part; // of a divided step, from 1; 0: none
    int64_t cost, workspace_bytes;
    uint32_t products, n_products; // among `product`
    uint32_t reads, n_reads;       // among `read`, whose entries are products; no duplicates
};

struct remat_units {
    struct storage storage;
    struct remat_unit *unit; // in execution order
    uint32_t n;
    VEC(struct remat_product) product;
    VEC(uint32_t) read;
    bool has_forward;  // the graph is a training step, and `backward` is set
    int64_t base_cost; // of every node once
};

enum { REMAT_MAX_PARTS = 2048 };
void remat_find_parts(const struct graph *g, struct remat_units *u); // remat_parts.c

status remat_units_make(const struct graph *g, struct pass_context *c, struct remat_units *out);

// What a cluster costs and holds.
struct remat_load {
    int64_t cost;
    int64_t output_bytes; // of its results that are outputs of the graph
    int64_t other_bytes;  // of its other results that are read outside
    int64_t inner_bytes;  // peak of its results and workspaces while it runs
    bool once;            // must not be recomputed
};

// The members of cluster i are the units member[start[i] .. start[i + 1] - 1], in execution order.
// Clusters are in a topological order.
struct remat_clusters {
    uint32_t n;
    uint32_t *start, *member;
    struct remat_load *load; // per cluster
    uint32_t *cluster_of;    // per unit
};

status remat_clusters_make(const struct remat_units *u, bool fine, struct arena *a, struct diags *d,
                           struct remat_clusters *out);

// A graph as a problem, whose node i is cluster i.
struct remat {
    struct remat_units units;
    struct remat_clusters clusters;
    struct problem problem;
};

// The result lives in c->arena. `fine`: every unit is a cluster of its own, so that nothing is
// overcharged: a larger problem, for budgets that the coarse one cannot meet.
status remat_make(const struct graph *g, struct pass_context *c, bool fine, struct remat *out);

// remat_relax.c: a problem whose bounds, for any order, hold for every plan of the graph: each plan
// is one of its schedules, of no higher peak, and costs at least `other_cost` more than it. The
// problem has no nodes if no output of the graph depends on one. `overwrites`: the runtime may
// write the output of a node over its input; then some workspaces are negative.
struct remat_relaxed {
    struct problem problem;
    int64_t other_cost;
};

status remat_relax(const struct graph *g, const struct remat_units *u, bool overwrites,
                   struct pass_context *c, struct remat_relaxed *out);

struct remat_result {
    int64_t recompute_cost; // of the nodes that recompute another one, without views
    int32_t *task;          // per node of the new order: its task; -1: a constant
};

// Makes the graph execute the steps. `g` is the graph that the problem was made from, or the graph
// of a copy of its model.

status remat_apply(struct graph *g, const struct remat *r, struct steps steps, struct arena *a,
                   struct diags *d, struct remat_result *out);

// A strategy that runs clusters on several places and sends them from one to another.
struct strategy; // solver/model/strategy.h
struct remat_strategy {
    const struct strategy *tasks;
    const uint32_t *device; // per place: the number of its device in the model; NULL: one place
    size_t n_places;
};
// The same for a strategy.
status remat_apply_strategy(struct graph *g, const struct remat *r, const struct remat_strategy *s,
                            struct arena *a, struct diags *d, struct remat_result *out);

// remat_read.c: the order of an mfc-plan file (docs/report.md) as steps. The problem must be fine.
// An order that this graph cannot be executed in is refused, and its defects are listed.
status remat_read(const struct graph *g, const struct remat *r, const char *path, struct arena *a,
                  struct diags *d, struct steps *out);

// The options of the search (pass remat), as the solver's. Without a budget (BUDGET_NONE) the
// search minimizes memory, and may add `overhead` times the base cost.
struct remat_settings {
    struct solve_options solve;
    bool dual;       // no budget: minimize memory within `overhead`
    double overhead; // 0.1: 10 %
    void (*begin)(void *context, int64_t budget_bytes); // called before each search; may be NULL
};

// `whole_bytes` is 100 % of a budget that is given as a share.
status remat_settings_read(const struct options *o, const struct remat *r, int64_t whole_bytes,
                           struct diags *d, struct remat_settings *out);
extern const struct option_spec remat_options[]; // of the pass
bool remat_is_off(const struct options *o);      // --budget none

// Without a budget: the cost that a plan may have. Recomputation that the user asked for
// (--recompute) is not part of the overhead.
int64_t remat_max_cost(const struct remat *r, const struct remat_settings *s);

// Hooks that report each improvement as a line of progress.
struct solve_hooks remat_hooks(struct pass_context *c);

// Searches by the settings. ST_INFEASIBLE and ST_NO_PLAN come without a diagnostic.
status remat_search(const struct remat *r, const struct remat_settings *s,
                    const struct solve_hooks *hooks, struct arena *a, struct diags *d,
                    struct schedule *out);
