// Project selection: a project brings a profit and needs tools; a tool has a price and is bought
// once, however many projects need it. Which projects bring the most together? It is a minimum cut
// (Rhys 1970): profits flow through the needs into the prices, and a project is worth its tools
// when its profit cannot all flow off. The flow is found by pushes and relabels (Goldberg and
// Tarjan 1988), first in first out, with the labels worked out anew now and then; on the sparse
// graphs of this solver that is close to linear. All numbers are integers, and the result is exact.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/mem.h"
#include "ir/base/stop.h"

struct selection {
    int32_t n_projects, n_tools;
    int32_t *need_start, *need_of; // project i needs tools need_of[need_start[i] ..]
    int64_t *profit, *price;       // >= 0; the sum of all profits fits
    bool *taken;                   // per project, of the best selection: the largest, when several
    int64_t value;                 // what it brings; after a stop, no selection brings more
};

// False: no room. When `stop` (or NULL) ends it, `taken` may be worth less than `most`.
bool selection_solve(struct selection *s, struct mem *mem, const struct stop *stop);
