// Cutting a placed graph into parts that a runtime can run as models of their own.
//
// A device cannot run all of its nodes in one go: in a training step it computes, sends, waits for
// what others make of that, and goes on. So the nodes of a device, which keep their order, are cut
// into rounds: a node that reads what another device made in round r is in round r + 1 at the
// earliest. A part is one round of one device. All it reads from elsewhere is there before it
// starts, so parts in the order (round, device) can be run one after the other, and those of one
// round side by side.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

struct part {
    uint32_t device, round;
    VEC(node_id) nodes;
    VEC(value_id) in;  // made by other parts, and inputs of the graph; without initializers
    VEC(value_id) out; // read by other parts, or outputs of the graph
};

struct parts {
    struct part *at; // by round, then device
    size_t n;
    uint32_t *of; // per value: 1 + the part that makes it; 0: none does
};

// Every node must be on a device, and read across devices only through an Identity (pass
// `transfer`).
status parts_of(const struct graph *g, struct arena *a, struct diags *d, struct parts *out);

// The part as a model: shares tensors and types with the original. NULL: no room.
struct model *part_model(const struct model *m, const struct parts *parts, size_t i,
                         struct arena *a);
