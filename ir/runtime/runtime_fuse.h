// What ONNX Runtime's levels extended and all fuse: see runtime_fuse.c.
#pragma once

#include "ir/graph.h"

// Changes the graph into what those levels make of it, as far as memory is concerned. For looking
// at, not for running: fused operators are not ONNX's.
status runtime_fuse(struct graph *g, struct arena *a, struct diags *d);
