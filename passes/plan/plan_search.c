// The rounds of the search for one device. The solver plans by the liveness peak; what counts is
// the peak of the runtime model, of the graph with its control nodes. So each round gives the
// solver a budget, the aim, applies the schedule to a copy of the step, rewrites it and measures
// it. When the peak is over the budget, the next aim is lower by the excess; when there is slack,
// higher; once one aim was too high and one was not, or had no schedule, the next is between them.
// The first problem is coarse (clusters of nodes); where it has no solution, the problem of single
// nodes is tried, and then that in any order.
#include <assert.h>
#include <math.h>
#include <stdarg.h>

#include "passes/plan/plan_inner.h"
#include "solver/search_options.h"

#define MAX_ROUNDS    10
#define MAX_GRACE     2
#define SLACK_PART    100 // less than this part of the budget is not worth another round
#define FIRST_SHARE   2   // of the time: the first search,
#define TIGHTER_SHARE 4   // one after a plan that was over the budget,
#define LOOSER_SHARE  16  // and one that is to use the slack
#define WORK_SHARE    2   // of the work, relative to the first: as the shares of the time
#define FINISH_TRIALS 2   // what is left after the search, in trials
#define GRACE_SECONDS 1.0 // after the end of the time, to bring what there is within the budget

// After a signal, for the first plan of all.
#define SIGNAL_NS ((int64_t)2000000000)

enum level { COARSE, FINE, FINE_FREE };

// The state of the search between two rounds.
struct rounds {
    const struct remat *r;
    enum level level;
    int n, n_grace;
    int64_t aim_bytes;    // the solver's budget
    int64_t fit_bytes;    // highest aim whose plan is within the budget; 0: none
    int64_t over_bytes;   // lowest aim whose plan is over it; INT64_MAX: none
    struct steps initial; // the schedule of the round before
    struct trial least;   // trial with the least peak, its schedule and the problem of that
    struct steps min_peak_steps;
    const struct remat *min_peak_problem;
};

static bool was_over(const struct rounds *h) {
    return h->over_bytes < INT64_MAX;
}

static void begin_search(void *context, int64_t budget_bytes) {
    struct planning *k = context;
    if (k->watch && k->watch->begin)
        k->watch->begin(k->watch->hooks.context, k->out->base_cost, budget_bytes, k->end_ns);
}

// The solver's hooks have one context: this planning. Events are passed on to the watch.
static void on_progress(void *context, const struct solve_event *e) {
    struct planning *k = context;
    if (k->hooks.progress)
        k->hooks.progress(k->hooks.context, e);
}

static void on_improved(void *context, const struct schedule *best) {
    struct planning *k = context;
    if (k->hooks.improved)
        k->hooks.improved(k->hooks.context, best);
}

// ---- Limits ----

// Of the command's time for the search: the plan has to be finished, too. INFINITY: no limit.
static double seconds_left(const struct planning *k) {
    return k->end_ns == STOP_NEVER ? INFINITY
                                   : (double)(k->end_ns - k->finish_ns - stop_clock_ns()) * 1e-9;
}

// A trial applies and measures a schedule; to apply it to the model, lay it out, check and write it
// takes about twice as long.
static status try_timed(struct planning *k, struct rounds *h, struct steps steps,
                        struct trial *out) {
    int64_t start_ns = stop_clock_ns();
    status st = plan_try(k, h->r, steps, out);
    k->finish_ns = FINISH_TRIALS * (stop_clock_ns() - start_ns);
    return st;
}

static bool is_over(const struct planning *k) {
    return plan_is_stopped(k) || seconds_left(k) <= 0;
}

// A signal has come, there is no plan yet, and one would take long.
static bool is_in_vain(const struct planning *k, const struct plan_incumbent *best) {
    return !best->problem && plan_is_stopped(k) && k->finish_ns > SIGNAL_NS;
}

// Limits of one search. Later rounds have an initial solution and get less.
static void set_limits(const struct planning *k, struct rounds *h, struct solve_options *o) {
    bool first = h->initial.n == 0;
    int looser = LOOSER_SHARE / TIGHTER_SHARE;
    int share = first ? FIRST_SHARE : was_over(h) ? TIGHTER_SHARE : LOOSER_SHARE;
    if (o->work > 0 && !first)
        o->work = o->work / (was_over(h) ? WORK_SHARE : WORK_SHARE * looser) + 1;
    if (!first && !was_over(h))
        o->gap /= WORK_SHARE * looser; // the initial solution is within the gap already
    if (is_over(k)) {
        o->seconds = GRACE_SECONDS;
        h->n_grace++;
    } else if (k->end_ns != STOP_NEVER) {
        o->seconds = fmin(o->seconds / share, seconds_left(k));
    }
}

