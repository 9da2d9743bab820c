// The largest batch that fits a budget, by method: Checkmate's table (Jain et al. 2020). The step
// is made anew for each batch size that is tried, and counted as in a sweep (sweep.h). A batch that
// fits is taken to mean that every smaller one does.
#pragma once

#include "frontend/tools/sweep.h"

#define BATCH_MOST ((int64_t)1 << 20)

struct batch_settings {
    struct solve_options solve; // seconds and work are for each search
    bool one_forward;           // extra time: at most that of the forward pass
    double overhead;            // otherwise: at most this share of the step
    bool on_runtime;            // the budget is for the plan on its runtime, not for liveness
};

// What is known of one method.
struct batch_line {
    const struct solve_method *method;
    int64_t fits;  // the largest that was found to fit; 0: not even one
    int64_t fails; // the smallest that was tried and not found to fit
    int64_t
        impossible;  // proven: this one fits by no method, in the asked kind of order; 0: no proof
    double share;    // of the budget, at `fits`
    double overhead; // at `fits`
};

struct batch_table {
    int64_t budget_bytes;
    bool on_runtime;
    struct batch_line *lines;
    size_t n_lines;
    bool is_interrupted;
};

// Told before each try; may be NULL.
typedef void max_batch_begin(void *context, const struct solve_method *method, int64_t batch);

struct batch_hooks {
    const struct stop *stop;
    max_batch_begin *begin;
    void *context;
};

// Sets the batch of a model: the first dimension of its inputs, as far as these are open or equal
// that of the first one. ST_UNSUPPORTED when no input has such a dimension.
status max_batch_set(struct model *m, int64_t batch, struct diags *d);

// For all methods. `c` is for the passes; its arena is scratch. `m` stays as it is.
status max_batch_search(const struct model *m, struct pass_context *c,
                        const struct batch_settings *settings,
                        const struct solve_method *const *methods, size_t n_methods,
                        const struct batch_hooks *hooks, struct batch_table *out);

void max_batch_print(struct str *out, const struct batch_table *t);
void max_batch_print_csv(struct str *out, const struct batch_table *t);
void max_batch_print_json(struct str *out, const struct batch_table *t);
