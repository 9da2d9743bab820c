// The solver's public interface, mfc_solve.h: a problem in the caller's arrays becomes a problem of
// the solver; a schedule goes back. The solver's own checks of the problem are the only ones.
#include "frontend/mfc_solve.h"

#include <assert.h>
#include <string.h>

#include "frontend/api_session.h"
#include "solver/check/schedule_check.h"
#include "solver/model/schedule_report.h"
#include "solver/solve.h"

_Static_assert((int)MFC_OUTCOME_OPTIMAL == (int)OUTCOME_OPTIMAL &&
                   (int)MFC_OUTCOME_INFEASIBLE == (int)OUTCOME_INFEASIBLE &&
                   (int)MFC_FREE == (int)STEP_FREE &&
                   sizeof(struct mfc_step) == sizeof(struct step),
               "public and internal enums are the same numbers");

// The members up to the size that the caller knows; the others are zero. A caller that is newer
// than the library may use members that the library does not know: it ignores them.
static void copy_known(void *to, size_t to_size, const void *from, size_t from_size) {
    memset(to, 0, to_size);
    memcpy(to, from, from_size < to_size ? from_size : to_size);
}

void mfc_solve_init(struct mfc_solve_options *o, size_t size) {
    struct solve_options d = solve_defaults();
    struct mfc_solve_options all = {.size = size,
                                    .budget_share = 1,
                                    .order = MFC_ORDER_ANY,
                                    .gap = d.gap,
                                    .seconds = d.seconds,
                                    .seed = 1};
    copy_known(o, size, &all, sizeof all);
}

static status usage(struct mfc *m, const char *text) {
    return diag_error(&m->diags, DIAG_USAGE, loc_none(), "%s", text);
}

static status make_problem(struct mfc *m, const struct mfc_problem *from, struct arena *a,
                           struct problem *out) {
    struct mfc_problem p;
    copy_known(&p, sizeof p, from, from->size);
    if (p.n_nodes < 0 || p.n_edges < 0)
        return usage(m, "a problem has at least 0 nodes and edges");
    if ((p.n_nodes && (!p.cost || !p.bytes)) || (p.n_edges && !p.edges))
        return usage(m, "a problem needs cost and bytes for its nodes, and its edges");
    status st = problem_alloc(a, &m->diags, p.n_nodes, out);
    struct problem_edge *edges = st ? NULL : ARENA_ARRAY(a, struct problem_edge, p.n_edges);
    if (!st && !edges)
        st = diag_out_of_memory(&m->diags);
    if (st)
        return st;
    out->persistent_bytes = p.persistent_bytes;
    for (int32_t i = 0; i < p.n_nodes; i++) {
        unsigned flags = p.flags ? p.flags[i] : 0;
        out->cost[i] = p.cost[i];
        out->bytes[i] = p.bytes[i];
        out->workspace[i] = p.workspace_bytes ? p.workspace_bytes[i] : 0;
        out->keep[i] = flags & MFC_NODE_KEEP;
        out->once[i] = flags & MFC_NODE_ONCE;
        out->backward[i] = flags & MFC_NODE_BACKWARD;
        out->has_forward |= out->backward[i];
        out->name[i] = p.names && p.names[i] ? p.names[i] : NULL;
    }
    for (int64_t k = 0; k < p.n_edges; k++)
        edges[k] = (struct problem_edge){p.edges[2 * k], p.edges[2 * k + 1]};
    return problem_link(a, &m->diags, edges, p.n_edges, NULL, out);
}

// Steps of the caller; node numbers are checked, for nobody below does.
static status take_steps(struct mfc *m, const struct problem *p, const struct mfc_step *from,
                         size_t n, struct arena *a, struct steps *out) {
    if (n > INT32_MAX)
        return usage(m, "there are too many steps");
    for (size_t i = 0; i < n; i++)
        if (from[i].node < 0 || from[i].node >= p->n ||
            (from[i].kind != MFC_COMPUTE && from[i].kind != MFC_FREE))
            return diag_error(&m->diags, DIAG_MALFORMED, loc_none(),
                              "step %zu: there is no such step as kind %d of node %d; nodes are 0 "
                              ".. %d",
                              i, (int)from[i].kind, (int)from[i].node, (int)p->n - 1);
    out->at = ARENA_ARRAY(a, struct step, n);
    out->n = (int32_t)n;
    for (size_t i = 0; out->at && i < n; i++)
        out->at[i] = (struct step){(enum step_kind)from[i].kind, from[i].node};
    return out->at ? ST_OK : diag_out_of_memory(&m->diags);
}

static status take_options(struct mfc *m, const struct problem *p, int64_t given_peak_bytes,
                           const struct mfc_solve_options *from, struct solve_options *out) {
    struct mfc_solve_options o;
    mfc_solve_init(&o, sizeof o);
    if (from)
        memcpy(&o, from, from->size < sizeof o ? from->size : sizeof o);
    *out = solve_defaults();
    if (o.method)
        out->method = o.method;
    if (!solve_method_find(out->method))
        return diag_error(&m->diags, DIAG_USAGE, loc_none(), "there is no method \"%s\"", o.method);
    if (o.budget_bytes < 0 || !(o.budget_share > 0 && o.budget_share <= 1e6) || !(o.gap >= 0))
        return usage(m, "a budget is more than 0, a gap at least 0");
    double share = o.budget_share * (double)given_peak_bytes;
    out->budget_bytes = o.budget_bytes          ? o.budget_bytes
                        : o.budget_share == 1.0 ? given_peak_bytes
                        : share < 9e18          ? (int64_t)share
                                                : BUDGET_NONE;
    out->free_order = o.order == MFC_ORDER_ANY;
    out->threads = o.threads;
    out->gap = o.gap;
    out->seconds = o.seconds;
    out->work = o.work;
    out->seed = o.seed;
    out->worker_path = o.worker;
    if (!o.n_initial)
        return ST_OK;
    struct steps *initial = ARENA_NEW(&m->solve_arena, struct steps);
    if (!initial)
        return diag_out_of_memory(&m->diags);
    out->initial = initial;
    out->n_initial = 1;
    return take_steps(m, p, o.initial, o.n_initial, &m->solve_arena, initial);
}

