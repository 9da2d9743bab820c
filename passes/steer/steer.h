// Steering of ONNX Runtime's arena: control nodes that make it keep to a layout near the liveness
// peak. The planner calls it on the rewritten graph, before wrap_model (passes/rewrite/wrap.h):
//
//     struct steer_result r;
//     st = steer_model(m, c, &r);     // m may have new control nodes
//     …
//     st = steer_repeat(copy, c, r.recipe);     // the same ones in a copy of the graph from before
#pragma once

#include "passes/pass.h"

// The search that has found the control nodes.
struct steer_recipe {
    uint32_t n_lanes; // lists of requests that it has followed; 0: there are no control nodes
    int32_t slack_permille;
};

struct steer_result {
    // What a session adds to its initializers and inputs, in any run, at the worst optimization
    // level, without memory patterns: before and after. Equal if nothing helps.
    int64_t before_bytes, after_bytes;
    uint32_t n_nodes; // new ones
    uint32_t n_plugs, n_holds;
    struct steer_recipe recipe;
};

// Tries several heights and keeps the best by simulation of the final graph; control nodes count
// with the memory of the session for them. The sizes of all values and workspaces must be known.
// When c->stop is raised or its time is over, the best so far counts; else the result depends on
// the model alone.
status steer_model(struct model *m, struct pass_context *c, struct steer_result *out);

// Adds the same nodes to the same graph, whatever c->stop says.
status steer_repeat(struct model *m, struct pass_context *c, struct steer_recipe recipe);
