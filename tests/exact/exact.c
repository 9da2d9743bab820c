// Exactness: on random problems of up to 8 nodes, at every budget that matters, the integer
// programs give what the dynamic program over retained sets gives.
//
//     exact FIRST COUNT [EVERY]
//
// Lazy cuts, F3 and F3 + Z must prove the optimum over all schedules in the given order.
// Checkmate's own program (F0) and the one with separate hazards (F1), at the budgets where the
// optimum changes, must prove the optimum over *their* schedules, which run a node at most once per
// stage and in the order of the numbers; a second dynamic program, below, knows that one. These
// take ten times as long as all others together: EVERY = 50 leaves them out but for every 50th
// problem.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/mip/checkmate.h"
#include "solver/mip/ilp.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

#define NODES 8
#define SETS  (1 << NODES)
#define NEVER (INT64_MAX / 4)

static int64_t set_bytes(const struct problem *p, int set) {
    int64_t sum = 0;
    for (int i = 0; i < p->n; i++)
        sum += set >> i & 1 ? p->bytes[i] : 0;
    return sum;
}

// One node of one stage: it runs or not (the stage's own node must), then anything may be freed.
static void staged_step(const struct problem *p, int64_t room, int t, int k, int64_t cost[SETS]) {
    int64_t next[SETS];
    int inputs = 0, n_sets = 1 << p->n;
    for (int32_t e = p->in_start[k]; e < p->in_start[k + 1]; e++)
        inputs |= 1 << p->in_of[e];
    for (int set = 0; set < n_sets; set++)
        next[set] = t == k ? NEVER : cost[set];
    for (int set = 0; set < n_sets; set++) {
        int with = set | 1 << k;
        bool can = cost[set] < NEVER && (set & inputs) == inputs && with != set &&
                   !(p->once[k] && t != k) && set_bytes(p, with) + p->workspace[k] <= room;
        if (can && cost[set] + p->cost[k] < next[with])
            next[with] = cost[set] + p->cost[k];
    }
    for (int set = n_sets - 1; set >= 0; set--)
        for (int i = 0; i < p->n; i++)
            if ((set >> i & 1) && next[set] < next[set & ~(1 << i)])
                next[set & ~(1 << i)] = next[set];
    memcpy(cost, next, sizeof next);
}

// The least cost of a schedule in Checkmate's class; NEVER: there is none.
static int64_t staged_dp(const struct problem *p, int64_t budget) {
    int64_t cost[SETS];
    int kept = 0;
    for (int i = 0; i < p->n; i++)
        kept |= p->keep[i] ? 1 << i : 0;
    for (int set = 0; set < SETS; set++)
        cost[set] = set ? NEVER : 0;
    for (int t = 0; t < p->n + (kept ? 1 : 0); t++)
        for (int k = 0; k <= t && k < p->n; k++)
            staged_step(p, budget - p->persistent_bytes, t, k, cost);
    int64_t best = NEVER;
    for (int set = 0; set < 1 << p->n; set++)
        if ((set & kept) == kept && cost[set] < best)
            best = cost[set];
    return best;
}

struct tally {
    int64_t n_cases, n_recompute, n_outside, n_wrong;
};

struct exact_case {
    const struct problem *p;
    int64_t index; // of the problem
    int64_t budget_bytes, expected_cost;
};

static void complain(struct tally *n, const struct exact_case *c, const char *what,
                     int64_t expected, int64_t cost, int64_t bound) {
    printf("problem %" PRId64 ", budget %" PRId64 ": %s gives cost %" PRId64 ", bound %" PRId64
           " instead of %" PRId64 "\n",
           c->index, c->budget_bytes, what, cost, bound, expected);
    n->n_wrong++;
}

static bool one_budget(const struct exact_case *c, bool staged_too, struct arena *a,
                       struct tally *n) {
    const struct problem *p = c->p;
    int64_t budget = c->budget_bytes, expected = c->expected_cost;
    static const char *const names[] = {"lazy", "F3", "F3+Z"};
    for (int kind = ILP_LAZY; kind <= ILP_F3Z; kind++) {
        struct ilp_task task = {.p = p, .budget_bytes = budget, .kind = (enum ilp_kind)kind};
        struct ilp_result r;
        if (!ilp_solve(&task, a, &r))
            return false;
        if (!r.proven || r.cost != expected || r.bound != expected)
            complain(n, c, names[kind], expected, r.cost, r.bound);
    }
    n->n_cases++;
    n->n_recompute += expected > problem_base_cost(p);
    if (!staged_too)
        return true;
    int64_t staged = staged_dp(p, budget);
    for (int form = CHECKMATE_F0; form <= CHECKMATE_F1; form++) {
        struct checkmate_result r;
        struct checkmate_task task = {
            .p = p, .form = (enum checkmate_form)form, .budget_bytes = budget};
        if (!checkmate_solve(&task, a, &r))
            return false;
        bool right = staged == NEVER ? r.claimed_infeasible : r.proven && r.cost == staged;
        if (!right || staged < expected)
            complain(n, c, form == CHECKMATE_F0 ? "F0" : "F1", staged, r.cost, r.bound);
    }
    n->n_outside += staged != expected;
    return true;
}

static bool one_problem(int64_t index, bool staged_too, struct mem *mem, struct tally *n) {
    struct arena a = arena_make(mem);
    struct diags d = diags_make(&a);
    struct problem p;
    struct remat_front front;
    bool ok = random_problem(&a, &d, (struct random_spec){4, (uint64_t)index, NODES, false}, &p) ==
                  ST_OK &&
              remat_dp(&p, false, &front);
    for (int k = 0; ok && k < front.n; k++) {
        struct exact_case corner = {&p, index, front.at[k].budget_bytes, front.at[k].cost};
        ok = one_budget(&corner, staged_too, &a, n);
        // One byte less: the next corner's cost, if that is not one byte away anyway.
        struct exact_case less = {&p, index, front.at[k].budget_bytes - 1, 0};
        if (!ok || k + 1 == front.n || less.budget_bytes <= front.at[k + 1].budget_bytes)
            continue;
        less.expected_cost = front.at[k + 1].cost;
        ok = one_budget(&less, false, &a, n);
    }
    arena_free(&a);
    return ok;
}

int main(int argc, char **argv) {
    int64_t first = argc > 1 ? strtoll(argv[1], NULL, 10) : 0;
    int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 100;
    int64_t every = argc > 3 ? strtoll(argv[3], NULL, 10) : 1;
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct tally n = {0};
    if (every < 1)
        every = 1;
    for (int64_t index = first; index < first + count; index++)
        if (!one_problem(index, index % every == 0, &mem, &n)) {
            printf("problem %" PRId64 ": no result\n", index);
            return 1;
        }
    printf("%" PRId64 " problems, %" PRId64 " cases, %" PRId64 " with recomputation, %" PRId64
           " better outside Checkmate's class, %" PRId64 " wrong\n",
           count, n.n_cases, n.n_recompute, n.n_outside, n.n_wrong);
    return n.n_wrong > 0 || n.n_recompute * 4 < n.n_cases;
}
