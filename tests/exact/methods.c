// Methods of the solver against the dynamic program over retained sets, on random problems of up to
// 8 nodes, at every budget that matters: each corner of the exact trade-off, one byte less than
// each corner, and one byte less than the minimum budget, which must be found infeasible.
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

struct method_case {
    const char *method;
    uint64_t index; // of the problem
    const struct problem *p;
    bool free_order;
    const struct remat_front *front; // the exact trade-off
    int64_t budget_bytes;
};

static void complain(struct tally *t, const struct method_case *c, const char *what, int64_t is,
                     int64_t should) {
    if (t->n_wrong++ < 20)
        printf("%s: problem %llu, budget %lld: %s %lld, the dynamic program gives %lld\n",
               c->method, (unsigned long long)c->index, (long long)c->budget_bytes, what,
               (long long)is, (long long)should);
}

static void judge(struct tally *t, const struct method_case *c, struct arena *a) {
    struct diags d = diags_make(a);
    struct solve_options o = solve_defaults();
    struct schedule s;
    int64_t best = remat_front_cost(c->front, c->budget_bytes);
    int64_t min_bytes = c->front->at[c->front->n - 1].budget_bytes;
    o.method = c->method;
    o.budget_bytes = c->budget_bytes;
    o.free_order = c->free_order;
    o.gap = 0;
    o.threads = 1;
    o.seconds = 20;
    status st = solve(c->p, &o, &(struct solve_hooks){0}, a, &d, &s);
    int64_t bound = c->free_order ? s.bound_any : s.bound;
    t->n_cases++;
    t->n_recompute += best > problem_base_cost(c->p);
    t->n_never += best < 0;
    if (st != ST_OK && st != ST_NO_PLAN && st != ST_INFEASIBLE)
        complain(t, c, "status", st, 0);
    else if (s.n_refused > 0)
        complain(t, c, "schedules refused by the checker:", s.n_refused, 0);
    else if (best < 0 ? st == ST_OK : st == ST_INFEASIBLE || (st == ST_OK && s.cost < best))
        complain(t, c, "cost", st == ST_OK ? s.cost : -1, best);
    else if (best >= 0 && bound > best)
        complain(t, c, "bound", bound, best);
    else if (s.min_bytes > min_bytes)
        complain(t, c, "minimum budget", s.min_bytes, min_bytes);
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
    bool ok =
        random_problem(&a, &d, (struct random_spec){SEED, index, 8, index % 2}, &p) == ST_OK &&
        remat_dp(&p, free_order, &front) && front.n > 0;
    for (int m = 0; ok && m < n_methods; m++)
        for (int k = 0; k < front.n; k++) {
            struct method_case c = {methods[m], index,  &p,
                                    free_order, &front, front.at[k].budget_bytes};
            judge(&tallies[m], &c, &a);
            c.budget_bytes--;
            judge(&tallies[m], &c, &a);
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
