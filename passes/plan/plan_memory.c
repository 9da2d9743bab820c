// From the unplanned step to a plan whose promise holds on the runtime. The solver plans by
// liveness; what counts is the peak of the runtime model, of the graph with its control nodes. So:
// search, apply the schedule to a copy, rewrite it, ask the model; when the peak is over the
// budget, search again with so much less, and when there is room left, with more. The first
// problem is coarse (groups of nodes); where it has no answer, a fine one has the last word. The
// schedule that won is then applied to the step itself.
#include "passes/plan/plan_inner.h"

#include <string.h>

#include "ir/base/quantity.h"
#include "ir/copy.h"
#include "ir/keys.h"
#include "solver/model/schedule_report.h"

#define MOST_ROUNDS   8
#define SLACK_PART    100 // room of less than this part of the budget is not worth another search
#define TIGHTER_SHARE 2 // of the time: what a search gets after a schedule that was over the budget
#define LOOSER_SHARE  8 // and one that is to use the room that is left
#define GRACE_SECONDS 1.0 // after an interrupt, to bring what there is within the budget

// ---- Searching ----

// What is tried, one after the other, while there is no answer: groups in the order that was asked
// for, single nodes in it, and single nodes in any order.
enum level { COARSE, FINE, FINE_FREE };

struct hunt {
    const struct remat *r;
    enum level level;
    int64_t aim_bytes;   // what the solver gets as its budget
    struct steps start;  // the schedule of the search before
    int64_t known_bytes; // the least that some search could do with; INT64_MAX: nothing is known
    struct trial least;  // of all schedules that were tried
    bool was_over;       // one of them was over the budget
    int64_t cost;        // of the search before
};

static void begin_search(void *context, int64_t budget_bytes) {
    struct planning *k = context;
    if (k->watch && k->watch->begin)
        k->watch->begin(k->watch->hooks.context, k->out->base_cost, budget_bytes);
}

// The solver's hooks get one context: this planning. What the watcher asked for is passed on.
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

static bool is_stopped(const struct planning *k) {
    return k->c->stop && stop_raised(k->c->stop);
}

// Without --time, as long as a problem of this size is worth.
static double default_seconds(const struct remat *r) {
    return 2 + (double)r->clusters.n / 500;
}

static status search(struct planning *k, const struct hunt *h, struct schedule *out) {
    struct remat_settings s = k->settings;
    s.solve.budget_bytes = h->aim_bytes;
    s.solve.starts = &h->start;
    s.solve.n_initial = h->start.n ? 1 : 0;
    if (s.solve.work <= 0 && !options_given(k->c->options, "time"))
        s.solve.seconds = default_seconds(h->r);
    if (h->start.n) {
        int share = h->was_over ? TIGHTER_SHARE : LOOSER_SHARE;
        s.solve.seconds /= share;
        s.solve.gap /= h->was_over ? 1 : LOOSER_SHARE; // the start is within the gap already
        s.solve.work = s.solve.work > 0 ? s.solve.work / share + 1 : 0;
    }
    struct stop grace = {.deadline_ns = STOP_NEVER};
    struct solve_hooks hooks = {
        .progress = on_progress, .improved = on_improved, .context = k, .stop = k->c->stop};
    if (is_stopped(k)) {
        hooks.stop = &grace;
        s.solve.seconds = GRACE_SECONDS;
    }
    s.begin = begin_search;
    return remat_search(h->r, &s, &hooks, k->c->arena, k->c->diags, out);
}

static status refuse(struct planning *k, const struct trial *best) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct str text = str_make(&scratch);
    str_add(&text, "found no plan within ");
    str_add_bytes(&text, k->budget_bytes);
    str_addf(&text, " (%lld B) on runtime %s: the best one needs ", (long long)k->budget_bytes,
             k->out->runtime);
    str_add_bytes(&text, best->peak_bytes);
    str_addf(&text, " (%lld B); the largest tensors at its peak: %s", (long long)best->peak_bytes,
             best->top);
    status st = diag_error(k->c->diags, DIAG_NO_PLAN, loc_none(), "%s", str_text(&text));
    arena_free(&scratch);
    return st;
}

static status make_fine(struct planning *k) {
    return remat_make(k->m->graph, k->c, true, &k->fine);
}

// No schedule was found. What next? ST_OK: go on.
static status after_failure(struct planning *k, struct hunt *h, struct schedule *s) {
    bool may_free = !options_given(k->c->options, "order");
    if (s->known_bytes > 0 && s->known_bytes < h->known_bytes)
        h->known_bytes = s->known_bytes;
    if (is_stopped(k) || h->level == (may_free ? FINE_FREE : FINE)) {
        s->known_bytes = h->known_bytes < INT64_MAX ? h->known_bytes : 0;
        return h->was_over ? refuse(k, &h->least)
                           : schedule_report_failure(&h->r->problem, s, k->c->arena, k->c->diags);
    }
    h->r = &k->fine;
    if (++h->level == FINE_FREE) {
        k->settings.solve.free_order = true;
        return ST_OK;
    }
    h->start.n = 0; // it is one of groups
    return make_fine(k);
}

