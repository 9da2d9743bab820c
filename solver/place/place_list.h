// List scheduling (HEFT) for initial solutions: nodes by decreasing longest path to the end, each
// on the device with the earliest finish time, with transfers that wait for their links. Of memory
// only resident bytes count.
#pragma once

#include "solver/model/strategy.h"

enum list_kind {
    LIST_SEND,              // every node runs once
    LIST_DUPLICATE,         // a device runs an input itself where that is earlier than a transfer
    LIST_DUPLICATE_FORWARD, // the forward pass runs on every device
};

// False: out of memory.
bool place_list(const struct placement *p, enum list_kind kind, struct arena *a,
                struct strategy *out);
