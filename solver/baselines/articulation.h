// Articulation points: nodes whose removal disconnects a graph.
#pragma once

#include "solver/model/problem.h"

// Finds those of the undirected graph on nodes 0 .. n_first-1 of the problem (its forward part).
// is_point has n_first elements. False: out of memory.
bool articulation_points(const struct problem *p, int32_t n_first, struct arena *scratch,
                         bool *is_point);
