// Placement problems whose nodes have *modes*: ways to run a node, each with its own cost, memory
// and number of devices. A tensor-parallel layer has a mode per degree, a layer that may recompute
// its activations has a mode that does. Other planners' problems take this form
// (docs/placement.md).
//
// All devices reach each other through one network. A mode of degree t runs on t devices at once.
// Bytes that move: those of an edge, and what its two modes add when they are on different devices;
// bytes of resharding between two modes of neighbours, also on the same devices; and the exchange
// of gradients between replicas.
#pragma once

#include "solver/model/placement.h"

enum { MODAL_MAX_MODES = 1024, MODAL_MAX_SAMPLES = 8192 };

// All bytes, and all times, of all modes and edges together stay below these. So sums over what is
// in flight, and over the samples of a step, fit in int64.
#define MODAL_MAX_BYTES ((int64_t)1 << 50)
#define MODAL_MAX_TIME  ((int64_t)1 << 48)

struct mode {
    const char *name;
    int32_t degree;          // devices that run it together
    int64_t resident_bytes;  // on each of them, all the time
    int64_t stash_bytes;     // on each of them, per sample in flight
    int64_t workspace_bytes; // on each of them, while it runs
    int64_t exchange_bytes;  // gradients that replicas sum, once in a step
    const int64_t *cost;     // per device; -1: it cannot run there
    const int64_t *receive;  // per input of the node, bytes more from another stage; NULL: none
    const int64_t *send;     // per output
};

struct modal {
    struct problem graph;    // names, edges and bytes; costs are those of the modes
    struct placement places; // devices, times; without links and routes
    double bandwidth;        // of a device, bytes per unit of time; INFINITY: unlimited
    bool blocks;             // devices compute nothing while they send or receive
    bool is_disjoint;        // no two stages share a device
    int64_t n_samples;       // in a step; 0: an endless stream; -1: not given
    int32_t *mode_start;     // of node v: mode[mode_start[v] .. mode_start[v + 1] - 1]
    struct mode *mode;
    int64_t *edge_bytes; // per edge, as numbered by graph.in_of
    int32_t *out_edge;   // the number of each edge of graph.out_of
    int64_t **reshard;   // per edge: [mode of the producer * modes of the reader + its mode], or
                         // NULL: none
    int32_t max_degree;  // of all modes
};

// Whether the file has nodes with modes.
status modal_is(struct mem *mem, struct diags *d, const struct source *json, bool *out);
status modal_read(struct arena *a, struct diags *d, const struct source *json, struct modal *out);

static inline int32_t modal_n_modes(const struct modal *p, int32_t node) {
    return p->mode_start[node + 1] - p->mode_start[node];
}

// Bytes that are moved because of two modes, given by their numbers in p->mode.
int64_t modal_reshard_bytes(const struct modal *p, int32_t edge, int32_t from_mode,
                            int32_t to_mode);
// The time of a device that moves so many bytes for n samples in turns of `share` devices.
int64_t modal_move_time(const struct modal *p, int64_t bytes, int64_t share);