static status search(struct planning *k, struct rounds *h, struct schedule *out) {
    struct remat_settings s = k->settings;
    struct stop grace = {.deadline_ns = STOP_NEVER};
    struct solve_hooks hooks = {
        .progress = on_progress, .improved = on_improved, .context = k, .stop = k->c->stop};
    s.solve.budget_bytes = h->aim_bytes;
    s.solve.initial = &h->initial;
    s.solve.n_initial = h->initial.n ? 1 : 0;
    if (plan_is_stopped(k))
        hooks.stop = &grace;
    s.begin = begin_search;
    set_limits(k, h, &s.solve);
    h->n++;
    return remat_search(h->r, &s, &hooks, k->c->arena, k->c->diags, out);
}

// ---- Reports ----

__attribute__((format(printf, 4, 5))) static void
report_round(const struct planning *k, const struct rounds *h, bool more, const char *format, ...) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct str text = str_make(&scratch);
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    if (k->watch && k->watch->round)
        k->watch->round(k->watch->hooks.context, h->n, more, str_text(&text));
    else
        pass_progress(k->c, "search %d: %s", h->n, str_text(&text));
    arena_free(&scratch);
}

static void report_trial(const struct planning *k, const struct rounds *h, const struct trial *t,
                         bool more) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct str size = str_make(&scratch), over = str_make(&scratch);
    int64_t excess = k->settings.dual ? 0 : t->peak_bytes - k->budget_bytes;
    str_add_bytes(&size, t->peak_bytes);
    if (excess > 0) {
        str_add(&over, ", ");
        str_add_bytes(&over, excess);
        str_add(&over, " over the budget");
    }
    int64_t base = k->out->base_cost;
    report_round(k, h, more, "overhead %.2f %%, planned peak %s%s",
                 base > 0 ? 100.0 * (double)t->result.recompute_cost / (double)base : 0.0,
                 str_text(&size), str_text(&over));
    arena_free(&scratch);
}

// ---- Rounds ----

static bool may_free_order(const struct planning *k) {
    return search_order_is_auto(k->c->options);
}

// No plan fits. What the best one needs is what a plan for that budget would: steered, if there is
// still time.
static status refuse(struct planning *k, struct rounds *h) {
    struct trial steered = {.peak_bytes = INT64_MAX};
    k->steers_all = true;
    status st = h->min_peak_problem && !is_over(k)
                    ? plan_try(k, h->min_peak_problem, h->min_peak_steps, &steered)
                    : ST_OK;
    k->steers_all = false;
    if (st)
        return st;
    return plan_verdict_refuse(k, steered.peak_bytes < h->least.peak_bytes ? &steered : &h->least);
}

// No schedule was found: an aim closer to the one that was over, the next level, or the end. ST_OK:
// go on.
static status after_failure(struct planning *k, struct rounds *h, const struct schedule *s) {
    int64_t gap = was_over(h) ? h->over_bytes - h->aim_bytes : 0;
    if (gap >= 2 * (k->budget_bytes / SLACK_PART + 1) && !is_over(k)) {
        h->aim_bytes += gap / 2;
        report_round(k, h, true, "no schedule within this aim; next: a higher one");
        return ST_OK;
    }
    if (is_over(k) || h->level == (may_free_order(k) ? FINE_FREE : FINE)) {
        // The problem may charge more than the runtime needs: the schedule of least peak is tried.
        bool tries_least = !was_over(h) && s->known_bytes > h->aim_bytes;
        if (!tries_least)
            return refuse(k, h);
        report_round(k, h, true, "no schedule within the budget; next: the least memory");
        h->aim_bytes = s->known_bytes;
        return ST_OK;
    }
    h->r = &k->fine;
    if (++h->level == FINE_FREE) {
        report_round(k, h, true, "no schedule in the order of the step; next: any order");
        k->settings.solve.free_order = true;
        return ST_OK;
    }
    report_round(k, h, true, "no schedule of %u clusters; next: single nodes",
                 k->coarse.clusters.n);
    h->initial.n = 0; // it is one of clusters
    return remat_make(k->m->graph, k->c, true, &k->fine);
}

