// Named tensors with metadata: the state of a training step, as its file holds it. Elements stay in
// the files that they came from, as in struct tensor; a tensor without a payload is all zeros.
#pragma once

#include "ir/base/map.h"
#include "ir/tensor.h"

struct tensors {
    struct arena *arena;
    VEC(struct tensor *) list; // each has a name of its own
    struct map by_name;        // -> index in the list
    struct pairs metadata;
};

struct tensors tensors_make(struct arena *a);
// The name must be new. False: out of memory.
bool tensors_add(struct tensors *t, struct tensor *x);
struct tensor *tensors_find(const struct tensors *t, const char *name); // NULL: none
