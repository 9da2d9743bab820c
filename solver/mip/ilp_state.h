// Inside the lazy integer program (ilp.c, ilp_refine.c): what a task has found so far.
#pragma once

#include "solver/mip/cut_stage.h"
#include "solver/mip/ilp.h"

struct ilp {
    const struct ilp_task *task;
    struct cut_view view;
    struct arena *a; // for what lives as long as the task
    struct ilp_result *out;
    bool *is_cut; // per node, and one for the end
    struct cut_rows rows;
    int64_t safe_bound; // by linear programs alone
    int64_t start_ns;
    bool over;
};

// Every closed stage in which the point's sequence goes over the room gets an order that fits, or,
// when there is none, rows that forbid it. False: no room.
bool ilp_repair_stages(struct ilp *s, const struct cut_model *m, const double *x,
                       struct sequence *q, struct arena *scratch);

// Adds cuts where the sequence goes over the room of the point.
bool ilp_add_cuts(struct ilp *s, const struct cut_model *m, const double *x, struct sequence q,
                  struct arena *scratch, int32_t *n_added);
