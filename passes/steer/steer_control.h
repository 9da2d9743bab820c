// Steering in standard operators: see steer_control.c.
#pragma once

#include "passes/pass.h"
#include "passes/steer/steer_search.h"

// Inserts the control nodes of `ops` into the graph that `r` and `t` are of.
status steer_control(struct graph *g, const struct ort_requests *r, const struct steer_trace *t,
                     const struct steer_ops *ops, struct arena *a, struct diags *d);
