// The loop of lazy cuts (ilp.h). Each round builds and solves a program, turns the solution into a
// sequence, and adds cuts or rows where the sequence exceeds the budget (ilp_refine.c).
#include "solver/mip/cbc_reduce.h"

#include "solver/mip/ilp_state.h"
#include <assert.h>

#define NEIGHBOURHOOD_PARTS    16   // parts of the order that get an initial cut each, ...
#define NEIGHBOURHOOD_FULL     0.9  // ... if so much of the capacity is in use there
#define NEIGHBOURHOOD_MAX_ROWS 4000 // of a reduced program; larger ones take too long

static double seconds_left(const struct ilp *s) {
    const struct cbc_limits *l = &s->task->limits;
    double left = CBC_INF;
    if (l->seconds > 0)
        left = l->seconds - (double)(stop_clock_ns() - s->start_ns) * 1e-9;
    if (l->stop)
        left = fmin(left, stop_seconds_left(l->stop));
    return left;
}

static bool must_end(const struct ilp *s) {
    return s->over || seconds_left(s) <= 0 ||
           (s->task->limits.stop && stop_now(s->task->limits.stop));
}

static bool close_enough(const struct ilp *s) {
    const struct ilp_result *r = s->out;
    if (s->task->kind == ILP_MIN_BUDGET)
        return r->known_bytes <= r->min_bytes;
    return r->cost != INT64_MAX && (double)(r->cost - r->bound) <= s->task->gap * (double)r->cost;
}

static void take_bound(struct ilp *s, double objective, double slack) {
    bool min_budget = s->task->kind == ILP_MIN_BUDGET;
    int64_t bound = min_budget ? cut_budget_bound(&s->view, objective, slack)
                               : cut_cost_bound(&s->view, objective, slack);
    int64_t *best = min_budget ? &s->out->min_bytes : &s->out->bound;
    if (!min_budget && slack == CUT_NO_SLACK && bound > s->safe_bound)
        s->safe_bound = bound;
    if (bound <= *best)
        return;
    *best = bound;
    if (s->task->bounded)
        s->task->bounded(s->task->context, bound);
}

// Reports the sequence, and records it if it is within the budget and better than the incumbent.
static bool take_sequence(struct ilp *s, struct sequence found, struct sequence_facts *facts) {
    struct arena scratch = arena_make(s->a->mem);
    bool ok = sequence_measure(s->task->p, found, &scratch, facts);
    arena_free(&scratch);
    if (!ok)
        return false;
    if (facts->wrong_at >= 0)
        return true;
    if (s->task->found)
        s->task->found(s->task->context, found);
    if (facts->peak_bytes < s->out->known_bytes)
        s->out->known_bytes = facts->peak_bytes;
    else if (s->task->kind == ILP_MIN_BUDGET)
        return true;
    if (facts->peak_bytes > s->task->budget_bytes ||
        (facts->cost >= s->out->cost && s->task->kind != ILP_MIN_BUDGET))
        return true;
    // A schedule cheaper than the bound refutes the bound that CBC claimed.
    if (facts->cost < s->out->bound && s->task->kind != ILP_MIN_BUDGET)
        s->out->bound = s->safe_bound;
    s->out->cost = facts->cost;
    s->out->best.at = arena_copy(s->a, found.at, (size_t)found.n * sizeof *found.at);
    s->out->best.n = found.n;
    return s->out->best.at != NULL;
}

static bool collect_cuts(const struct ilp *s, struct arena *a, struct cuts *out) {
    out->n = 0;
    out->at = ARENA_ARRAY(a, int32_t, s->view.n_steps);
    for (int32_t t = 0; out->at && t < s->view.n_steps; t++)
        if (s->is_cut[t])
            out->at[out->n++] = t;
    return out->at != NULL;
}

static int kind_flags(enum ilp_kind kind) {
    switch (kind) {
    case ILP_F3Z:
        return CUT_LATER;
    case ILP_MIN_BUDGET:
        return CUT_MIN_BUDGET;
    case ILP_RELAX:
        return CUT_CONTINUOUS | CUT_LATER;
    default:
        return 0;
    }
}

// Half of the task's gap goes to the programs, the other half to the rows they still lack.
static double program_gap(const struct ilp *s) {
    if (s->task->kind == ILP_MIN_BUDGET)
        return 0;
    return s->task->gap / 2 * (double)problem_base_cost(s->task->p) * s->view.cost_scale;
}

