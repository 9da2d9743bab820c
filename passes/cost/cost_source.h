// Costs from files, read by frontend/inputs/cost_files.h: a profile with measured times, and the
// user's own cost model. The pass `costs` applies them to its estimates, in this order; a node that
// neither mentions keeps its estimate.
#pragma once

#include "ir/base/formula.h"
#include "passes/cost/cost.h"

// Times by node name, from a profile.
struct cost_profile {
    const char *path;
    size_t n;
    const char **names; // distinct
    const char **types; // operators that ran under these names; differ from the nodes' when fused
    double *times;      // nanoseconds: the median of the runs
    struct map by_name; // name -> index
};

// The variables of a formula, in this order:
enum { COST_FLOPS, COST_BYTES, COST_IN_BYTES, COST_OUT_BYTES, COST_TIME, COST_VARIABLES };
extern const char *const cost_variables[]; // their names, and NULL

enum cost_kind { COST_BY_NODE, COST_BY_PATTERN, COST_BY_OPERATOR, COST_KINDS };

struct cost_entry {
    const char *key;            // a node's name, a shell pattern, an operator (domain:Type)
    const struct formula *time; // NULL: not given
    const struct formula *workspace;
};

struct cost_model {
    const char *path;
    size_t n[COST_KINDS]; // of each kind; the first entry that matches applies
    struct cost_entry *at[COST_KINDS];
};

struct cost_sources {
    const struct cost_profile *profile; // NULL: none
    const struct cost_model *model;     // NULL: none
    double *measured_share;             // out: share of the time that the profile covers; or NULL
};

// The cost of one node of the order. Sources may change `time` and `estimate.workspace_bytes`.
struct cost_line {
    node_id node;
    struct cost estimate;
    int64_t time;
};

struct cost_list {
    struct graph *g;
    struct arena *a;
    struct diags *d;
    size_t n;
    struct cost_line *at;
    double measured_share; // of the time; set by cost_profile_apply
};

// Applies measured times, and scales the estimates of the other nodes to fit (cost_profile.c).
status cost_profile_apply(const struct cost_profile *p, struct cost_list *list);
// Applies the user's formulas; warns about entries that match no node (cost_model.c).
status cost_model_apply(const struct cost_model *m, struct cost_list *list);
