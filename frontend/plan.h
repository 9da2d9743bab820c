// What `mfc model.onnx -o plan.onnx` does between reading and writing. The command and the library
// share it.
//
// The whole way: the passes that make the unplanned step (step.h), then a plan for it within the
// budget: what is kept, what is computed again, in which order, and what makes the runtime keep
// that order. The promise is about the peak of the runtime model (backend/runtime.h).
#pragma once

#include "backend/facts.h"
#include "ir/base/options.h"
#include "ir/pass.h"
#include "passes/remat.h"
#include "solver/solve.h"

// What a plan promises and costs. Bytes include the fixed part.
struct plan_report {
    bool planned; // false: the step is as it is, nothing below is filled in
    const char *runtime;
    int64_t unplanned_bytes; // peak of the unplanned step on the runtime
    int64_t budget_bytes;    // without --budget: the plan's own peak
    int64_t peak_bytes;      // on the runtime; of the fullest device when there are several
    int64_t plain_peak_bytes, fused_peak_bytes; // levels disabled and basic; extended and all
    int64_t liveness_bytes;                     // in the order of the file
    int64_t fixed_bytes;                        // parameters, inputs, constants: held throughout
    int64_t arena_bytes;     // what is laid out at fixed addresses; the fixed part is not in it
    int64_t base_cost, cost; // every node once; with what is computed again
    int64_t bound;           // no plan for this budget costs less; BOUND_NONE: nothing is known
    int64_t n_nodes, n_groups;
    int64_t n_again, n_control; // nodes that repeat another one; control nodes
    bool is_interrupted;        // the search was ended early
    enum outcome outcome;
    int64_t least_bytes;   // by liveness, no plan of at most this time fits in less; 0: not known
    int64_t makespan_cost; // on several devices; 0: there is one
    const struct model *step; // the unplanned step, in the arena of the context; or NULL
};

// Who wants to see the search: told of each search before it begins. All may be NULL.
struct plan_watch {
    struct solve_hooks hooks;
    void (*begin)(void *context, int64_t base_cost, int64_t budget_bytes);
};

// Runs passes, such as "shapes,grad". c->arena is scratch. When the stop is raised between two of
// them, the run ends with ST_INTERRUPTED.
status plan_run(struct model *m, const char *passes, struct pass_context *c);

// The whole way. When the stop is raised in a search, it ends with the best plan so far. `watch`
// may be NULL: progress is then told in lines. *out says what came of it.
status plan_make(struct model *m, struct pass_context *c, const struct plan_watch *watch,
                 struct plan_report *out);

// plan_search.c: from the unplanned step, costs included, to the plan.
status plan_search(struct model *m, struct pass_context *c, const struct plan_watch *watch,
                   struct plan_report *out);

// What one schedule of a step would need as a plan on the runtime of --runtime. The step stays as
// it is.
status plan_measure(struct model *step, const struct remat *r, struct steps steps,
                    struct pass_context *c, int64_t *peak_bytes);

// Writes it: text for a name that ends with .mfc, a picture for .dot, else ONNX.
status plan_write(const struct model *m, const char *path, struct diags *d);

// plan_report.c: a table for people, and the numbers as reports take them.
void plan_report_print(struct str *out, const struct plan_report *r);
void plan_report_facts(const struct plan_report *r, struct facts *out);
