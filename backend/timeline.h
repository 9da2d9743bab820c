// The timeline of a plan: when each node runs, on which device, and which memory is in use
// meanwhile. Reports and traces are drawn from it.
//
// The graph is the plan: its order is the schedule, and a node with `again` is another execution of
// that node. The first execution counts as the original, all later ones as recomputation. Devices
// run in parallel, each its own nodes one after the other; a node starts when its device is free
// and its inputs exist. Transfers to a device run in parallel with its nodes, one after the other.
// A plan that mfc has placed holds the times of its simulation (KEY_TIME), which count instead.
#pragma once

#include "ir/storage.h"

// What memory is used for. The forward pass is what the loss depends on; all other nodes belong to
// the backward pass.
enum holder {
    HOLDER_PERSISTENT, // parameters, optimizer state, inputs, constants
    HOLDER_ACTIVATION, // results of the forward pass
    HOLDER_RECOMPUTED, // results of recomputation
    HOLDER_GRADIENT,   // results of the backward pass and the optimizer
    HOLDER_WORKSPACE,  // of the running node
    HOLDER_COUNT_
};

enum work { WORK_FORWARD, WORK_BACKWARD, WORK_RECOMPUTE, WORK_TRANSFER, WORK_CONTROL, WORK_COUNT_ };

struct timeline {
    const struct graph *graph;
    struct storage storage;
    struct liveness liveness;
    const node_id *order;
    uint32_t n_steps;               // step i runs order[i]
    uint32_t n_devices;             // with nodes; at least 1
    const char **device_name;       // "" for unplaced nodes
    int64_t *device_bytes;          // per device: its memory; INT64_MAX: unlimited or unknown
    bool *computes;                 // per device; false: it only stores tensors (the host)
    bool has_costs;                 // false: every node takes one unit of time
    enum work *work;                // per step
    uint32_t *device;               // per step
    int64_t *start, *end;           // per step
    int64_t span;                   // the end of the last step
    uint32_t *step_of;              // per node in the order: its step
    enum holder *holder;            // per storage
    int64_t (*held)[HOLDER_COUNT_]; // per step: bytes in use on its device
    int64_t *held_bytes;            // their sums
    uint32_t peak_step;             // the step with the most memory in use on a computing device
    int64_t cost;                   // of all nodes except transfers
};

// The timeline of a model in its own order, or in another one: that of a runtime, for example,
// which may leave out Constant nodes. The order must outlive the timeline.
status timeline_make(const struct model *m, struct arena *a, struct diags *d, struct timeline *out);
status timeline_make_in(const struct model *m, const node_id *order, size_t n, struct arena *a,
                        struct diags *d, struct timeline *out);

const char *timeline_holder_name(enum holder h);
const char *timeline_work_name(enum work w);

// The node that `n` recomputes, or `n` itself.
node_id timeline_origin(const struct graph *g, node_id n);

// The storages in use at a step on its device, without workspace and persistent memory, largest
// first (by storage number among equals). Returns their number; at most `max` go to `out`.
size_t timeline_held(const struct timeline *t, uint32_t step, uint32_t *out, size_t max);
