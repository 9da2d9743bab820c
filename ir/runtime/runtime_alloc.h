// What ONNX Runtime's planner does with the storages of a graph: see runtime_alloc.c.
#pragma once

#include "ir/storage.h"

// Changes `s`, as storage_of gave it, into the buffers that the planner allocates when the nodes
// run in this order: storages that share a buffer become one, which is held from the first of them
// to the last, also while nobody needs it in between. Liveness of the result is the planner's.
status runtime_alloc(const struct graph *g, const node_id *order, size_t n, struct arena *a,
                     struct diags *d, struct storage *s);
