// From the graph and a set of devices to the solver's placement problem. Its nodes are the groups
// of a rematerialization problem (remat.h), so that a strategy for it can be applied to the graph
// by remat_place.
//
// Times are nanoseconds: what a node costs on a device is node.cost, times how much slower the cost
// rules take that device for than the one that node.cost is about. A parameter or input is held by
// the device of its first reader, and all that read it are kept together, a layer with its gradient
// and its update; unless it is small or read everywhere: then it counts on every device.
#pragma once

#include "passes/cost/cost.h"
#include "passes/remat/remat.h"
#include "solver/model/placement.h"

// The devices that a plan is for. frontend/inputs/rig.h reads it.
struct rig {
    struct placement places;        // without a graph: places, links, resources and routes
    const struct cost_device *cost; // per device: how fast it is
};

// The result shares the rig's places and lives in c->arena.
status placement_problem(struct graph *g, const struct remat *r, const struct rig *rig,
                         struct pass_context *c, struct placement *out);

// Gives the nodes of a placed graph, whose devices are numbered as `places` are, the time that they
// take there, and transfers the time of their way.
status place_times(struct graph *g, const struct placement *places, const struct cost_device *speed,
                   struct pass_context *c);
