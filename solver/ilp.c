// Lazy cuts: solve, realize, look where the schedule breaks the budget, add cuts or rows there,
// and again (ilp.h).
#include "solver/ilp.h"

#include <string.h>

#include "solver/cut_stage.h"

struct ilp {
    const struct ilp_task *task;
    struct cut_view view;
    struct arena *a; // for what lives as long as the task
    struct ilp_result *out;
    bool *is_cut; // per node, and one for the end
    struct cut_rows rows;
    int32_t n_new_cuts;
    int64_t start_ns;
    bool over;
};

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
    if (s->task->kind == ILP_LEAST)
        return r->known_bytes <= r->least_bytes;
    return r->cost != INT64_MAX && (double)(r->cost - r->bound) <= s->task->gap * (double)r->cost;
}

static void take_bound(struct ilp *s, double objective, double slack) {
    bool least = s->task->kind == ILP_LEAST;
    int64_t bound = least ? cut_budget_bound(&s->view, objective, slack)
                          : cut_cost_bound(&s->view, objective, slack);
    int64_t *best = least ? &s->out->least_bytes : &s->out->bound;
    if (bound <= *best)
        return;
    *best = bound;
    if (s->task->bounded)
        s->task->bounded(s->task->context, bound);
}

// Hands the sequence on, and keeps it when it is the best that fits.
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
    else if (s->task->kind == ILP_LEAST)
        return true;
    if (facts->peak_bytes > s->task->budget_bytes ||
        (facts->cost >= s->out->cost && s->task->kind != ILP_LEAST))
        return true;
    s->out->cost = facts->cost;
    s->out->best.at = arena_copy(s->a, found.at, (size_t)found.n * sizeof *found.at);
    s->out->best.n = found.n;
    return s->out->best.at != NULL;
}

// The position that is most over the room, among those whose stage is not closed; -1: none.
static int32_t worst_open(const struct ilp *s, struct sequence q, const int64_t *held,
                          const int32_t *stage, int64_t room) {
    int32_t worst = -1;
    for (int32_t at = 0; at < q.n; at++) {
        int32_t t = stage[at];
        bool first = q.at[at] == t;
        bool closed = s->is_cut[t] && (first || t == 0 || s->is_cut[t - 1]);
        if (held[at] > room && !closed && (worst < 0 || held[at] > held[worst]))
            worst = at;
    }
    return worst;
}

// Cuts at the worst places, a few per round and not too close to each other. A recomputation is cut
// off on both sides, so that rows can speak about its stage.
static int32_t add_cuts(struct ilp *s, struct sequence q, int64_t *held, const int32_t *stage,
                        int64_t room) {
    int32_t n_added = 0, apart = s->view.n_steps / 20 + 1;
    while (n_added < 3) {
        int32_t at = worst_open(s, q, held, stage, room);
        if (at < 0)
            break;
        int32_t t = stage[at];
        s->is_cut[t] = true;
        if (q.at[at] != t && t > 0)
            s->is_cut[t - 1] = true;
        n_added++;
        for (int32_t i = 0; i < q.n; i++)
            if (stage[i] >= t - apart && stage[i] <= t + apart)
                held[i] = 0;
    }
    return n_added;
}

// The stage is closed: both its ends are cuts, so that rows can speak about it.
static bool is_closed(const struct ilp *s, int32_t t) {
    return t > 0 && s->is_cut[t] && s->is_cut[t - 1];
}

static int64_t room_of(const struct ilp *s, const struct cut_model *m, const double *x) {
    if (m->room_col < 0)
        return s->view.room;
    return (int64_t)(x[m->room_col] / s->view.byte_scale * (1 + 1e-9)) + 1;
}

// Puts the runs of a stage in another order.
static bool replace_stage(struct sequence *q, const int32_t *stage, int32_t t,
                          struct sequence order, struct arena *a) {
    int32_t first = 0, n = 0;
    while (first < q->n && stage[first] < t)
        first++;
    while (first + n < q->n && stage[first + n] == t && q->at[first + n] != t)
        n++;
    int32_t *at = ARENA_ARRAY(a, int32_t, q->n - n + order.n);
    if (!at)
        return false;
    memcpy(at, q->at, (size_t)first * sizeof *at);
    memcpy(at + first, order.at, (size_t)order.n * sizeof *at);
    memcpy(at + first + order.n, q->at + first + n, (size_t)(q->n - first - n) * sizeof *at);
    *q = (struct sequence){.at = at, .n = q->n - n + order.n};
    return true;
}

// The first closed stage after `after` in which a recomputation goes over the room; -1: none.
static int32_t next_broken(const struct ilp *s, struct sequence q, const int64_t *held,
                           const int32_t *stage, int64_t room, int32_t after) {
    for (int32_t at = 0; at < q.n; at++)
        if (held[at] > room && q.at[at] != stage[at] && stage[at] > after &&
            is_closed(s, stage[at]))
            return stage[at];
    return -1;
}

// Rows for a closed stage that no order can run: about its peaks if they say it, else the stage as
// a whole is forbidden.
static bool add_stage_rows(struct ilp *s, const struct cut_model *m, const double *x,
                           const struct stage *what, int64_t room) {
    size_t before = s->rows.n;
    for (int32_t i = 0; i < what->t && i < s->view.p->n; i++) {
        struct cut_row row;
        bool found;
        if (!what->may_run[i])
            continue;
        if (!cut_peak_row(&s->view, m, x, what->t, i, s->a, &row, &found) ||
            (found && !VEC_PUSH(s->a, &s->rows, row)))
            return false;
    }
    if (s->rows.n > before)
        return true;
    struct cut_row row;
    return stage_forbid(&s->view, what, room, s->a, &row) && VEC_PUSH(s->a, &s->rows, row);
}