// What a plan costs: less than its schedule where parts of a repeated group turn out to be dead.
static int64_t cost_of(const struct planning *k, const struct trial *t) {
    return k->out->base_cost + t->result.recompute_cost;
}

// A schedule was found. Does it keep the promise, and is another search worth it?
static status after_success(struct planning *k, struct hunt *h, const struct schedule *s,
                            struct winner *win, bool *more) {
    struct trial t;
    status st = plan_try(k, h->r, s->steps, &t);
    if (st)
        return st;
    int64_t cost = cost_of(k, &t);
    bool dual = k->settings.dual, better = cost < h->cost;
    int64_t room = k->budget_bytes - t.peak_bytes;
    bool fits = dual || room >= 0;
    if (t.peak_bytes < h->least.peak_bytes)
        h->least = t;
    if (fits && (!win->problem || cost < win->cost))
        *win = (struct winner){h->r, *s, cost};
    *more = !fits || (better && !h->was_over && room >= k->budget_bytes / SLACK_PART &&
                      cost > k->out->base_cost);
    h->was_over |= !fits;
    h->start = s->steps;
    h->cost = cost;
    h->aim_bytes += dual ? 0 : room;
    *more &= !dual && !(is_stopped(k) && fits) && h->aim_bytes > h->r->problem.persistent_bytes;
    return ST_OK;
}

// The least memory was looked for in the step's own order. Another one counts if it is worth its
// looser bound.
static status try_free_order(struct planning *k, struct hunt *h, struct winner *win) {
    struct schedule s;
    struct trial t;
    k->settings.solve.free_order = true;
    h->was_over = true; // half of the time
    status st = search(k, h, &s);
    if (st)
        return st == ST_INFEASIBLE || st == ST_NO_PLAN ? ST_OK : st;
    st = plan_try(k, h->r, s.steps, &t);
    if (st)
        return st;
    int64_t peak = h->least.peak_bytes, cost = cost_of(k, &t);
    bool smaller = t.peak_bytes < peak - peak / SLACK_PART;
    bool cheaper = t.peak_bytes <= peak && cost < win->cost - win->cost / SLACK_PART;
    if (smaller || cheaper)
        *win = (struct winner){h->r, s, cost};
    return ST_OK;
}

// Searches until a plan keeps the promise and uses what there is, or the rounds are over.
static status find_winner(struct planning *k, struct winner *win) {
    struct hunt h = {.r = &k->coarse,
                     .aim_bytes = k->budget_bytes,
                     .known_bytes = INT64_MAX,
                     .least = {.peak_bytes = INT64_MAX, .top = ""},
                     .cost = INT64_MAX};
    bool more = true;
    for (int round = 0; more && round < MOST_ROUNDS; round++) {
        struct schedule s;
        status st = search(k, &h, &s);
        bool none = st == ST_INFEASIBLE || st == ST_NO_PLAN;
        if (none && win->problem)
            return ST_OK; // more was asked for than there is
        if (none)
            st = after_failure(k, &h, &s);
        else if (!st)
            st = after_success(k, &h, &s, win, &more);
        if (st)
            return st;
    }
    if (!win->problem)
        return refuse(k, &h.least);
    bool may_free = k->settings.dual && !options_given(k->c->options, "order");
    return may_free && !is_stopped(k) ? try_free_order(k, &h, win) : ST_OK;
}

// ---- A plan from a file ----

static status take_given(struct planning *k, const char *path, struct winner *win) {
    struct trial t;
    struct schedule *s = &win->schedule;
    *s = (struct schedule){
        .outcome = OUTCOME_FEASIBLE, .bound = BOUND_NONE, .bound_any = BOUND_NONE};
    status st = make_fine(k);
    if (!st)
        st = remat_read(k->m->graph, &k->fine, path, k->c->arena, k->c->diags, &s->steps);
    if (!st)
        st = plan_try(k, &k->fine, s->steps, &t);
    if (st)
        return st;
    if (!k->settings.dual && t.peak_bytes > k->budget_bytes)
        return diag_error(
            k->c->diags, DIAG_NO_PLAN, loc_file(path),
            "this plan needs %lld bytes, over the budget of %lld; the largest tensors "
            "at its peak: %s",
            (long long)t.peak_bytes, (long long)k->budget_bytes, t.top);
    win->problem = &k->fine;
    return ST_OK;
}

// ---- The result ----

