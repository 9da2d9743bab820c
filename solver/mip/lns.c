// Large neighbourhood search by windows (lns.h). Each window overlaps the next by half.
#include "solver/mip/lns.h"

#include <assert.h>

#include "solver/mip/ilp.h"
#include "solver/model/sequence_problem.h"

enum {
    WINDOW_NODES = 80,
    WINDOW_ROUNDS = 5, // programs per window; the first ones give most of the gain
    WINDOW_SHARE = 4,  // a window gets at most 1 / WINDOW_SHARE of the time left
};

struct window {
    struct solve_run *r;
    struct problem p;     // in the incumbent's order
    int32_t *node;        // per number in that order: the node
    struct sequence best; // in numbers of that order
    int64_t cost;
    bool *fixed;
};

// Renumbers the problem and the incumbent by the incumbent's order of first runs.
static bool renumber(struct window *w, struct arena *a, struct sequence s) {
    const struct problem *p = w->r->p;
    int32_t *number = ARENA_ARRAY(a, int32_t, p->n), n = 0;
    w->node = ARENA_ARRAY(a, int32_t, p->n);
    w->fixed = ARENA_ARRAY(a, bool, p->n);
    w->best = (struct sequence){ARENA_ARRAY(a, int32_t, s.n), s.n};
    if (!number || !w->node || !w->fixed || !w->best.at)
        return false;
    for (int32_t i = 0; i < p->n; i++)
        number[i] = -1;
    for (int32_t t = 0; t < s.n; t++) {
        int32_t v = s.at[t];
        if (number[v] < 0) {
            number[v] = n;
            w->node[n++] = v;
        }
        w->best.at[t] = number[v];
        w->cost += p->cost[v];
    }
    return unroll(p, (struct sequence){w->node, n}, a, &w->p);
}

static void offer(void *context, struct sequence s) {
    struct window *w = context;
    struct arena scratch = arena_make(w->r->arena->mem);
    struct sequence back = {ARENA_ARRAY(&scratch, int32_t, s.n), s.n};
    for (int32_t t = 0; back.at && t < s.n; t++)
        back.at[t] = w->node[s.at[t]];
    if (back.at)
        solve_offer(w->r, back, 'W');
    arena_free(&scratch);
}

// Solves the window that starts at node `first`. An improvement is the initial solution of the
// next.
static bool solve_window(struct window *w, int32_t first, const struct lns_effort *effort,
                         double seconds, struct arena *a) {
    struct arena scratch = arena_make(a->mem);
    struct ilp_result result;
    struct ilp_task task = {.p = &w->p,
                            .budget_bytes = w->r->options->budget_bytes,
                            .kind = ILP_LAZY,
                            .initial = w->best,
                            .fixed = w->fixed,
                            .limits = {.seconds = seconds,
                                       .n_nodes = effort->n_nodes,
                                       .stop = w->r->stop,
                                       .worker_path = w->r->options->worker_path},
                            .n_rounds = WINDOW_ROUNDS,
                            .found = offer,
                            .context = w};
    for (int32_t i = 0; i < w->p.n; i++)
        w->fixed[i] = i < first || i >= first + WINDOW_NODES;
    bool ok = ilp_solve(&task, &scratch, &result);
    if (ok && result.cost < w->cost) {
        w->best.at = arena_copy(a, result.best.at, (size_t)result.best.n * sizeof *w->best.at);
        w->best.n = result.best.n;
        w->cost = result.cost;
        ok = w->best.at != NULL;
    }
    arena_free(&scratch);
    return ok;
}

status lns_run(struct solve_run *r, const struct lns_effort *effort) {
    assert(r && effort && effort->n_nodes >= 0);
    struct arena a = arena_make(r->arena->mem);
    struct window w = {.r = r};
    struct sequence incumbent;
    int64_t start_ns = stop_clock_ns();
    bool some = solve_incumbent(r, &a, &incumbent), ok = !some || renumber(&w, &a, incumbent);
    for (int32_t first = 0; some && ok && first < r->p->n && !solve_over(r);
         first += WINDOW_NODES / 2) {
        double left = effort->seconds - (double)(stop_clock_ns() - start_ns) * 1e-9;
        if (effort->seconds > 0 && left <= 0)
            break;
        ok = solve_window(&w, first, effort, effort->seconds > 0 ? left / WINDOW_SHARE : 0, &a);
    }
    arena_free(&a);
    return ok ? ST_OK : diag_out_of_memory(r->diags);
}