// Takes the bound and the sequence of an integer program's answer, or its claim of infeasibility.
static bool take_answer(struct ilp *s, const struct cut_model *m, const struct cbc_answer *answer,
                        struct arena *scratch) {
    if (answer->result == CBC_INFEASIBLE) {
        s->out->claimed_infeasible = s->over = true;
        return true;
    }
    // Branch and bound that ended within its gap proves no more than objective - gap.
    double claim =
        answer->x ? fmin(answer->bound, answer->objective - program_gap(s)) : answer->bound;
    take_bound(s, claim, CUT_MIP_SLACK);
    if (!answer->x) {
        s->over = true;
        return true;
    }
    struct sequence q;
    struct sequence_facts facts;
    size_t n_rows = s->rows.n;
    int32_t n_new_cuts = 0;
    if (!cut_realize(&s->view, m, answer->x, 0.5, scratch, &q) ||
        !ilp_repair_stages(s, m, answer->x, &q, scratch) ||
        !sequence_prune(s->task->p, &q, scratch) || !take_sequence(s, q, &facts))
        return false;
    take_bound(s, claim, CUT_MIP_SLACK); // again: take_sequence may have dropped a refuted bound
    if (facts.wrong_at < 0 && !close_enough(s) &&
        !ilp_add_cuts(s, m, answer->x, q, scratch, &n_new_cuts))
        return false;
    s->out->n_rows = (int32_t)s->rows.n;
    // Without new cuts or rows the next program would be the same.
    s->over = s->over || (s->rows.n == n_rows && n_new_cuts == 0);
    return true;
}

// LP relaxation only: rounds its fractions at several thresholds. The sequence of the first one,
// 0.5, determines the new cuts.
static bool take_fractions(struct ilp *s, const struct cut_model *m,
                           const struct cbc_answer *answer, struct arena *scratch) {
    static const double thresholds[] = {0.5, 0.999, 0.9, 0.7, 0.3, 0.1, 0.001};
    int32_t n_new_cuts = 0;
    if (answer->result == CBC_INFEASIBLE)
        s->out->claimed_infeasible = true;
    for (size_t k = 0; answer->result == CBC_OPTIMAL && k < sizeof thresholds / sizeof *thresholds;
         k++) {
        struct sequence q;
        struct sequence_facts facts;
        if (!cut_realize(&s->view, m, answer->x, thresholds[k], scratch, &q) ||
            !sequence_prune(s->task->p, &q, scratch) || !take_sequence(s, q, &facts) ||
            (k == 0 && !ilp_add_cuts(s, m, answer->x, q, scratch, &n_new_cuts)))
            return false;
    }
    s->over = s->over || n_new_cuts == 0;
    return true;
}

// Fixes the columns of fixed nodes to their values in the initial solution.
static void fix_columns(const struct ilp *s, struct cut_model *m, const double *initial) {
    int32_t n = s->view.p->n;
    for (int32_t k = 0; k < m->cuts.n; k++)
        for (int32_t i = 0; i < n; i++) {
            size_t at = (size_t)k * (size_t)n + (size_t)i;
            int32_t cols[] = {m->cols.keep[at], m->cols.run[at]};
            for (int c = 0; c < 2 && s->task->fixed[i]; c++)
                if (cols[c] >= 0)
                    m->program.col_lower.at[cols[c]] = m->program.col_upper.at[cols[c]] =
                        nearbyint(initial[cols[c]]);
        }
}

// Solves the integer program; an integral solution of the LP relaxation is optimal already.
static bool solve_program(struct ilp *s, const struct cut_model *m, const double *initial,
                          const struct cbc_limits *limits, struct arena *scratch,
                          struct cbc_answer *answer) {
    if (answer->result == CBC_OPTIMAL && cbc_integral(&m->program, answer->x))
        return take_answer(s, m, answer, scratch);
    return cbc_mip(&m->program, initial, limits, scratch, answer) &&
           take_answer(s, m, answer, scratch);
}

// Solves the LP relaxation for a safe bound; then rounds it or solves the integer program.
static bool solve_full(struct ilp *s, const struct cut_model *m, const double *initial,
                       const struct cbc_limits *limits, struct arena *scratch) {
    struct cbc_answer answer;
    if (!cbc_lp(&m->program, limits, scratch, &answer))
        return false;
    if (answer.result == CBC_OPTIMAL)
        take_bound(s, cbc_safe_bound(&m->program, answer.price), CUT_NO_SLACK);
    if (s->task->kind == ILP_RELAX)
        return take_fractions(s, m, &answer, scratch);
    return close_enough(s) || solve_program(s, m, initial, limits, scratch, &answer);
}

// The neighbourhood of the initial solution: fixed columns are removed before CBC starts.
static bool solve_neighbourhood(struct ilp *s, struct cut_model *m, const double *initial,
                                const struct cbc_limits *limits, struct arena *scratch) {
    struct cbc_reduced small;
    struct cbc_answer answer;
    fix_columns(s, m, initial);
    if (!cbc_reduce(&m->program, initial, scratch, &small))
        return false;
    if (cbc_n_cols(&small.program) == 0 || cbc_n_rows(&small.program) > NEIGHBOURHOOD_MAX_ROWS) {
        s->over = true; // no free column, or too many rows
        return true;
    }
    return cbc_mip(&small.program, small.initial, limits, scratch, &answer) &&
           cbc_expand(&small, scratch, &answer) && take_answer(s, m, &answer, scratch);
}

