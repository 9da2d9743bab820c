// A copy of a model whose graph can be changed while the original stays as it is: to try a plan
// and take it back.
#pragma once

#include "ir/graph.h"

// Nodes, values and lists are copied, subgraphs too; ids are the same in both. What never changes
// once made is shared: types, tensors, names, functions. The copy lives in `a` and must not outlive
// the original, which owns the open files (model_close of a copy closes nothing). NULL: no room.
struct model *model_copy(const struct model *m, struct arena *a);