// Every closed stage that goes over the room gets an order that fits, or rows.
static bool settle_stages(struct ilp *s, const struct cut_model *m, const double *x,
                          struct sequence *q, struct arena *scratch) {
    int64_t room = room_of(s, m, x);
    for (int32_t t = -1;;) {
        int64_t *held;
        int32_t *stage;
        struct stage what;
        struct sequence order;
        enum stage_answer answer;
        if (!cut_profile(&s->view, *q, scratch, &held, &stage))
            return false;
        if ((t = next_broken(s, *q, held, stage, room, t)) < 0)
            return true;
        if (!stage_of_point(&s->view, m, x, t, scratch, &what) ||
            !stage_order(&s->view, &what, room, scratch, &answer, &order))
            return false;
        if (answer == STAGE_FITS && !replace_stage(q, stage, t, order, scratch))
            return false;
        if (answer == STAGE_DOES_NOT_FIT && !add_stage_rows(s, m, x, &what, room))
            return false;
    }
}

// Looks where the sequence goes over the room of the point, and adds cuts there.
static bool refine(struct ilp *s, const struct cut_model *m, const double *x, struct sequence q,
                   struct arena *scratch) {
    int64_t *held;
    int32_t *stage;
    return cut_profile(&s->view, q, scratch, &held, &stage) &&
           (s->n_new_cuts = add_cuts(s, q, held, stage, room_of(s, m, x)), true);
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
    return kind == ILP_F3Z ? CUT_LATER : kind == ILP_LEAST ? CUT_LEAST : 0;
}

// Half of the task's gap is for the programs, the other half for what they do not see.
static double program_gap(const struct ilp *s) {
    if (s->task->kind == ILP_LEAST)
        return 0;
    return s->task->gap / 2 * (double)problem_base_cost(s->task->p) * s->view.cost_scale;
}

// What the solver's answer is worth: a bound, a sequence, a proof of infeasibility.
static bool take_answer(struct ilp *s, const struct cut_model *m, const struct cbc_answer *answer,
                        struct arena *scratch) {
    if (answer->result == CBC_INFEASIBLE) {
        s->out->denied = s->over = true;
        return true;
    }
    // A search that ends within its gap has not proven more than the gap says.
    if (answer->x)
        take_bound(s, fmin(answer->bound, answer->objective - program_gap(s)), CUT_MIP_SLACK);
    else
        take_bound(s, answer->bound, CUT_MIP_SLACK);
    if (!answer->x) {
        s->over = true;
        return true;
    }
    struct sequence q;
    struct sequence_facts facts;
    size_t n_rows = s->rows.n;
    if (!cut_realize(&s->view, m, answer->x, 0.5, scratch, &q) ||
        !settle_stages(s, m, answer->x, &q, scratch) || !sequence_prune(s->task->p, &q, scratch) ||
        !take_sequence(s, q, &facts))
        return false;
    s->n_new_cuts = 0;
    if (facts.wrong_at < 0 && !close_enough(s) && !refine(s, m, answer->x, q, scratch))
        return false;
    s->out->n_rows = (int32_t)s->rows.n;
    // Without anything new the next program would be the same as this one.
    s->over = s->over || s->rows.n + (size_t)s->n_new_cuts == n_rows;
    return true;
}

static bool solve_round(struct ilp *s) {
    struct arena scratch = arena_make(s->a->mem);
    struct cut_model m;
    struct cuts cuts;
    struct cbc_answer answer;
    double *start = NULL;
    bool ok = collect_cuts(s, &scratch, &cuts) &&
              cut_model_build(&s->view, cuts, &s->rows, kind_flags(s->task->kind), &scratch, &m);
    if (ok && s->out->best.n > 0)
        ok = cut_model_start(&s->view, &m, s->out->best, &scratch, &start);
    struct cbc_limits limits = s->task->limits;
    limits.gap = program_gap(s);
    limits.seconds = seconds_left(s);
    if (isinf(limits.seconds))
        limits.seconds = 0;
    if (ok) {
        ok = cbc_lp(&m.program, &limits, &scratch, &answer);
        if (ok && answer.result == CBC_OPTIMAL)
            take_bound(s, cbc_safe_bound(&m.program, answer.price), CUT_NO_SLACK);
    }
    if (ok && !close_enough(s)) {
        ok = cbc_mip(&m.program, start, &limits, &scratch, &answer) &&
             take_answer(s, &m, &answer, &scratch);
        s->out->n_cuts = cuts.n;
        s->out->n_rounds++;
    }
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

bool ilp_solve(const struct ilp_task *task, struct arena *a, struct ilp_result *out) {
    *out = (struct ilp_result){.cost = INT64_MAX, .known_bytes = INT64_MAX};
    out->bound = problem_base_cost(task->p);
    struct ilp s = {.task = task, .a = a, .out = out, .start_ns = stop_clock_ns()};
    struct sequence_facts facts;
    bool ok = cut_view_make(task->p, task->budget_bytes, a, &s.view) && first_cuts(&s) &&
              (task->start.n == 0 || take_sequence(&s, task->start, &facts));
    while (ok && !close_enough(&s) && !must_end(&s) &&
           (task->n_rounds == 0 || out->n_rounds < task->n_rounds))
        ok = solve_round(&s);
    bool least = task->kind == ILP_LEAST;
    out->proven = least ? out->known_bytes <= out->least_bytes
                        : out->cost != INT64_MAX && out->cost <= out->bound;
    return ok;
}
