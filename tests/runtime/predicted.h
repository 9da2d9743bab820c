// What the runtime model says of a file, for comparison with the real ONNX Runtime.
#pragma once

#include "ir/graph.h"
#include "ir/runtime/ort_session.h"

// The model in a file, with the types of all values and the workspace of all nodes, which are not
// in it. Errors end the program here and below; results are allocated in `a`.
struct model *predicted_model(const char *path, struct arena *a, struct diags *d);

// The requests of one run at an optimization level: "disabled", "basic", "extended" or "all".
// Returns the model; nodes of `out` are those of its graph.
struct model *predicted_events(const char *path, const char *level, struct arena *a,
                               struct ort_events *out);
