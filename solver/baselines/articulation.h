// Articulation points: nodes whose removal splits a graph.
#pragma once

#include "solver/model/problem.h"

// Of the undirected graph on nodes 0 .. n_first-1 of the problem (its forward part). is_point has
// room for n_first; the scratch arena for a few arrays. False: no room.
bool articulation_points(const struct problem *p, int32_t n_first, struct arena *scratch,
                         bool *is_point);
