// Presolve for large neighbourhood search: removes fixed columns and redundant rows. When most of a
// program is fixed to a known solution, the reduced program is small and CBC starts faster.
#pragma once

#include "solver/mip/cbc.h"

struct cbc_reduced {
    struct cbc_model program;
    const struct cbc_model *whole;
    int32_t *col;    // per column: its column in the whole program
    double constant; // cost of the fixed columns
    double *initial; // the initial solution, per column
};

// `initial` is a solution of the whole program. The result is in the arena and refers to `whole`.
// False: out of memory.
bool cbc_reduce(const struct cbc_model *whole, const double *initial, struct arena *a,
                struct cbc_reduced *out);

// Turns an answer of the reduced program into one of the whole program. False: out of memory.
bool cbc_expand(const struct cbc_reduced *reduced, struct arena *a, struct cbc_answer *answer);
