// Starts for the placement search that fit small memories: a training step is cut across the
// devices so that the backward pass goes back the way that the forward pass came, and each device
// stays within its memory by recomputing, as the rematerialization solver plans it for the nodes of
// that device alone.
#pragma once

#include "ir/base/stop.h"
#include "solver/model/strategy.h"

struct remat_effort {
    const struct stop *stop;
    double seconds; // for all together, about; 0: a work that depends on the problem alone
    uint64_t seed;
    const char *worker_path; // see solve.h
};

// At most `most` strategies that can be carried out, whether they fit or not; fewer when the graph
// does not tell forward from backward, or the stop is raised. -1: no room.
int32_t place_remat(const struct placement *p, const struct remat_effort *effort, struct arena *a,
                    struct strategy *out, int32_t most);