// The aim of the next round; false: it is not worth another round. `peak_bytes` is the solver's.
static bool next_aim(const struct planning *k, struct rounds *h, int64_t peak_bytes,
                     int64_t slack_bytes) {
    int64_t least = k->budget_bytes / SLACK_PART, aim = h->aim_bytes;
    if (slack_bytes >= 0)
        h->fit_bytes = aim > h->fit_bytes ? aim : h->fit_bytes;
    else
        h->over_bytes = peak_bytes < h->over_bytes ? peak_bytes : h->over_bytes;
    if (h->fit_bytes && was_over(h)) {
        h->aim_bytes = h->fit_bytes + (h->over_bytes - h->fit_bytes) / 2;
        return h->aim_bytes - h->fit_bytes >= least;
    }
    // A schedule may stay below the aim: what is over the budget is the excess of its own peak.
    h->aim_bytes = (slack_bytes < 0 ? peak_bytes : aim) + slack_bytes;
    return slack_bytes < 0 || slack_bytes >= least;
}

// A schedule was found: measure the plan, and decide whether another round is worth it.
static status after_success(struct planning *k, struct rounds *h, const struct schedule *s,
                            struct plan_incumbent *best, bool *more) {
    struct trial t;
    status st = try_timed(k, h, s->steps, &t);
    if (st)
        return st;
    int64_t cost = plan_cost(k, &t), slack = k->budget_bytes - t.peak_bytes;
    bool dual = k->settings.dual, fits = dual || slack >= 0;
    if (t.peak_bytes < h->least.peak_bytes) {
        h->least = t;
        h->min_peak_steps = s->steps;
        h->min_peak_problem = h->r;
    }
    bool better = fits && (!best->problem || cost < best->cost);
    if (better)
        *best = (struct plan_incumbent){h->r, *s, cost, t};
    h->initial = s->steps;
    *more = !dual && next_aim(k, h, s->peak_bytes, slack) &&
            h->aim_bytes > h->r->problem.persistent_bytes;
    if (fits) // a lower cost is worth more time only if there may be one
        *more &= !is_over(k) && best->cost > k->out->base_cost && (better || was_over(h));
    report_trial(k, h, &t, *more);
    return ST_OK;
}

// The least memory was searched for in the order of the step. A plan in another order counts if it
// is worth its looser bound.
static status try_free_order(struct planning *k, struct rounds *h, struct plan_incumbent *best) {
    struct schedule s;
    struct trial t;
    k->settings.solve.free_order = true;
    h->over_bytes = h->aim_bytes; // for its share of the time
    status st = search(k, h, &s);
    if (st)
        return st == ST_INFEASIBLE || st == ST_NO_PLAN ? ST_OK : st;
    st = try_timed(k, h, s.steps, &t);
    if (st)
        return st;
    report_trial(k, h, &t, false);
    int64_t peak = h->least.peak_bytes, cost = plan_cost(k, &t);
    bool smaller = t.peak_bytes < peak - peak / SLACK_PART;
    bool cheaper = t.peak_bytes <= peak && cost < best->cost - best->cost / SLACK_PART;
    if (smaller || cheaper)
        *best = (struct plan_incumbent){h->r, s, cost, t};
    return ST_OK;
}

// What the first aim leaves to the session; later ones have measured it.
static int64_t first_session(const struct planning *k) {
    return !k->settings.dual && k->session_bytes < k->budget_bytes ? k->session_bytes : 0;
}

status plan_search(struct planning *k, struct plan_incumbent *best) {
    struct rounds h = {.r = &k->coarse,
                       .aim_bytes = k->budget_bytes - first_session(k),
                       .over_bytes = INT64_MAX,
                       .least = {.peak_bytes = INT64_MAX, .top = ""}};
    bool more = true;
    assert(!best->problem);
    while (more && h.n < MAX_ROUNDS && h.n_grace < MAX_GRACE) {
        struct schedule s;
        status st = search(k, &h, &s);
        bool none = st == ST_INFEASIBLE || st == ST_NO_PLAN;
        if (is_in_vain(k, best))
            return ST_INTERRUPTED;
        if (none && best->problem)
            return ST_OK; // no plan uses the slack
        if (none)
            st = after_failure(k, &h, &s);
        else if (!st)
            st = after_success(k, &h, &s, best, &more);
        if (st)
            return st;
    }
    if (!best->problem)
        return refuse(k, &h);
    bool free_too = k->settings.dual && may_free_order(k) && !is_over(k);
    return free_too ? try_free_order(k, &h, best) : ST_OK;
}
