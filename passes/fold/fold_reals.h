// Arithmetic of constants: a node that computes a few numbers from constants alone.
#pragma once

#include "ir/graph.h"

// Whether `n` is such a node. *out: its result, allocated in `a`; NULL: out of memory.
bool fold_reals(const struct graph *g, const struct node *n, struct arena *a, struct arena *scratch,
                struct tensor **out);
