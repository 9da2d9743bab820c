// One door to all methods: a problem and options in, a checked schedule out.
//
// A method is a row in solver/methods.def and a function `status f(struct solve_run *)`. It finds
// schedules and bounds and offers them to the run; it never decides what is handed out. The run
// keeps the best schedule that the checker accepted (the incumbent), calls the progress
// hook, and decides when to end. So a deadline, Ctrl-C, a crash of CBC or a proof of optimality all
// end the same way: the incumbent goes out, with what is known about its gap.
//
//     struct schedule s;
//     struct solve_options o = solve_defaults();
//     o.budget_bytes = 4000000;
//     status st = solve(&problem, &o, &(struct solve_hooks){0}, &arena, &diags, &s);
#pragma once

#include "ir/base/stop.h"
#include "solver/model/problem.h"
#include "solver/model/schedule.h"
#include "solver/model/sequence.h"

#define BUDGET_NONE INT64_MAX

struct solve_options {
    const char *method; // a name of methods.def
    int64_t
        budget_bytes; // includes persistent_bytes; BUDGET_NONE: as much as the given order needs
    bool free_order;  // first executions may move
    double gap;       // end when (cost - bound) / cost is at most this
    double seconds;   // wall clock; <= 0: no limit
    int64_t work;     // units of search effort, for repeatable results; <= 0: no limit
    uint64_t seed;
    int32_t threads;     // <= 0: as many as there are processors
    int64_t target_cost; // end at the first schedule that costs no more, or when it is proven
                         // that there is none, not before; < 0: there is no target
    bool is_exact;       // any-order: only bounds safe against rounding, and the same in every run
    const char *worker_path; // the mfc executable, to run CBC in a process of its own; NULL: here
    const struct steps *initial; // initial solutions; those over the budget are ignored
    int32_t n_initial;
    // What is proven already, e.g. for a larger budget; 0: nothing.
    int64_t known_bound_any, known_bound_given, known_min_bytes;
};

struct solve_options solve_defaults(void);

// One line of the progress table. The letter says what found it: see methods.def for the legend.
struct solve_event {
    char letter;
    int64_t cost;       // of the incumbent; INT64_MAX: there is none yet
    int64_t bound;      // the best for what was asked (given order, or any); BOUND_NONE
    int64_t peak_bytes; // of the incumbent, 0: there is none
    double seconds;     // since the start
};

struct solve_hooks {
    void (*progress)(void *context, const struct solve_event *event); // or NULL; never in parallel
    void *context;
    const struct stop *stop; // or NULL; solve() also ends after options.seconds
    // Called with each new incumbent, or NULL; never in parallel. The steps are valid only during
    // the call. For a caller that must be able to write the best schedule at any moment.
    void (*improved)(void *context, const struct schedule *best);
};

// ST_OK: a schedule within the budget. ST_INFEASIBLE: proven that there is none. ST_NO_PLAN: none
// was found. In all three cases *out says what is known. Any other status comes with a diagnostic.
// When the stop was raised by a signal the result is the same, see out->outcome.
status solve(const struct problem *p, const struct solve_options *options,
             const struct solve_hooks *hooks, struct arena *a, struct diags *d,
             struct schedule *out);

// ---- What methods see ----

struct solve_run {
    const struct problem *p;
    const struct solve_options *options; // budget_bytes and threads are filled in
    struct arena *arena;                 // the method's; freed when it returns
    struct diags *diags;                 // for errors that end the run; not for parallel threads
    const struct stop *stop;             // never NULL; ask stop_now(stop)
    int64_t base_cost, given_peak_bytes, floor_bytes;
    struct incumbent *best; // behind a lock: use the functions below, from any thread
};

// Offers a sequence or steps: checked, and kept when it fits the budget, follows the asked kind of
// order, and costs less than the incumbent (or equally much with a lower peak). Schedules over the
// budget are remembered only for their peak (the least known budget). True: it is the new
// incumbent. An invalid schedule is refused and counted; it is not an error.
bool solve_offer(struct solve_run *r, struct sequence s, char letter);
bool solve_offer_steps(struct solve_run *r, struct steps s, char letter);

// Proven lower bounds on the cost within the budget: over all orders, or for the given order.
// Methods round up: costs are integers.
void solve_bound_any(struct solve_run *r, int64_t bound, char letter);
void solve_bound_given(struct solve_run *r, int64_t bound, char letter);
// The same, proven in integers: it stays when a claim of a solver in floating point, made in this
// run, turns out to be false.
void solve_bound_exact(struct solve_run *r, bool any_order, int64_t bound, char letter);

// Proven: no schedule fits in fewer than min_bytes (with the given order only, or in any order).
// `nodes` force it, when that is known; `exact` as above. When min_bytes is over the budget, the
// run is over.
void solve_infeasible(struct solve_run *r, bool any_order, bool exact, int64_t min_bytes,
                      const int32_t *nodes, int32_t n_nodes);

// What is known now. The sequence is a copy in the arena; false: no incumbent, or out of memory.
bool solve_incumbent(struct solve_run *r, struct arena *a, struct sequence *out);
int64_t solve_best_cost(struct solve_run *r);  // INT64_MAX: no incumbent
int64_t solve_best_bound(struct solve_run *r); // for the asked kind of order; at least base_cost

// Nothing is left to do: optimal within the gap, target reached, or proven infeasible.
bool solve_settled(struct solve_run *r);
// Settled, stopped, or out of time.
bool solve_over(struct solve_run *r);
double solve_seconds(const struct solve_run *r); // since the start

// The table of methods, for the command line and the docs.
struct solve_method {
    const char *name;
    const char *summary;
    bool baseline; // needs to know the forward part, ignores gap, work and seed
    status (*run)(struct solve_run *r);
};

const struct solve_method *solve_methods(size_t *n);
const struct solve_method *solve_method_find(const char *name); // NULL: there is none

// The letters of the progress table, with what they stand for.
struct solve_letter {
    char letter;
    const char *meaning;
};
const struct solve_letter *solve_letters(size_t *n);