static status set_numbers(struct planning *k) {
    struct model *m = k->m;
    const struct plan_report *r = k->out;
    const struct {
        const char *key;
        int64_t value;
    } entries[] = {
        {KEY_BUDGET, r->budget_bytes},
        {KEY_PEAK, r->peak_bytes},
        {KEY_PLAIN_PEAK, r->plain_peak_bytes},
        {KEY_FUSED_PEAK, r->fused_peak_bytes},
        {KEY_LIVENESS, r->liveness_bytes},
        {KEY_UNPLANNED_PEAK, r->baseline_bytes},
        {KEY_COST, r->cost},
        {KEY_BASE_COST, r->base_cost},
        {KEY_BOUND, r->bound},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (entries[i].value == BOUND_NONE)
            continue;
        char *text = str_format(k->c->arena, "%lld", (long long)entries[i].value);
        const char *kept = text ? pool_intern(m->pool, text) : NULL;
        if (!kept || !pairs_set(&m->metadata, m->arena, entries[i].key, kept))
            return diag_out_of_memory(k->c->diags);
    }
    return ST_OK;
}

static status finish(struct planning *k, const struct winner *win) {
    struct plan_report *out = k->out;
    struct trial t;
    struct model *step = model_copy(k->m, k->c->arena);
    status st = step ? ST_OK : diag_out_of_memory(k->c->diags);
    if (!st)
        st = plan_apply(k, k->m, win->problem, win->schedule.steps, k->c->arena, &t);
    if (st)
        return st;
    const struct schedule *s = &win->schedule;
    out->planned = true;
    out->step = step;
    out->outcome = s->outcome;
    out->budget_bytes = k->settings.dual ? t.peak_bytes : k->budget_bytes;
    out->peak_bytes = t.peak_bytes;
    out->plain_peak_bytes = t.plain_peak_bytes;
    out->fused_peak_bytes = t.fused_peak_bytes;
    out->liveness_bytes = t.liveness_bytes;
    out->cost = cost_of(k, &t);
    out->bound = s->free_order ? s->bound_any : s->bound;
    if (out->bound > out->cost) { // it was one for whole groups, and this plan does with parts
        out->bound = out->base_cost;
        out->outcome = OUTCOME_FEASIBLE;
    }
    out->min_bytes = k->settings.dual ? s->min_bytes : 0;
    out->n_recomputed = t.result.n_recomputed;
    out->n_nodes = win->problem->units.n;
    out->n_clusters = win->problem->clusters.n;
    for (size_t i = 0; i < k->m->graph->order.n; i++) {
        const struct node *n = graph_node(k->m->graph, k->m->graph->order.at[i]);
        const char *role = pairs_get(&n->metadata, KEY_ROLE);
        out->n_control += role && strcmp(role, "control") == 0;
    }
    out->is_interrupted = is_stopped(k);
    return set_numbers(k);
}

static status open_planning(struct planning *k) {
    struct pass_context *c = k->c;
    struct runtime_report unplanned;
    k->out->runtime = options_text(c->options, "runtime");
    runtime_find(k->out->runtime, &k->runtime); // the option has no other words
    k->hooks = k->watch ? k->watch->hooks : remat_hooks(c);
    status st = runtime_peak(k->m, k->runtime, c->arena, c->diags, &unplanned);
    if (!st)
        st = remat_settings_read(c->options, unplanned.peak_bytes, c->diags, &k->settings);
    if (!st)
        st = remat_make(k->m->graph, c, false, &k->coarse);
    if (st)
        return st;
    k->settings.solve.worker_path = c->worker_path;
    k->budget_bytes = k->settings.solve.budget_bytes;
    k->out->baseline_bytes = unplanned.peak_bytes;
    k->out->persistent_bytes = unplanned.persistent_bytes;
    k->out->base_cost = k->coarse.units.base_cost;
    return ST_OK;
}

status plan_memory(struct model *m, struct pass_context *c, const struct plan_watch *watch,
                   struct plan_report *out) {
    struct planning k = {.m = m, .c = c, .watch = watch, .out = out};
    struct winner win = {0};
    status st = open_planning(&k);
    if (!st && k.coarse.clusters.n == 0)
        return ST_OK;
    const char *given = options_text(c->options, "plan-in");
    if (!st)
        st = given ? take_given(&k, given, &win) : find_winner(&k, &win);
    return st ? st : finish(&k, &win);
}

status plan_lay_out(struct model *m, struct pass_context *c, struct plan_report *r) {
    status st = pass_run(&pass_layout, m, c);
    const char *arena_bytes = pairs_get(&m->metadata, KEY_ARENA);
    if (!st && arena_bytes)
        quantity_parse_bytes(arena_bytes, &r->arena_bytes);
    return st;
}
