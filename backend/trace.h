// A plan in Chrome's trace event format, for chrome://tracing, Perfetto and others: one process per
// device, one slice per node with its cost as duration, flow arrows for transfers between devices,
// and memory counters.
#pragma once

#include "ir/graph.h"

status trace_print(struct str *out, const struct model *plan, struct diags *d);
