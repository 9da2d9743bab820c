// Peak memory per device of a placed graph: the check of every plan for several devices. It is
// independent of the simulator that the placement search uses.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// The peak of each device over the steps of its own nodes, when the nodes execute in g->order. A
// device holds the tensors that it computes or receives, until their last reader on any device; the
// inputs, initializers and constants that its nodes read, throughout; and the workspace of the
// executing node. Nodes without a device do not count. Relies on g->order being topological and on
// Transfer nodes where a tensor changes its device. `peak_bytes` has one entry per device name.
status device_peaks(const struct graph *g, struct arena *a, struct diags *d, int64_t *peak_bytes);
