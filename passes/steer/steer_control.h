// Steering in standard operators: see steer_control.c.
#pragma once

#include "passes/pass.h"
#include "passes/steer/steer_search.h"

// Inserts the control nodes of `ops` into the graph that is written.
status steer_control(struct graph *g, const struct steer_lanes *l, const struct steer_ops *ops,
                     struct arena *a, struct diags *d);
