// What a user can do about control flow that data decides.
#pragma once

#include "ir/graph.h"

// "--input-value sr=N": the small integer inputs of the graph that the branch of an If, or the
// length of a Loop, depends on, when it depends on nothing else. NULL: it depends on other data.
const char *control_hint(const struct graph *g, node_id id, struct arena *a);
