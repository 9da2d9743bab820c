// The trade-off between memory and time of one step, by several methods: Checkmate's figure
// (Jain et al. 2020). Everything is counted on the problem itself, by liveness, the same for all
// methods: nodes in groups, no control nodes, no runtime. What each schedule would need as a plan
// on a runtime can be measured afterwards.
#pragma once

#include "passes/pass.h"
#include "passes/remat/remat.h"
#include "solver/solve.h"

#define SWEEP_NO_KNEE (-1)

struct sweep_line {
    const struct solve_method *method;
    struct schedule *at;    // one per budget
    int64_t *runtime_bytes; // one per schedule that there is; NULL: not measured
};

struct sweep {
    int32_t n; // budgets, from the largest to the smallest
    int64_t *budgets;
    int64_t whole_bytes, persistent_bytes,
        base_cost; // of the step as it is; of it what always counts
    int32_t n_nodes, n_groups;
    struct sweep_line *lines;
    size_t n_lines;
    int32_t knee; // the budget at which the best line bends most; SWEEP_NO_KNEE
    size_t best;  // the line that the knee is of
    bool is_interrupted;
};

// Told before each search: it is number `k` of `n`, of all methods together.
typedef void sweep_begin(void *context, const struct sweep *s, const struct solve_method *method,
                         int64_t budget_bytes, int32_t k, int32_t n);

struct sweep_hooks {
    struct solve_hooks solve;
    sweep_begin *begin; // or NULL
    void *context;      // of begin
};

// Methods by name; an empty list: portfolio, rounding and all baselines. Names that are unknown, or
// of methods that give no schedules, are all told. *out is an array in the arena, *n long.
status sweep_methods(const struct option_value *names, struct arena *a, struct diags *d,
                     const struct solve_method ***out, size_t *n);

// --count of the commands that compare methods.
#define SWEEP_COUNT_OPTION                                                                         \
    {                                                                                              \
        "count", 0, OPTION_CHOICE, "liveness|runtime", "liveness", 0, 0,                           \
            "how memory is counted: what is still needed, or as plans promise it on --runtime"     \
    }
bool sweep_counts_runtime(const struct options *o);

// From a model to the problem of its step, costs included. The model becomes the step.
status sweep_problem(struct model *m, struct pass_context *c, struct remat *out);

// All methods at all budgets. Simple methods come first; the others begin with what these found, so
// that they are never worse. The options' seconds and work are for each search. A stop leaves the
// rest open: such schedules are of unknown outcome.
status sweep_run(const struct problem *p, const struct solve_options *options,
                 const struct solve_method *const *methods, size_t n_methods,
                 const struct sweep_hooks *hooks, struct arena *a, struct diags *d,
                 struct sweep *s);

// What every schedule would need as a plan on the runtime of --runtime. `m` is the step that `r` is
// of.
status sweep_measure(struct sweep *s, struct model *m, const struct remat *r,
                     struct pass_context *c);

bool sweep_has(const struct schedule *s);        // there is a schedule
double sweep_overhead(const struct schedule *s); // over every node once: 0.1 is 10 %

void sweep_print(struct str *out, const struct sweep *s);     // a table for people
void sweep_print_csv(struct str *out, const struct sweep *s); // a line per method and budget
void sweep_print_json(struct str *out, const struct sweep *s);
