// The largest batch within a budget, by method, as in Checkmate (Jain et al. 2020). Each batch size
// that is tried gets a step of its own, measured as in a sweep (sweep.h). The search assumes that
// all batches below a feasible one are feasible.
#pragma once

#include "frontend/tools/sweep.h"

#define MAX_BATCH_LIMIT ((int64_t)1 << 20)

struct batch_settings {
    struct solve_options solve; // seconds and work are per search
    struct sweep_methods methods;
    bool one_forward; // maximum overhead: the time of the forward pass
    double overhead;  // otherwise: this share of the step
    bool on_runtime;  // the budget limits the peak on the runtime, not the liveness peak
};

// The result of one method.
struct batch_line {
    const struct solve_method *method;
    int64_t fits;       // the largest batch with a schedule; 0: none
    int64_t fails;      // the smallest batch without; 0: none
    int64_t impossible; // proven: no plan of this batch fits, in any order; 0: none
    double share;       // of the budget, at `fits`
    double overhead;    // at `fits`
};

struct batch_table {
    int64_t budget_bytes;
    bool on_runtime;
    struct batch_line *lines;
    size_t n_lines;
    bool is_interrupted;
};

// Called before each batch size.
typedef void max_batch_begin(void *context, const struct solve_method *method, int64_t batch);

struct batch_hooks {
    const struct stop *stop;
    max_batch_begin *begin; // or NULL
    void *context;
};

// Searches the largest batch for each method. `c` is for the passes; its arena is scratch. `m` does
// not change.
status max_batch_search(const struct model *m, struct pass_context *c,
                        const struct batch_settings *settings, const struct batch_hooks *hooks,
                        struct batch_table *out);

void max_batch_print(struct str *out, const struct batch_table *t);
void max_batch_print_csv(struct str *out, const struct batch_table *t);
void max_batch_print_json(struct str *out, const struct batch_table *t);
