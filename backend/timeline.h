// A model over time: what runs when, on which device, and what is held meanwhile by whom. Reports,
// traces and summaries are drawn from it.
//
// The graph is the plan: its order is the schedule, and a node with `again` is another execution of
// that node. Of these executions the first is the work itself, all later ones repeat it.
// Devices work side by side, each on its own nodes one after the other; a node begins when its
// device is free and what it reads is there. With one device that is one node after the other. What
// is sent to a device arrives beside its work, one transfer after the other.
#pragma once

#include "ir/storage.h"

// Who holds memory. What the loss depends on is the forward pass; all else is gradients.
enum holder {
    HOLDER_FIXED,      // parameters, inputs, constants
    HOLDER_ACTIVATION, // made by the forward pass
    HOLDER_AGAIN,      // made by a repetition
    HOLDER_GRADIENT,   // made by the backward pass or the optimizer
    HOLDER_WORKSPACE,  // of the node that runs
    HOLDER_COUNT_
};

enum work { WORK_FORWARD, WORK_BACKWARD, WORK_AGAIN, WORK_TRANSFER, WORK_CONTROL, WORK_COUNT_ };

struct timeline {
    const struct graph *graph;
    struct storage storage;
    struct liveness liveness;
    const node_id *order;
    uint32_t n_steps;                 // step i runs order[i]
    uint32_t n_devices;               // those that have nodes, at least 1
    const char **device_name;         // "" for nodes that are not placed
    int64_t *device_bytes;            // what each has; INT64_MAX: no limit, or none that is known
    bool *computes;                   // each: or only keeps what it is sent
    bool has_costs;                   // otherwise every node counts as one unit of time
    enum work *work;                  // per step
    uint32_t *device;                 // per step
    int64_t *start, *end;             // per step
    int64_t span;                     // when the last one ends
    uint32_t *step_of;                // per node: its step; only of nodes in the order
    enum holder *holder;              // per storage
    int64_t (*held)[HOLDER_COUNT_];   // per step, on its device
    int64_t *held_bytes;              // their sums
    uint32_t peak_step;               // where the fullest device that computes is fullest
    uint32_t n_recomputed, n_control; // repetitions; control nodes
    int64_t cost, recompute_cost;     // of all nodes but transfers; of the repetitions
};

// The nodes run in the order of the graph, or in another one, which must outlive the timeline: that
// of a runtime, say, which may leave Constant nodes out.
status timeline_make(const struct model *m, struct arena *a, struct diags *d, struct timeline *out);
status timeline_make_in(const struct model *m, const node_id *order, size_t n, struct arena *a,
                        struct diags *d, struct timeline *out);

const char *holder_name(enum holder h); // for people
const char *work_name(enum work w);

// The node that it is an execution of.
node_id timeline_origin(const struct graph *g, node_id n);

// The storages held at a step on its device, the largest first (by storage number among equals),
// workspace and fixed ones left out. Returns how many there are; at most `most` go to `out`.
size_t timeline_held(const struct timeline *t, uint32_t step, uint32_t *out, size_t most);
