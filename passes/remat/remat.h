// Rematerialization: from the graph to the solver's problem, and from its schedule back to a graph.
//
// Stages, one file each:
//   remat_units.c    which nodes count, what each makes and reads (views do not count: a view is
//                    made again wherever it is read, at no cost)
//   remat_clusters.c    units that had better run together become groups, to make the problem small
//   remat_problem.c  groups become the solver's nodes
//   remat_apply.c    a schedule becomes a graph: its order, and a node for every repetition
//   remat_read.c     a schedule from a file
//   remat.c          the pass, and the options that it shares with the whole way to a plan
//
// All sizes are those of ir/storage.h, so that what the solver promises is what a liveness walk
// over the new graph finds, or less: a group is charged for all that it reads while any part of it
// runs.
#pragma once

#include "ir/storage.h"
#include "passes/pass.h"
#include "solver/model/problem.h"
#include "solver/solve.h"

// What a unit makes: the storages of its node's outputs that are its own.
struct remat_product {
    uint32_t unit;
    int64_t bytes;
    bool is_output;
};

// A node that counts. With --recompute a node of the forward pass becomes two units: one whose
// results the forward pass reads, and one, `second`, for the backward pass.
struct remat_unit {
    node_id node;
    bool second, once, backward;
    int64_t cost, workspace_bytes;
    uint32_t products, n_products; // among `product`
    uint32_t reads, n_reads;       // among `read`, which are products; none twice
};

struct remat_units {
    struct storage storage;
    struct remat_unit *unit; // in the order in which they run
    uint32_t n;
    VEC(struct remat_product) product;
    VEC(uint32_t) read;
    bool has_forward;  // the graph has a backward pass, and `backward` tells it
    int64_t base_cost; // every node once
};

// A view shares the storage of its first input. Views and Constant nodes are no units.
bool remat_is_view(const struct storage *s, const struct node *n);
bool remat_counts(const struct storage *s, const struct node *n);

status remat_units_make(const struct graph *g, struct pass_context *c, struct remat_units *out);

// What units that run together need.
struct remat_load {
    int64_t cost;
    int64_t output_bytes; // of the outputs of the graph among what they make
    int64_t other_bytes;  // of what else is read outside
    int64_t inner_bytes;  // the most that they hold at once of what they make, workspace included
    bool once;
};

// Groups: members of group i are member[start[i] .. start[i + 1] - 1], units in the order in which
// they run. Groups are in an order in which they can run.
struct remat_groups {
    uint32_t n;
    uint32_t *start, *member;
    struct remat_load *load; // per group
    uint32_t *group_of;      // per unit
};

status remat_group(const struct remat_units *u, bool fine, struct arena *a, struct diags *d,
                   struct remat_groups *out);

// A graph as a problem. Problem node i is group i.
struct remat {
    struct remat_units units;
    struct remat_groups groups;
    struct problem problem;
};

// c->arena holds the result. `fine`: every unit is a group of its own, so that nothing is charged
// too much; a larger problem, for budgets that the coarse one cannot meet.
status remat_make(const struct graph *g, struct pass_context *c, bool fine, struct remat *out);

// Makes the graph run as the steps say. `g` is the graph that the problem was made from, or the
// graph of a copy of its model.
struct remat_result {
    int64_t n_recomputed;   // nodes that repeat another one, views left out
    int64_t recompute_cost; // of these
};

status remat_apply(struct graph *g, const struct remat *r, struct steps steps, struct arena *a,
                   struct diags *d, struct remat_result *out);
struct strategy; // solver/model/strategy.h
// The same for a strategy that runs groups on several places and fetches them from one to another.
// `device`, per place: the number of the device in the model.
status remat_place(struct graph *g, const struct remat *r, const struct strategy *tasks,
                   const uint32_t *device, size_t n_places, struct arena *a, struct diags *d,
                   struct remat_result *out);

// remat_read.c: the order of an mfc-plan file (docs/report.md) as steps. The problem must be a fine
// one. An order that this graph cannot run in is refused, with all that is wrong with it.
status remat_read(const struct graph *g, const struct remat *r, const char *path, struct arena *a,
                  struct diags *d, struct steps *out);

// The options of the search (pass remat), read into the solver's. `whole_bytes` is what a share of
// the budget is of. A budget that is not given is BUDGET_NONE, and then `overhead` is the share of
// the base cost that may be added for the least memory.
struct remat_settings {
    struct solve_options solve;
    bool dual;       // no budget: the least memory for `overhead`
    double overhead; // 0.1: 10 %
};

status remat_settings_read(const struct options *o, int64_t whole_bytes, struct diags *d,
                           struct remat_settings *out);
bool remat_is_off(const struct options *o); // --budget none

// Hooks that tell each improvement as a line of progress.
struct solve_hooks remat_hooks(struct pass_context *c);

// Searches by the settings. ST_INFEASIBLE and ST_NO_PLAN leave the telling to the caller.
status remat_search(const struct remat *r, const struct remat_settings *s,
                    const struct solve_hooks *hooks, void (*begin)(void *, int64_t),
                    struct arena *a, struct diags *d, struct schedule *out);
