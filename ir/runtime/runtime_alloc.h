// Buffer sharing by ONNX Runtime's static memory planner: see runtime_alloc.c.
#pragma once

#include "ir/storage.h"

// Merges the storages `s` of the graph (from storage_of) that share a buffer when the nodes execute
// in this order. A merged storage lives from its first value to its last, including gaps in
// between, so that liveness_of(s) is the liveness that the planner has. `known`: by value, whether
// ONNX Runtime knows its shape (ort_shapes.h).
status runtime_alloc(const struct graph *g, struct node_list order, const bool *known,
                     struct arena *a, struct diags *d, struct storage *s);
