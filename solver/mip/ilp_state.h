// Private state of the lazy integer program (ilp.c, ilp_refine.c).
#pragma once

#include "solver/mip/cut_stage.h"
#include "solver/mip/ilp.h"

struct ilp {
    const struct ilp_task *task;
    struct cut_view view;
    struct arena *a; // lives as long as the task
    struct ilp_result *out;
    bool *is_cut; // per node, and for the sink
    struct cut_rows rows;
    int64_t safe_bound; // by LP relaxations alone
    int64_t start_ns;
    bool over;
};

// Repairs each closed stage in which the sequence of solution x exceeds the capacity: reorders it
// to fit, or, if no order fits, adds rows that cut it off. False: out of memory.
bool ilp_repair_stages(struct ilp *s, const struct cut_model *m, const double *x,
                       struct sequence *q, struct arena *scratch);

// Adds cuts where the sequence exceeds the capacity of solution x. False: out of memory.
bool ilp_add_cuts(struct ilp *s, const struct cut_model *m, const double *x, struct sequence q,
                  struct arena *scratch, int32_t *n_added);
