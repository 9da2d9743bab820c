// List schedules, to begin a placement search with: nodes in the order of the longest way to the
// end, each on the device on which it ends first, with transfers that wait for their links. Memory
// counts only by what is resident.
#pragma once

#include "solver/model/strategy.h"

enum list_kind {
    LIST_SEND,      // every node runs once
    LIST_DUPLICATE, // what a device needs it runs itself, where that is earlier than being sent it
    LIST_DUPLICATE_FORWARD, // the forward pass runs on every device: else they would only wait
};

// False: no room.
bool place_list(const struct placement *p, enum list_kind kind, struct arena *a,
                struct strategy *out);
