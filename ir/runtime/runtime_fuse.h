// Fusions of ONNX Runtime's optimization levels extended and all: see runtime_fuse.c.
#pragma once

#include "ir/graph.h"

// Rewrites the graph to the memory behavior of those levels. The result is for analysis only: a
// fused node keeps its ONNX operator name and does not compute the same result.
status runtime_fuse(struct graph *g, struct arena *a, struct diags *d);
