// From the graph and a set of devices to the solver's placement problem. Its nodes are the clusters
// of a rematerialization problem (remat.h), so that remat_apply_strategy can apply a strategy to
// the graph.
//
// Times are nanoseconds. The time of a node on a device is node.cost, scaled by the ratio that the
// cost rules give between that device and the reference device of node.cost. A parameter or input
// is held by the device of its first reader, and all its readers are placed together: a layer with
// its gradient and its update. Small ones, and those with many readers, are held by every device.
#pragma once

#include "passes/cost/cost.h"
#include "passes/remat/remat.h"
#include "solver/model/placement.h"

// The devices that a plan is for. frontend/inputs/rig.h reads it.
struct rig {
    struct placement places;        // without a graph: places, links, resources and routes
    const struct cost_device *cost; // per device: its speed
};

// The result shares the rig's places and lives in c->arena.
//
// `part`: of each cluster the number of the part that it belongs to, -1 for none, or NULL. Then
// only readers of the same part are placed together, and each part holds a parameter of its own, as
// replicas do; parts that end up on one device are charged for it more than once.
status placement_problem_make(struct graph *g, const struct remat *r, const struct rig *rig,
                              const int32_t *part, struct pass_context *c, struct placement *out);

// Sets the cost of every node of a placed graph, except transfers, to its time on its device.
// Devices are numbered as in `places`.
status placement_problem_set_times(struct graph *g, const struct placement *places,
                                   const struct cost_device *speed, struct pass_context *c);