static bool solve_round(struct ilp *s) {
    struct arena scratch = arena_make(s->a->mem);
    struct cut_model m;
    struct cuts cuts;
    double *initial = NULL;
    bool ok = collect_cuts(s, &scratch, &cuts) &&
              cut_model_build(&s->view, cuts, &s->rows, kind_flags(s->task->kind), &scratch, &m);
    if (ok && s->out->best.n > 0)
        ok = cut_model_point(&s->view, &m, s->out->best, &scratch, &initial);
    struct cbc_limits limits = s->task->limits;
    limits.gap = program_gap(s);
    limits.seconds = cbc_seconds(seconds_left(s));
    if (ok && s->task->fixed && initial)
        ok = solve_neighbourhood(s, &m, initial, &limits, &scratch);
    else if (ok)
        ok = solve_full(s, &m, initial, &limits, &scratch);
    s->out->n_cuts = cuts.n;
    s->out->n_rounds++;
    arena_free(&scratch);
    return ok;
}

static bool first_cuts(struct ilp *s) {
    struct arena scratch = arena_make(s->a->mem);
    struct sequence given;
    int64_t *held;
    int32_t *stage, peak = 0;
    s->is_cut = ARENA_ARRAY(s->a, bool, s->view.n_steps);
    bool ok = s->is_cut && sequence_given(s->task->p, &scratch, &given) &&
              cut_profile(&s->view, given, &scratch, &held, &stage);
    struct sequence_facts facts;
    ok = ok && take_sequence(s, given, &facts);
    for (int32_t t = 0; ok && t < given.n; t++) {
        s->is_cut[t] = s->task->kind == ILP_F3 || s->task->kind == ILP_F3Z;
        if (held[t] > held[peak])
            peak = t;
    }
    if (ok)
        s->is_cut[peak] = true;
    arena_free(&scratch);
    return ok;
}

// A neighbourhood starts with cuts where the initial solution has the least slack: the worst
// position of each part of the order.
static bool cut_around_initial(struct ilp *s) {
    struct arena scratch = arena_make(s->a->mem);
    struct sequence initial = s->task->initial;
    int64_t *held;
    int32_t *stage, worst[NEIGHBOURHOOD_PARTS];
    bool ok = cut_profile(&s->view, initial, &scratch, &held, &stage);
    for (int32_t part = 0; part < NEIGHBOURHOOD_PARTS; part++)
        worst[part] = -1;
    for (int32_t at = 0; ok && at < initial.n; at++) {
        int32_t part = (int32_t)((int64_t)stage[at] * NEIGHBOURHOOD_PARTS / s->view.n_steps);
        if (initial.at[at] == stage[at] && (worst[part] < 0 || held[at] > held[worst[part]]))
            worst[part] = at;
    }
    for (int32_t part = 0; ok && part < NEIGHBOURHOOD_PARTS; part++)
        if (worst[part] >= 0 &&
            (double)held[worst[part]] > NEIGHBOURHOOD_FULL * (double)s->view.capacity)
            s->is_cut[stage[worst[part]]] = true;
    arena_free(&scratch);
    return ok;
}

bool ilp_solve(const struct ilp_task *task, struct arena *a, struct ilp_result *out) {
    assert(task && task->p && a && out);
    assert(!task->fixed || task->initial.n > 0);
    assert(task->gap >= 0 && task->n_rounds >= 0);
    *out = (struct ilp_result){.cost = INT64_MAX, .known_bytes = INT64_MAX};
    out->bound = problem_base_cost(task->p);
    struct ilp s = {
        .task = task, .a = a, .out = out, .safe_bound = out->bound, .start_ns = stop_clock_ns()};
    struct sequence_facts facts;
    bool ok = cut_view_make(task->p, task->budget_bytes, a, &s.view) && first_cuts(&s) &&
              (task->initial.n == 0 || take_sequence(&s, task->initial, &facts)) &&
              (!task->fixed || cut_around_initial(&s));
    while (ok && !close_enough(&s) && !must_end(&s) &&
           (task->n_rounds == 0 || out->n_rounds < task->n_rounds))
        ok = solve_round(&s);
    bool min_budget = task->kind == ILP_MIN_BUDGET;
    out->proven = min_budget ? out->known_bytes <= out->min_bytes
                             : out->cost != INT64_MAX && out->cost <= out->bound;
    return ok;
}
