// The gaps of a step: where control nodes can act, so that they act at the same place at every
// optimization level. Levels extended and all fuse nodes, so their lists of requests differ from
// that of the levels below; each list is a *lane* of the search.
#pragma once

#include "passes/steer/steer_trace.h"

enum { STEER_MAX_LANES = 3 };

struct steer_gap {
    value_id after;   // control nodes wait for this value; none: from the start of the step
    node_id user;     // and this node waits for them,
    uint32_t operand; // by this operand
    uint32_t event[STEER_MAX_LANES]; // they act just before this request of a lane
};

struct steer_lanes {
    struct steer_trace trace[STEER_MAX_LANES]; // the first is that of the graph as it is written
    uint32_t n;
    struct steer_gap *gaps;
    uint32_t n_gaps;
    uint32_t
        *item_of[STEER_MAX_LANES]; // by value: the item that it is in, if it is the first in it
};

// Finds the gaps of the traces in `io`. False: out of memory.
bool steer_gaps_find(struct steer_lanes *io, struct arena *a);
