// Storage: which values share bytes, how many those are, and when they are held.
//
// A value has a storage of its own, or, as the result of a view (Reshape, Squeeze, …), that of the
// value it is a view of. Inputs, initializers and the results of Constant nodes are *fixed*: held
// throughout. Everything else is held from the node that makes it to the last node that reads it
// or one of its views; outputs of the graph to the end. A view that is an output itself has a
// storage of its own: a runtime hands out each output as a tensor that nothing else shares. So does
// one on another device than its source: it is a copy.
//
// Only the graph itself is looked at. What subgraphs capture counts as read by the node that has
// them; what they make inside does not count.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

struct storage {
    uint32_t n;          // storages are 1 .. n-1; [0] is unused
    uint32_t *of;        // per value: its storage; 0: nobody makes it and nothing is held for it
    int64_t *bytes;      // per storage
    bool *is_persistent; // lives during the whole step
    bool *is_output;     // held from its computation to the end
    value_id *first;     // the value that it was made for
    int64_t persistent_bytes;
};

// Sizes must be known: values without one are all reported at once.
status storage_of(const struct graph *g, struct arena *a, struct diags *d, struct storage *out);

// Who holds what when `order` is run (n nodes of the graph; a node must not come twice): storage s
// lives from step from[s] to step to[s], both included, steps counted from 0; to[s] is n for an
// output, and from[s] > to[s] for a storage that is never made. Fixed ones live in 0 .. n.
struct liveness {
    uint32_t n_steps;
    uint32_t *from, *to;
    int64_t *held_bytes; // at each step: all that lives then, and the workspace of its node
    int64_t peak_bytes;  // the largest of them
    uint32_t peak_step;
};

// Nothing is in place: while a node runs, what it reads and what it makes are both held.
status liveness_of(const struct graph *g, const struct storage *s, struct node_list order,
                   struct arena *a, struct diags *d, struct liveness *out);
