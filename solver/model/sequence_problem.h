// A sequence as a problem of its own: every run becomes a node, which reads the runs that it is
// bound to. Its given order is the sequence; what runs again in it runs again in the sequence.
#pragma once

#include "solver/model/problem.h"
#include "solver/model/sequence.h"

// The sequence is right. Names are left out. False: no room.
bool unroll(const struct problem *p, struct sequence s, struct arena *a, struct problem *out);
