// Project selection: a project has a profit and needs tools; a tool has a price and is bought once,
// for any number of projects. The selection of maximum value is a minimum cut (Rhys, 1970): profits
// flow through the needs into the prices, and a project is selected if its profit cannot all flow
// off. The flow is computed by push-relabel (Goldberg and Tarjan, 1988) in FIFO order with periodic
// global relabeling, close to linear time on the sparse graphs of this solver. All numbers are
// integers, and the result is exact.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/mem.h"
#include "ir/base/stop.h"

struct selection {
    int32_t n_projects, n_tools;
    int32_t *need_start, *need_of; // project i needs tools need_of[need_start[i] ..]
    int64_t *profit, *price;       // >= 0; the sum of all profits fits int64_t
    bool *taken;   // per project: in the best selection, the largest one if there are several
    int64_t value; // of the best selection; after a stop, an upper bound
};

// `stop` may be NULL; if it ends the search, `taken` may have less than `value`. False: out of
// memory.
bool selection_solve(struct selection *s, struct mem *mem, const struct stop *stop);
