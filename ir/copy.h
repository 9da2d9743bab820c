// Copies of models. A caller that tries a plan changes the copy and keeps the original.
#pragma once

#include "ir/graph.h"

// Copies nodes, values, lists and subgraphs; ids stay the same. Immutable parts are shared: types,
// tensors, names, functions. The copy is allocated in `a` and must not outlive the original, which
// owns the open files (model_close of a copy closes nothing). NULL: out of memory.
struct model *model_copy(const struct model *m, struct arena *a);

// Gives `m` the contents of a copy of it that was allocated in m->arena. Pointers to the copy are
// not valid afterwards.
void model_replace(struct model *m, const struct model *copy);
