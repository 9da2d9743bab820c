// Exact feasibility of one stage: is there an order of its runs within the capacity?
//
// A stage is the part of a schedule between the first runs of t - 1 and t. Given are the tensors in
// memory at its begin, the nodes that may be recomputed in it (once, twice, or without limit), and
// the tensors required in memory after t has run. A search over states (tensors in memory, nodes
// that ran) ends with an order of runs, or with the proof that none exists.
#pragma once

#include "solver/mip/cut.h"

enum { STAGE_ANY = 3 };
enum stage_answer { STAGE_FITS, STAGE_DOES_NOT_FIT, STAGE_TOO_LARGE };

struct stage {
    int32_t t;
    bool *held, *required; // per node: in memory at the begin; required after t has run
    uint8_t *runs;         // per node: maximum number of runs; STAGE_ANY: no limit
    bool lenient;          // missing inputs count as available, at zero bytes (a relaxation)
};

// STAGE_FITS: `out` (in the arena) is an order of the runs, without t itself. STAGE_TOO_LARGE: the
// search was given up. False: out of memory, as below.
bool stage_order(const struct cut_view *v, const struct stage *s, int64_t capacity, struct arena *a,
                 enum stage_answer *answer, struct sequence *out);

// The stage t of a solution x, and, for an infeasible stage, a row that cuts off this stage and all
// that are at least as constrained: with fewer tensors at the begin, fewer runs, or more required
// tensors. Nodes t - 1 and t must be cuts of the model.
bool stage_of_point(const struct cut_view *v, const struct cut_model *m, const double *x, int32_t t,
                    struct arena *a, struct stage *out);
bool stage_forbid(const struct cut_view *v, const struct stage *s, int64_t capacity,
                  struct arena *a, struct cut_row *out);
