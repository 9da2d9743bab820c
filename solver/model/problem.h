// The plain problem that the solver works on: a DAG of operations with a cost and an output size
// each, and a budget of bytes. It knows nothing of ONNX.
//
// Memory model: an output is held from its computation until it is freed; while a node runs, all
// that is held counts, its inputs and its output among it, its workspace, and `persistent_bytes` on
// top. A node may run many times. Nothing is in place. Nodes are numbered in a topological order,
// the *given* order.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/diag.h"
#include "ir/base/file.h"
#include "ir/base/mem.h"

// All sizes together, and all costs together, stay below these: so any sum of sizes fits in int64,
// and a schedule may cost a thousand times the base cost before its sum could overflow (the sums
// over schedules are checked nevertheless).
#define PROBLEM_MAX_BYTES ((int64_t)1 << 60)
#define PROBLEM_MAX_COST  ((int64_t)1 << 53)

struct problem {
    int32_t n;
    const char **name;  // per node, never NULL
    int64_t *cost;      // >= 0
    int64_t *bytes;     // of the output, >= 0
    int64_t *workspace; // counted only while the node runs, >= 0; in problems that only bound
                        // others (remat_relax.c), >= -bytes
    bool *keep;         // held when the schedule ends
    bool *once;         // must not run twice (random, or otherwise unrepeatable)
    bool *backward;     // part of the backward pass; `has_forward` says whether this is known
    bool has_forward;
    int64_t persistent_bytes;

    // Edges, sorted, without duplicates: node i reads in_of[in_start[i] .. in_start[i+1]-1], and is
    // read by out_of[out_start[i] .. out_start[i+1]-1].
    int32_t n_edges;
    int32_t *in_start, *in_of;
    int32_t *out_start, *out_of;
};

struct problem_edge {
    int32_t from, to;
};

// Makes a problem in three steps: problem_alloc gives zeroed arrays for n nodes (names are their
// numbers), the caller fills them, problem_link adds the edges and checks everything: signs, sums,
// node numbers, order (a cycle is named), duplicates (merged, with one warning). `edges` is sorted
// in place. `file` is for messages and may be NULL.
status problem_alloc(struct arena *a, struct diags *d, int64_t n, struct problem *out);
status problem_link(struct arena *a, struct diags *d, struct problem_edge *edges, int64_t n_edges,
                    const char *file, struct problem *p);

// The formats of docs/solver.md.
status problem_read_json(struct arena *a, struct diags *d, const struct source *json,
                         struct problem *out);
status problem_read_csv(struct arena *a, struct diags *d, const struct source *csv,
                        struct problem *out);
// CSV when the path ends in ".csv", JSON otherwise.
status problem_read(struct arena *a, struct diags *d, const struct source *s, struct problem *out);

// Facts that everything starts from. Sums are checked by problem_link, so they fit.
int64_t problem_base_cost(const struct problem *p); // every node once

// The peak when every node runs once, in the given order, and is held until its last use.
// Uses `scratch` for one array; -1: out of memory.
int64_t problem_given_peak(const struct problem *p, struct arena *scratch);

// A lower bound on any peak in any order: the largest of inputs + output + workspace over all
// nodes, and the sum of what is kept; persistent_bytes included. *node is the one that forces it,
// or -1 when the kept tensors do. (node may be NULL.)
int64_t problem_floor(const struct problem *p, int32_t *node);
