// Steering of ONNX Runtime's arena: control nodes that make it keep to a layout near the liveness
// peak. The planner calls it on the rewritten graph, before wrap_model (passes/rewrite/wrap.h):
//
//     struct steer_result r;
//     st = steer_model(m, c, &r);     // m may have new control nodes; r.after_bytes is what
//                                     // runtime_events and ort_session_of say of the new graph
#pragma once

#include "passes/pass.h"

struct steer_result {
    // What a session adds to its initializers and inputs, in any run, at the worst optimization
    // level, without memory patterns: before and after. Equal if nothing helps.
    int64_t before_bytes, after_bytes;
    uint32_t n_nodes; // new ones
    uint32_t n_plugs, n_holds;
};

// Tries several heights and keeps the best by simulation of the final graph; control nodes count
// with the memory of the session for them. The sizes of all values and workspaces must be known.
status steer_model(struct model *m, struct pass_context *c, struct steer_result *out);
