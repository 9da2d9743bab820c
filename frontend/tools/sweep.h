// The trade-off between memory and overhead of one training step, by several methods, as in
// Checkmate (Jain et al. 2020). All methods are measured on the same problem by the liveness peak:
// nodes in clusters, no control nodes, no runtime. The peak of each schedule as a plan on a runtime
// can be measured afterwards.
#pragma once

#include "passes/pass.h"
#include "passes/remat/remat.h"
#include "solver/solve.h"

#define SWEEP_NO_KNEE (-1)

struct sweep_line {
    const struct solve_method *method;
    struct schedule *at;    // one per budget
    int64_t *runtime_bytes; // one per budget with a schedule; NULL: not measured
};

struct sweep {
    int32_t n; // budgets, from the largest to the smallest
    int64_t *budgets;
    int64_t whole_bytes;      // liveness peak of the baseline step
    int64_t runtime_bytes;    // its peak on the runtime; 0: not measured
    int64_t persistent_bytes; // part of it
    int64_t base_cost;        // of the baseline step
    int32_t n_nodes, n_groups;
    struct sweep_line *lines;
    size_t n_lines;
    int32_t knee; // index of the budget at the knee of the best line; SWEEP_NO_KNEE
    size_t best;  // that line
    bool is_interrupted;
};

// Called before each search, which is number `k` of `n` of all methods together.
typedef void sweep_begin(void *context, const struct sweep *s, const struct solve_method *method,
                         int64_t budget_bytes, int32_t k, int32_t n);

struct sweep_hooks {
    struct solve_hooks solve;
    sweep_begin *begin; // or NULL
    void *context;      // of begin
};

// Methods to compare, in the order in which they run.
struct sweep_methods {
    const struct solve_method **at;
    size_t n;
};

struct sweep_settings {
    const struct solve_options *options; // seconds and work are per search
    struct sweep_methods methods;
    struct sweep_hooks hooks;
};

// Finds methods by name; an empty list: portfolio, rounding and all baselines. Reports all names
// that are unknown or belong to methods without schedules. The array is in the arena.
status sweep_find_methods(const struct option_value *names, struct arena *a, struct diags *d,
                          struct sweep_methods *out);

// --count of the commands that compare methods.
#define SWEEP_COUNT_OPTION                                                                         \
    {                                                                                              \
        "count", 0, OPTION_CHOICE, "runtime|liveness", "runtime", 0, 0,                            \
            "memory to compare: the peak of the plan on --runtime, or the liveness peak"           \
    }
bool sweep_counts_runtime(const struct options *o);

// Makes the training step of a model with costs, and its problem. The model becomes the step.
status sweep_problem(struct model *m, struct pass_context *c, struct remat *out);

// Runs all methods at all budgets; the caller has set s->n and s->budgets. Baselines run first, and
// the other methods take their schedules as initial solutions, so that they are never worse. After
// a stop the remaining schedules have an unknown outcome.
status sweep_run(const struct problem *p, const struct sweep_settings *settings, struct arena *a,
                 struct diags *d, struct sweep *s);

// Replaces what the searches say of clusters, in one order, by what holds for every plan of the
// step `m` (passes/plan/plan_bound.h): bounds, and which schedules are optimal and which budgets
// infeasible. `r` is the problem of the step.
status sweep_bound(struct sweep *s, const struct model *m, const struct remat *r,
                   struct pass_context *c);

// Measures the peaks of the baseline step and of every schedule as a plan on the runtime of
// --runtime. `r` is the problem of the step `m`.
status sweep_measure(struct sweep *s, struct model *m, const struct remat *r,
                     struct pass_context *c);

bool sweep_has(const struct schedule *s); // a schedule was found
// What schedule k of line i needs: on the runtime, if measured, else its liveness peak.
int64_t sweep_bytes(const struct sweep *s, size_t i, int32_t k);
double sweep_overhead(const struct schedule *s); // 0.1 is 10 %

void sweep_print(struct str *out, const struct sweep *s);     // a human-readable table
void sweep_print_csv(struct str *out, const struct sweep *s); // a line per method and budget
void sweep_print_json(struct str *out, const struct sweep *s);
