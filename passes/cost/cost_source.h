// What the user says about costs, as files were read (frontend/inputs/cost_files.h): times that a
// runtime measured, and a cost model of the user's own. The pass `costs` puts them over its
// estimates, in this order; a name that nothing says anything about keeps its estimate.
#pragma once

#include "ir/base/formula.h"
#include "passes/cost/cost.h"

// Times by node name, from a profile.
struct cost_profile {
    const char *path;
    size_t n;
    const char **names; // all different
    const char *
        *types;    // operators that ran under these names: not the node's own when it was fused
    double *times; // nanoseconds: the median of the runs that count
    struct map by_name; // name -> index
};

// One line of a cost model. What a formula may mention, in this order:
enum { COST_FLOPS, COST_BYTES, COST_IN_BYTES, COST_OUT_BYTES, COST_TIME, COST_VARIABLES };
extern const char *const cost_variables[]; // their names, and NULL

enum cost_kind { COST_BY_NODE, COST_BY_PATTERN, COST_BY_OPERATOR, COST_KINDS };

struct cost_entry {
    const char *key;            // a node's name, a shell pattern, an operator (domain:Type)
    const struct formula *time; // NULL: it does not say
    const struct formula *workspace;
};

struct cost_model {
    const char *path;
    size_t n[COST_KINDS]; // of a kind: the first that fits counts
    struct cost_entry *at[COST_KINDS];
};

struct cost_sources {
    const struct cost_profile *profile; // NULL: none
    const struct cost_model *model;     // NULL: none
    double *measured_share; // the pass says here which share of the time the profile has; or NULL
};

// What the pass has for each node of the order; those behind it may change `time` and
// `estimate.workspace_bytes`.
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
    double measured_share; // of the time, by cost_profile_apply
};

// Takes measured times over, and scales the estimates of the other nodes to fit (cost_profile.c).
status cost_profile_apply(const struct cost_profile *p, struct cost_list *list);
// Takes the user's formulas over; entries that no node fits are warned about (cost_model.c).
status cost_model_apply(const struct cost_model *m, struct cost_list *list);
