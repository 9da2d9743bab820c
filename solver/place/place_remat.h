// Initial solutions that fit small memories: a training step is cut into pipeline stages, with each
// backward node on the device of its forward node, and each device stays within its memory by
// recomputation, as planned by the rematerialization solver for its nodes alone.
#pragma once

#include "ir/base/stop.h"
#include "solver/model/strategy.h"

struct remat_effort {
    const struct stop *stop;
    double seconds; // in total, about; 0: a work that depends on the problem alone
    uint64_t seed;
    const char *worker_path; // see solve.h
};

// Executable strategies, within memory or not; fewer when the graph does not distinguish forward
// and backward nodes, or the stop is raised. Returns how many, at most max_n; -1: out of memory.
int32_t place_remat(const struct placement *p, const struct remat_effort *effort, struct arena *a,
                    struct strategy *out, int32_t max_n);
