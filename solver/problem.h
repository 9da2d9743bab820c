// The plain problem that the solver works on: a DAG of operations with a cost and an output size
// each, and a budget of bytes. It knows nothing of ONNX.
//
// Memory model: an output is held from its computation until it is freed; while a node runs, all
// that is held counts, its inputs and its output among it, its workspace, and `fixed_bytes` on top.
// A node may run many times. Nothing is in place. Nodes are numbered in a topological order, the
// *given* order.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/base/file.h"
#include "ir/base/mem.h"

struct problem {
    int32_t n;
    const char **name;  // per node
    int64_t *cost;      // >= 0
    int64_t *bytes;     // of the output, >= 0
    int64_t *workspace; // counted only while the node runs, >= 0
    bool *keep;         // held to the end
    bool *once;         // must not run twice (random, or otherwise unrepeatable)
    bool *backward;     // part of the backward pass; `has_forward` says whether this is known
    bool has_forward;
    int64_t fixed_bytes;

    // Edges, sorted, without duplicates: node i reads in_of[in_start[i] .. in_start[i+1]-1], and is
    // read by out_of[out_start[i] .. out_start[i+1]-1].
    int32_t n_edges;
    int32_t *in_start, *in_of;
    int32_t *out_start, *out_of;
};

// Counts and fills the adjacency from (producer, consumer) pairs: checks that every producer has
// the smaller number (else: sorts, or names the cycle), merges duplicates with a warning.
status problem_read(struct arena *a, struct diags *d, const struct source *json,
                    struct problem *out);
status problem_read_csv(struct arena *a, struct diags *d, const struct source *csv,
                        struct problem *out);

// Facts that everything starts from. Sums are checked when a problem is read, so they fit.
int64_t problem_base_cost(const struct problem *p); // every node once
int64_t
problem_given_peak(const struct problem *p); // keep until last use, given order, no recompute
int64_t
problem_floor(const struct problem *p); // max over nodes of inputs + output + workspace + what
                                        // is kept by then in every order: a lower bound on any peak
