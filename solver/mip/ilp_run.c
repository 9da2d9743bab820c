// The lazy integer program as part of a run: takes the incumbent as initial solution, and offers
// schedules and bounds to the run.
#include "solver/methods.h"
#include "solver/mip/ilp.h"
#include "solver/solve.h"

static void offer(void *context, struct sequence s) {
    solve_offer(context, s, 'C');
}

static void bounded(void *context, int64_t bound) {
    solve_bound_given(context, bound, 'C');
}

static struct ilp_task make_task(struct solve_run *r, const struct ilp_effort *effort) {
    struct ilp_task task = {.p = r->p,
                            .budget_bytes = r->options->budget_bytes,
                            .kind = effort->kind,
                            .gap = r->options->gap,
                            .n_rounds = effort->n_rounds,
                            .found = offer,
                            .context = r};
    task.limits = (struct cbc_limits){.seconds = effort->seconds,
                                      .n_nodes = effort->n_nodes,
                                      .stop = r->stop,
                                      .worker_path = r->options->worker_path};
    return task;
}

// Proves a lower bound on the budget for the given order, and offers schedules of small peak.
static status bound_min_budget(struct solve_run *r, const struct ilp_effort *effort) {
    struct arena scratch = arena_make(r->arena->mem);
    struct ilp_task task = make_task(r, effort);
    struct ilp_result result;
    task.kind = ILP_MIN_BUDGET;
    task.budget_bytes = r->given_peak_bytes;
    bool ok = ilp_solve(&task, &scratch, &result);
    if (ok && result.min_bytes > 0)
        solve_infeasible(r, false, false, result.min_bytes, NULL, 0);
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}

// Initial solutions: a few rounds for somewhat smaller budgets, whose schedules then fit this one.
static status find_initial(struct solve_run *r, const struct ilp_effort *effort) {
    static const double shrink[] = {0.995, 0.98, 0.95, 0.9};
    bool ok = true;
    for (size_t k = 0; ok && k < sizeof shrink / sizeof *shrink && !solve_over(r); k++) {
        struct arena scratch = arena_make(r->arena->mem);
        struct ilp_task task = make_task(r, effort);
        struct ilp_result result;
        int64_t capacity = task.budget_bytes - r->p->persistent_bytes;
        task.budget_bytes = r->p->persistent_bytes + (int64_t)((double)capacity * shrink[k]);
        ok = ilp_solve(&task, &scratch, &result);
        arena_free(&scratch);
        if (solve_best_cost(r) != INT64_MAX)
            break;
    }
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}

status ilp_run(struct solve_run *r, const struct ilp_effort *effort) {
    struct arena scratch = arena_make(r->arena->mem);
    struct ilp_task task = make_task(r, effort);
    struct ilp_result result;
    task.bounded = bounded;
    if (solve_incumbent(r, &scratch, &task.initial) && !sequence_is_given_order(task.initial))
        task.initial.n = 0;
    bool ok = ilp_solve(&task, &scratch, &result);
    arena_free(&scratch);
    if (!ok)
        return diag_out_of_memory(r->diags);
    return result.claimed_infeasible && !solve_over(r) ? bound_min_budget(r, effort) : ST_OK;
}

// --work limits the number of programs, and the branch-and-bound nodes of each.
static struct ilp_effort effort_of_work(const struct solve_run *r, enum ilp_kind kind) {
    int64_t work = r->options->work;
    int32_t n = work <= 0 ? 0 : work > INT32_MAX ? INT32_MAX : (int32_t)work;
    return (struct ilp_effort){.kind = kind, .n_nodes = n, .n_rounds = n};
}

status method_ilp(struct solve_run *r) {
    struct ilp_effort effort = effort_of_work(r, ILP_LAZY);
    struct ilp_effort quick = {.kind = ILP_LAZY,
                               .n_nodes = effort.n_nodes,
                               .n_rounds = 4,
                               .seconds = effort.n_nodes ? 0 : 2};
    status st = find_initial(r, &quick);
    return st != ST_OK || solve_over(r) ? st : ilp_run(r, &effort);
}

status method_f3(struct solve_run *r) {
    struct ilp_effort effort = effort_of_work(r, ILP_F3);
    return ilp_run(r, &effort);
}

status method_f3z(struct solve_run *r) {
    struct ilp_effort effort = effort_of_work(r, ILP_F3Z);
    return ilp_run(r, &effort);
}