static int64_t bound_known(int64_t bound) {
    return bound == BOUND_NONE ? MFC_UNKNOWN : bound;
}

static status give(struct mfc *m, const struct problem *p, int64_t given_peak_bytes,
                   const struct schedule *s, const struct mfc_schedule **out) {
    struct mfc_schedule *x = ARENA_NEW(&m->solve_arena, struct mfc_schedule);
    struct mfc_step *steps = ARENA_ARRAY(&m->solve_arena, struct mfc_step, s->steps.n);
    if (!x || !steps)
        return diag_out_of_memory(&m->diags);
    bool any = s->steps.n > 0;
    *x = (struct mfc_schedule){.outcome = (int32_t)s->outcome,
                               .budget_bytes = s->budget_bytes,
                               .peak_bytes = any ? s->peak_bytes : MFC_UNKNOWN,
                               .cost = any ? s->cost : MFC_UNKNOWN,
                               .base_cost = s->base_cost,
                               .given_peak_bytes = given_peak_bytes,
                               .bound_order = bound_known(s->bound),
                               .bound = bound_known(s->bound_any),
                               .min_bytes = s->min_bytes,
                               .feasible_bytes = s->known_bytes ? s->known_bytes : MFC_UNKNOWN,
                               .forcing = s->forcing,
                               .n_forcing = (size_t)s->n_forcing,
                               .steps = steps,
                               .n_steps = (size_t)s->steps.n};
    for (int32_t i = 0; i < s->steps.n; i++) {
        steps[i] = (struct mfc_step){(int32_t)s->steps.at[i].kind, s->steps.at[i].node};
        x->n_recomputed += s->steps.at[i].kind == STEP_COMPUTE;
    }
    x->n_recomputed -= any ? p->n : 0;
    *out = x;
    return ST_OK;
}

static status search(struct mfc *m, const struct mfc_problem *from,
                     const struct mfc_solve_options *o, const struct mfc_schedule **out) {
    struct arena *a = &m->solve_arena;
    struct problem p;
    struct solve_options options;
    struct schedule s;
    status st = make_problem(m, from, a, &p);
    if (st)
        return st;
    int64_t given = problem_given_peak(&p, a);
    if (given < 0)
        return diag_out_of_memory(&m->diags);
    st = take_options(m, &p, given, o, &options);
    if (st)
        return st;
    struct solve_hooks hooks = api_hooks(m);
    api_search_begins(m, problem_base_cost(&p), options.budget_bytes);
    st = solve(&p, &options, &hooks, a, &m->diags, &s);
    if (st && st != ST_INFEASIBLE && st != ST_NO_PLAN)
        return st;
    if (st)
        schedule_report_failure(&p, &s, a, &m->diags);
    status given_out = give(m, &p, given, &s, out);
    return given_out ? given_out : st;
}

int mfc_solve(struct mfc *m, const struct mfc_problem *p, const struct mfc_solve_options *o,
              const struct mfc_schedule **out) {
    assert(m && p && out);
    *out = NULL;
    arena_free(&m->solve_arena);
    status st = search(m, p, o, out);
    atomic_store(&m->stop.raised, 0);
    return api_finish(m, st);
}

static status replay(struct mfc *m, const struct mfc_problem *from, struct arena *a,
                     const struct mfc_step *steps, size_t n_steps, struct mfc_replay *out) {
    struct problem p;
    struct steps s;
    struct replay r;
    status st = make_problem(m, from, a, &p);
    if (!st)
        st = take_steps(m, &p, steps, n_steps, a, &s);
    if (!st)
        st = schedule_check_steps(&p, s, a, &m->diags, &r);
    if (st)
        return st;
    *out = (struct mfc_replay){.peak_bytes = r.peak_bytes,
                               .cost = r.cost,
                               .peak_step = r.peak_step,
                               .failed_step = r.failed_step,
                               .node = r.node,
                               .reason = r.reason,
                               .given_order = r.given_order};
    return r.reason
               ? diag_error(&m->diags, DIAG_VERIFY, loc_none(), "step %d, node %d (%s): %s",
                            r.failed_step, r.node, r.node >= 0 ? p.name[r.node] : "?", r.reason)
               : ST_OK;
}

int mfc_replay(struct mfc *m, const struct mfc_problem *p, const struct mfc_step *steps,
               size_t n_steps, struct mfc_replay *out) {
    assert(m && p && (steps || !n_steps) && out);
    struct arena scratch = arena_make(&m->mem);
    *out = (struct mfc_replay){.peak_step = -1, .failed_step = -1, .node = -1};
    status st = replay(m, p, &scratch, steps, n_steps, out);
    arena_free(&scratch);
    return api_finish(m, st);
}
