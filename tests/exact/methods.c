// Methods of the solver against the dynamic program over retained sets, on random problems of up to
// 8 nodes, at every budget that matters: each corner of the exact trade-off, one byte less than
// each corner, and one byte less than the least budget, which must be found infeasible.
//
//     methods COUNT ORDER METHOD...      ORDER is given or free
//
// Prints one line per method and fails when a cost differs from the optimum, a bound is above it,
// or optimality (or infeasibility) was not proven; or when less than a quarter of the cases need
// recomputation.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver/solve.h"
#include "tests/oracle/random_problem.h"
#include "tests/oracle/remat_dp.h"

#define SEED 1

struct tally {
    long n_cases, n_recompute, n_never; // n_never: cases that have no schedule
    long n_wrong, n_unproven;
};

static void complain(struct tally *t, const char *method, uint64_t index, int64_t budget,
                     const char *what, int64_t is, int64_t should) {
    if (t->n_wrong++ < 20)
        printf("%s: problem %llu, budget %lld: %s %lld, the dynamic program gives %lld\n", method,
               (unsigned long long)index, (long long)budget, what, (long long)is,
               (long long)should);
}

static void judge(struct tally *t, const char *method, uint64_t index, const struct problem *p,
                  bool free_order, const struct remat_front *front, int64_t budget,
                  struct arena *a) {
    struct diags d = diags_make(a);
    struct solve_options o = solve_defaults();
    struct schedule s;
    int64_t best = remat_front_cost(front, budget), least = front->at[front->n - 1].budget_bytes;
    o.method = method;
    o.budget_bytes = budget;
    o.free_order = free_order;
    o.gap = 0;
    o.threads = 1;
    o.seconds = 20;
    status st = solve(p, &o, &(struct solve_hooks){0}, a, &d, &s);
    int64_t bound = free_order ? s.bound_any : s.bound;
    t->n_cases++;
    t->n_recompute += best > problem_base_cost(p);
    t->n_never += best < 0;
    if (st != ST_OK && st != ST_NO_PLAN && st != ST_INFEASIBLE)
        complain(t, method, index, budget, "status", st, 0);
    else if (s.n_refused > 0)
        complain(t, method, index, budget, "schedules refused by the checker:", s.n_refused, 0);
    else if (best < 0 ? st == ST_OK : st == ST_INFEASIBLE || (st == ST_OK && s.cost < best))
        complain(t, method, index, budget, "cost", st == ST_OK ? s.cost : -1, best);
    else if (best >= 0 && bound > best)
        complain(t, method, index, budget, "bound", bound, best);
    else if (s.min_bytes > least)
        complain(t, method, index, budget, "least budget", s.min_bytes, least);
    else if (best < 0 ? st != ST_INFEASIBLE : s.outcome != OUTCOME_OPTIMAL || s.cost != best)
        t->n_unproven++;
}

static bool run(struct tally *tallies, uint64_t index, bool free_order, int n_methods,
                char **methods) {
    struct mem mem = mem_make(MEM_UNLIMITED);
    struct arena a = arena_make(&mem);
    struct diags d = diags_make(&a);
    struct problem p;
    struct remat_front front;
    bool ok = random_problem(&a, &d, SEED, index, 8, index % 2, &p) == ST_OK &&
              remat_dp(&p, free_order, &front) && front.n > 0;
    for (int m = 0; ok && m < n_methods; m++)
        for (int k = 0; k < front.n; k++) {
            judge(&tallies[m], methods[m], index, &p, free_order, &front, front.at[k].budget_bytes,
                  &a);
            judge(&tallies[m], methods[m], index, &p, free_order, &front,
                  front.at[k].budget_bytes - 1, &a);
        }
    arena_free(&a);
    return ok;
}

int main(int argc, char **argv) {
    struct tally tallies[16] = {0};
    int n_methods = argc - 3;
    if (n_methods < 1 || n_methods > 16) {
        fputs("usage: methods COUNT given|free METHOD...\n", stderr);
        return 2;
    }
    bool free_order = strcmp(argv[2], "free") == 0;
    uint64_t count = strtoull(argv[1], NULL, 10);
    for (uint64_t index = 0; index < count; index++)
        if (!run(tallies, index, free_order, n_methods, argv + 3)) {
            printf("problem %llu could not be made\n", (unsigned long long)index);
            return 1;
        }
    bool good = true;
    for (int m = 0; m < n_methods; m++) {
        const struct tally *t = &tallies[m];
        printf("%-12s %llu problems, %ld cases: %ld need recomputation, %ld have no schedule; "
               "%ld wrong, %ld not proven\n",
               argv[3 + m], (unsigned long long)count, t->n_cases, t->n_recompute, t->n_never,
               t->n_wrong, t->n_unproven);
        good = good && t->n_wrong == 0 && t->n_unproven == 0 && t->n_recompute * 4 >= t->n_cases;
    }
    return good ? 0 : 1;
}
