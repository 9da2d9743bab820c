// A program without its fixed columns, and without the rows that say nothing about the others: what
// is left when most of a program is fixed to a known point is small, and CBC need not find out.
#pragma once

#include "solver/mip/cbc.h"

struct cbc_reduced {
    struct cbc_model program;
    const struct cbc_model *whole;
    int32_t *col;    // of the whole program, per column of this one
    double constant; // what the fixed columns cost
    double *start;   // the point, per column of this one
};

// `start` is a point of the whole program. Everything is in the arena; the whole program must stay.
// False: no room.
bool cbc_reduce(const struct cbc_model *whole, const double *start, struct arena *a,
                struct cbc_reduced *out);

// Makes an answer about the reduced program one about the whole. False: no room.
bool cbc_expand(const struct cbc_reduced *reduced, struct arena *a, struct cbc_answer *answer);
