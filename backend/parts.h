// Partitions a placed graph into parts, each of which a runtime can run as a model of its own.
//
// A device cannot run all of its nodes in one call: in a training step it computes, sends, waits
// for the results of other devices, and continues. So the nodes of a device keep their order and
// are divided into rounds: a node that reads a result of another device from round r is in round r
// + 1 or later. A part is one round of one device. All inputs of a part exist before it starts, so
// the parts can run one after the other in the order (round, device), and the parts of one round in
// parallel.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

struct part {
    uint32_t device, round;
    VEC(node_id) nodes;
    VEC(value_id) in;  // results of other parts and inputs of the graph; no initializers
    VEC(value_id) out; // inputs of other parts and outputs of the graph
};

struct parts {
    struct part *at; // by round, then device
    size_t n;
    uint32_t *of; // per value: 1 + the part that computes it; 0: none
};

// Every node must be on a device, and only an Identity may read a value of another device (pass
// `transfer`). `out` is in the arena.
status parts_of(const struct graph *g, struct arena *a, struct diags *d, struct parts *out);

// The part as a model, which shares tensors and types with the original. NULL: out of memory.
struct model *part_model(const struct model *m, const struct parts *parts, size_t i,
                         struct arena *a);
