// Facts: what is known to hold of a model. Passes need, give and break them (passes/pass.h), and
// the text form states them.
#pragma once

#include "ir/base/str.h"

enum fact {
    FACT_TOPO = 1 << 0,
    FACT_SHAPES = 1 << 1,
    FACT_LOSS = 1 << 2,
    FACT_GRAD = 1 << 3,
    FACT_COSTS = 1 << 4,
    FACT_PLACED = 1 << 5,
    FACT_PLAN = 1 << 6,
    FACT_REWRITTEN = 1 << 7,
};

// "shapes, costs": the facts of a mask, in the words that the text form uses; fact_find reads one.
void fact_print(struct str *out, unsigned facts);
bool fact_find(const char *word, unsigned *fact);
