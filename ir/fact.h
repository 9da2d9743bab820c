// Facts: properties that a model is known to have. Passes need, give and break them
// (passes/pass.h), passes/fact_check.c verifies them, and the text form states them.
#pragma once

#include "ir/base/str.h"

enum fact {
    FACT_TOPO = 1 << 0,   // the nodes of every graph are in a topological order
    FACT_SHAPES = 1 << 1, // every value has the type that its node's shape rule infers
    FACT_LOSS = 1 << 2,   // the first output is the loss, a float of rank 0
    FACT_GRAD = 1 << 3,   // there is a backward pass: outputs are grad(NAME) or next(NAME)
    FACT_COSTS = 1 << 4,  // every node has a cost
};

#define FACT_ALL (FACT_TOPO | FACT_SHAPES | FACT_LOSS | FACT_GRAD | FACT_COSTS)

// "shapes, costs": the facts of a mask, in the words of the text form.
void fact_print(struct str *out, unsigned facts);
// The fact of a word. Words of version 0.1 that no pass needs (placed, plan, rewritten) are
// accepted and give 0.
bool fact_find(const char *word, unsigned *fact);
