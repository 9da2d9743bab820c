// A plan as a trace in Chrome's format, which chrome://tracing, Perfetto and others show: a process
// for each device, a slice for each node with its cost as its length, arrows for what goes from one
// device to another, and counters of the memory that is held.
#pragma once

#include "ir/graph.h"

status trace_print(struct str *out, const struct model *plan, struct diags *d);
