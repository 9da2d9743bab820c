// Peaks of a placed graph, device by device: the check of every plan for several devices.
#pragma once

#include "ir/base/diag.h"
#include "ir/graph.h"

// The most that each device holds at any of its own steps when the nodes run in the order of the
// graph: what it makes or is sent, up to its last reader anywhere; what of inputs, initializers and
// constants its nodes read; the workspace of the node that runs. `peak_bytes` is per device, from
// 0. It shares nothing with the simulator that a placement was found by.
status device_peaks(const struct graph *g, struct arena *a, struct diags *d, int64_t *peak_bytes);
