// The state of the search for stages, for the files of solver/stages.
#pragma once

#include "ir/base/rng.h"
#include "solver/stages/stage_search.h"

struct stage_choice {
    int32_t mode;            // in modal.mode
    int32_t first, replicas; // devices first .. first + replicas * degree - 1
};

struct stage_state {
    int32_t *order, *at;         // the nodes, and where each of them is in the order
    struct stage_choice *choice; // per node
};

// What a state is worth.
struct stage_worth {
    double load, makespan, peak_bytes, moved_bytes, energy, excess_bytes, evenness;
    bool is_wrong; // stages share devices, which the problem forbids
};

// Scratch of evaluations.
struct stage_meter {
    const struct modal *p;
    int64_t n_samples;
    bool needs_first;                  // the objective depends on the makespan
    bool is_uniform;                   // every mode costs the same on all devices
    int32_t n_runs, *run_of, *run_end; // per node: its run; per run
    int64_t *bytes, *exchange;         // per run
    double *busy, *moving, *held, *workspace, *clock, *port, *finish;
    bool *seen;
};

bool stage_meter_make(const struct modal *p, const struct stage_options *o, struct arena *a,
                      struct stage_meter *out);
struct stage_worth stage_measure(struct stage_meter *m, const struct stage_state *s);

bool stage_state_make(const struct modal *p, struct arena *a, struct stage_state *out);
void stage_state_copy(const struct modal *p, const struct stage_state *from,
                      struct stage_state *to);
void stage_state_index(const struct modal *p, struct stage_state *s); // `at` from `order`

static inline int32_t stage_width(const struct modal *p, const struct stage_choice *c) {
    return c->replicas * p->mode[c->mode].degree;
}
// Whether two nodes next to each other are in one stage.
static inline bool stage_joins(const struct modal *p, const struct stage_choice *a,
                               const struct stage_choice *b) {
    return a->first == b->first && a->replicas == b->replicas &&
           p->mode[a->mode].degree == p->mode[b->mode].degree;
}
// Whether the mode can run on all devices of the choice.
bool stage_can_run(const struct modal *p, int32_t mode, int32_t first, int32_t width);

// One random change of the state; false: nothing was changed, or the state is not valid.
bool stage_propose(const struct modal *p, int64_t n_samples, struct rng *rng,
                   struct stage_state *s);

// Visits every state, if there are at most max_states; false: there are more, or a visit ended it
// by returning false.
struct stage_enumeration {
    const struct modal *p;
    int64_t n_samples, max_states;
    struct stage_state *s; // the state at hand
    bool (*visit)(void *context, const struct stage_state *s);
    void *context;
};
bool stage_enumerate(struct stage_enumeration *e, struct arena *scratch);

// A random topological order, depth first with the given probability of following a node that has
// just been placed. `scratch`: 2 * n numbers.
void stage_random_order(const struct modal *p, double follow, struct rng *rng, int32_t *scratch,
                        struct stage_state *s);

// The contiguous split of the state's order with the least load, if the devices are alike; false:
// none within memory, or the problem is too large for it.
bool stage_split(const struct modal *p, int64_t n_samples, struct arena *scratch,
                 struct stage_state *s);
