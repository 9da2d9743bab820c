// One stage, exactly: can it be run within the room, in whatever order?
//
// A stage is what happens between the first runs of t - 1 and t. Given are what is held when it
// begins, what may run again in it (once, twice, or as often as it likes), and what must be held
// when t has run. The search goes over (what is held, what has run) and ends with an order of runs,
// or the proof that there is none.
#pragma once

#include "solver/mip/cut.h"

enum { STAGE_ANY = 3 };
enum stage_answer { STAGE_FITS, STAGE_DOES_NOT_FIT, STAGE_TOO_LARGE };

struct stage {
    int32_t t;
    bool *held, *wanted; // per node: at the beginning, when t has run
    uint8_t *runs;       // per node: how often it may run; STAGE_ANY: any number of times
    bool lenient;        // inputs that are nowhere are there for nothing (for bounds)
};

// The runs, in order, without t itself, go to `out` (in the arena a) when it fits. False: no room.
bool stage_order(const struct cut_view *v, const struct stage *s, int64_t room, struct arena *a,
                 enum stage_answer *answer, struct sequence *out);

// Both are cuts of the model: the stage that a point means, and, when it cannot be run, a row that
// forbids it and all stages that are at least as hard. (A stage is harder when it begins with
// less, may run less, or must hold more at its end.)
bool stage_of_point(const struct cut_view *v, const struct cut_model *m, const double *x, int32_t t,
                    struct arena *a, struct stage *out);
bool stage_forbid(const struct cut_view *v, const struct stage *s, int64_t room, struct arena *a,
                  struct cut_row *out);
