// `--method checkmate` and `f1`: solves the published program, or the form with one row per hazard.
// A second solve by ilp.h bounds the cost over all schedules of the given order, not only over
// Checkmate's class, so that "optimal" has the same meaning as for the other methods.
#include <inttypes.h>

#include "solver/methods.h"
#include "solver/mip/checkmate.h"
#include "solver/mip/ilp.h"
#include "solver/solve.h"

#define MAX_COLUMNS 2000000

static void bounded(void *context, int64_t bound) {
    solve_bound_given(context, bound, 'C');
}

static struct cbc_limits limits_of(const struct solve_run *r) {
    int64_t work = r->options->work;
    return (struct cbc_limits){.seconds = cbc_seconds(stop_seconds_left(r->stop)),
                               .n_nodes = work > INT32_MAX ? INT32_MAX : (int32_t)work,
                               .stop = r->stop,
                               .worker_path = r->options->worker_path};
}

static bool bound_all(struct solve_run *r, struct sequence initial, struct arena *a) {
    struct ilp_task task = {.p = r->p,
                            .budget_bytes = r->options->budget_bytes,
                            .initial = initial,
                            .gap = r->options->gap,
                            .limits = limits_of(r),
                            .bounded = bounded,
                            .context = r};
    struct ilp_result result;
    return ilp_solve(&task, a, &result);
}

static status run(struct solve_run *r, enum checkmate_form form) {
    int64_t n = r->p->n, columns = n * (2 * n + r->p->n_edges) / 2;
    if (columns > MAX_COLUMNS)
        return diag_error(r->diags, DIAG_LIMIT, loc_none(),
                          "Checkmate's program would have %" PRId64
                          " columns (limit: %d); use --method ilp, which needs far fewer",
                          columns, MAX_COLUMNS);
    struct arena scratch = arena_make(r->arena->mem);
    struct checkmate_task task = {
        .p = r->p, .form = form, .budget_bytes = r->options->budget_bytes, .limits = limits_of(r)};
    struct checkmate_result result = {0};
    if (!solve_incumbent(r, &scratch, &task.initial) || !sequence_is_given_order(task.initial))
        task.initial.n = 0;
    bool ok = checkmate_solve(&task, &scratch, &result);
    if (ok && result.best.n > 0)
        solve_offer(r, result.best, 'C');
    if (ok && !solve_over(r))
        ok = bound_all(r, result.best, &scratch);
    arena_free(&scratch);
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}

status method_checkmate(struct solve_run *r) {
    return run(r, CHECKMATE_F0);
}

status method_f1(struct solve_run *r) {
    return run(r, CHECKMATE_F1);
}
