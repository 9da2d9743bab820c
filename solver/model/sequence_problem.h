// A sequence as a problem of its own: every run becomes a node, which reads the runs that it is
// bound to. Its given order is the sequence; a run that is recomputed in it is recomputed in the
// sequence.
#pragma once

#include "solver/model/problem.h"
#include "solver/model/sequence.h"

// The sequence is valid. Names are left out. False: out of memory.
bool unroll(const struct problem *p, struct sequence s, struct arena *a, struct problem *out);
