// Storage and liveness: which values share memory, its size, and its live range.
//
// A value has its own storage, or, as the result of a view (Reshape, Squeeze, …), the storage of
// the view's source. Inputs, initializers and the results of Constant nodes are *persistent*: live
// during the whole step. Every other storage is live from its producer to the last node that reads
// it or one of its views; graph outputs to the end. A view that is a graph output has its own
// storage, because a runtime returns each output as a separate tensor. So has a view on another
// device than its source: it is a copy.
//
// Only the graph itself counts. A node reads the values that its subgraphs capture; values inside
// subgraphs have no storage.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

struct storage {
    uint32_t n;          // storages are 1 .. n-1; [0] is unused
    uint32_t *of;        // per value: its storage; 0: none, as it has no producer
    int64_t *bytes;      // per storage
    bool *is_persistent; // lives during the whole step
    bool *is_output;     // live from its producer to the end
    value_id *first;     // the value that owns it: not a view
    int64_t persistent_bytes;
};

// All sizes must be known; reports the values of unknown size, the first few by name.
status storage_of(const struct graph *g, struct arena *a, struct diags *d, struct storage *out);

// A view shares the storage of its first input.
bool storage_is_view(const struct storage *s, const struct node *n);
// Whether a node takes time: neither a view nor a constant.
bool storage_is_executed(const struct storage *s, const struct node *n);

// Whether the node allocates its result and writes none of it: a product over no elements. Such a
// result occupies no memory, but it occupies addresses (passes/steer).
bool storage_is_unwritten(const struct graph *g, const struct node *n);

// Live ranges when the nodes of `order` run, n in all, each at most once: storage s is live in
// steps from[s] .. to[s], counted from 0. to[s] is n for an output; from[s] > to[s] if no node of
// the order produces s. Persistent storages live in 0 .. n.
struct liveness {
    uint32_t n_steps;
    uint32_t *from, *to;
    int64_t *held_bytes; // per step: all live storages, and the workspace of the node
    int64_t peak_bytes;  // their maximum
    uint32_t peak_step;
};

// No node works in place: its inputs and outputs are live while it runs.
status liveness_of(const struct graph *g, const struct storage *s, struct node_list order,
                   struct arena *a, struct diags *d, struct liveness *out);
