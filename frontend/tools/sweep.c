// The overhead curves of several methods: see sweep.h. Stages: select the methods; make the
// problem; compute one curve per method (solver/curve.h), baselines first; find the knee of the
// best curve.
#include "frontend/tools/sweep.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "passes/plan/plan.h"
#include "passes/plan/plan_bound.h"
#include "passes/plan/step.h"
#include "solver/curve.h"

static bool gives_schedules(const struct solve_method *m) {
    return strcmp(m->name, "any-order") != 0 && strcmp(m->name, "lp-bound") != 0;
}

static bool is_default(const struct solve_method *m) {
    return m->baseline || strcmp(m->name, "portfolio") == 0 || strcmp(m->name, "rounding") == 0;
}

static status bad_method(struct diags *d, const char *name) {
    struct arena scratch = arena_make(d->arena->mem);
    struct str known = str_make(&scratch);
    size_t n;
    const struct solve_method *m = solve_methods(&n);
    for (size_t i = 0; i < n; i++)
        if (gives_schedules(&m[i]))
            str_addf(&known, "%s%s", known.n ? ", " : "", m[i].name);
    status st = diag_error(d, DIAG_USAGE, loc_none(),
                           "no method \"%s\" computes schedules; methods that do: %s", name,
                           str_text(&known));
    arena_free(&scratch);
    return st;
}

status sweep_find_methods(const struct option_value *names, struct arena *a, struct diags *d,
                          struct sweep_methods *out) {
    size_t n_all;
    const struct solve_method *all = solve_methods(&n_all);
    bool *wanted = ARENA_ARRAY(a, bool, n_all);
    *out = (struct sweep_methods){.at = ARENA_ARRAY(a, const struct solve_method *, n_all)};
    if (!wanted || !out->at)
        return diag_out_of_memory(d);
    status st = ST_OK;
    for (size_t i = 0; i < n_all; i++)
        wanted[i] = !names->list.n && is_default(&all[i]);
    for (size_t k = 0; k < names->list.n; k++) {
        const struct solve_method *m = solve_method_find(names->list.at[k]);
        if (!m || !gives_schedules(m))
            st = bad_method(d, names->list.at[k]);
        else
            wanted[m - all] = true;
    }
    // Baselines first, the portfolio last: earlier schedules are initial solutions of later ones.
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < n_all; i++)
            if (wanted[i] && (all[i].baseline ? 0 : i ? 1 : 2) == round)
                out->at[out->n++] = &all[i];
    return st;
}

status sweep_problem(struct model *m, struct pass_context *c, struct remat *out) {
    status st = step_make_costed(m, c);
    if (!st)
        st = remat_make(m->graph, c, false, out);
    if (!st && out->clusters.n == 0)
        st = diag_error(c->diags, DIAG_UNSUPPORTED, loc_file(m->path),
                        "the step has no nodes to plan");
    return st;
}

bool sweep_counts_runtime(const struct options *o) {
    return strcmp(options_text(o, "count"), "runtime") == 0;
}

status sweep_measure(struct sweep *s, struct model *m, const struct remat *r,
                     struct pass_context *c) {
    status st = plan_measure_step(m, c, &s->runtime_bytes);
    for (size_t i = 0; i < s->n_lines && !st; i++) {
        struct sweep_line *line = &s->lines[i];
        const struct schedule *last = NULL;
        line->runtime_bytes = ARENA_ARRAY(c->arena, int64_t, s->n);
        if (!line->runtime_bytes)
            return diag_out_of_memory(c->diags);
        for (int32_t k = 0; k < s->n && !st; k++) {
            const struct schedule *now = &line->at[k];
            if (!sweep_has(now))
                continue;
            // Neighbouring budgets often share a schedule.
            if (last && last->peak_bytes == now->peak_bytes && last->cost == now->cost)
                line->runtime_bytes[k] = line->runtime_bytes[last - line->at];
            else
                st = plan_measure(m, r, now->steps, c, &line->runtime_bytes[k]);
            last = now;
        }
    }
    return st;
}

static void set_bound(struct schedule *s, const struct plan_bound *bound) {
    bool has = sweep_has(s), is_base = has && s->cost == s->base_cost;
    int64_t cost = is_base ? s->base_cost : bound->cost;
    s->bound = s->bound_any = cost != BOUND_NONE && has && cost > s->cost ? BOUND_NONE : cost;
    s->min_bytes = bound->min_bytes;
    if (has)
        s->outcome = s->bound == s->cost ? OUTCOME_OPTIMAL : OUTCOME_FEASIBLE;
    else if (s->outcome != OUTCOME_UNKNOWN || bound->min_bytes > s->budget_bytes)
        s->outcome = bound->min_bytes > s->budget_bytes ? OUTCOME_INFEASIBLE : OUTCOME_UNKNOWN;
}

status sweep_bound(struct sweep *s, const struct model *m, const struct remat *r,
                   struct pass_context *c) {
    struct plan_bounds b;
    status st = plan_bounds_make(m->graph, &r->units, false, c, &b);
    for (int32_t k = 0; k < s->n && !st; k++) {
        struct plan_bound bound;
        st = plan_bounds_within(&b, &(struct plan_limit){s->budgets[k], -1, 0}, &bound);
        for (size_t i = 0; i < s->n_lines && !st; i++)
            set_bound(&s->lines[i].at[k], &bound);
    }
    return st;
}

bool sweep_has(const struct schedule *s) {
    return s->outcome == OUTCOME_FEASIBLE || s->outcome == OUTCOME_OPTIMAL;
}

int64_t sweep_bytes(const struct sweep *s, size_t i, int32_t k) {
    const struct sweep_line *line = &s->lines[i];
    return line->runtime_bytes ? line->runtime_bytes[k] : line->at[k].peak_bytes;
}

double sweep_overhead(const struct schedule *s) {
    return s->base_cost > 0 ? (double)(s->cost - s->base_cost) / (double)s->base_cost : 0;
}

// ---- Running ----

struct sweep_state {
    const struct problem *problem;
    const struct sweep_hooks *hooks;
    struct arena *arena;
    struct diags *diags;
    struct sweep *sweep;
    const struct solve_method *method; // of the current line
    int32_t k, n;                      // searches begun; in total
    VEC(struct steps) initial;         // schedules found so far: initial solutions
};

static void on_begin(void *context, int64_t budget_bytes) {
    struct sweep_state *r = context;
    if (r->hooks->begin)
        r->hooks->begin(r->hooks->context, r->sweep, r->method, budget_bytes, r->k, r->n);
    r->k++;
}

// The solver has one context for all hooks, this run; progress is passed on to the caller's hook.
static void on_progress(void *context, const struct solve_event *e) {
    struct sweep_state *r = context;
    if (r->hooks->solve.progress)
        r->hooks->solve.progress(r->hooks->solve.context, e);
}

// Adds the schedules of a line, without the repetitions at neighbouring budgets.
static bool add_initial(struct sweep_state *r, const struct sweep_line *line) {
    const struct step *last = NULL;
    bool ok = true;
    for (int32_t k = 0; k < r->sweep->n && ok; k++) {
        if (!sweep_has(&line->at[k]) || line->at[k].steps.at == last)
            continue;
        last = line->at[k].steps.at;
        ok = VEC_PUSH(r->arena, &r->initial, line->at[k].steps);
    }
    return ok;
}

static status run_line(struct sweep_state *r, const struct solve_options *options,
                       struct sweep_line *line) {
    const struct sweep *s = r->sweep;
    struct solve_options o = *options;
    struct solve_hooks hooks = {
        .progress = on_progress, .context = r, .stop = r->hooks->solve.stop};
    o.method = line->method->name;
    o.seconds = o.seconds > 0 ? o.seconds * s->n : 0;
    o.work = o.work > 0 && o.work <= INT64_MAX / s->n ? o.work * s->n : o.work;
    if (!line->method->baseline && strcmp(o.method, "rounding") != 0) {
        o.initial = r->initial.at;
        o.n_initial = (int32_t)r->initial.n;
    }
    r->method = line->method;
    line->at = ARENA_ARRAY(r->arena, struct schedule, s->n);
    if (!line->at)
        return diag_out_of_memory(r->diags);
    return curve_sweep(&(struct curve_search){r->problem, &o, &hooks, on_begin, r->arena, r->diags},
                       s->budgets, s->n, line->at);
}

// The knee of the curve: the point farthest below the line from its first to its last point, with
// both axes scaled to 0..1 (after Satopaa et al. 2011, "Finding a Kneedle in a Haystack").
static void find_knee(struct sweep *s) {
    const struct schedule *at = s->lines[s->best].at;
    int32_t first = 0, last = s->n - 1;
    s->knee = SWEEP_NO_KNEE;
    while (first < s->n && !sweep_has(&at[first]))
        first++;
    while (last > first && !sweep_has(&at[last]))
        last--;
    if (last - first < 2 || sweep_overhead(&at[last]) <= sweep_overhead(&at[first]))
        return;
    double width = (double)(at[first].budget_bytes - at[last].budget_bytes);
    double height = sweep_overhead(&at[last]) - sweep_overhead(&at[first]), max = 1e-6;
    for (int32_t k = first + 1; k < last; k++) {
        if (!sweep_has(&at[k]))
            continue;
        double x = (double)(at[first].budget_bytes - at[k].budget_bytes) / width;
        double below = x - (sweep_overhead(&at[k]) - sweep_overhead(&at[first])) / height;
        if (below > max) {
            max = below;
            s->knee = k;
        }
    }
}

status sweep_run(const struct problem *p, const struct sweep_settings *settings, struct arena *a,
                 struct diags *d, struct sweep *s) {
    size_t n_methods = settings->methods.n;
    const struct stop *stop = settings->hooks.solve.stop;
    struct sweep_state r = {.problem = p,
                            .hooks = &settings->hooks,
                            .arena = a,
                            .diags = d,
                            .sweep = s,
                            .n = s->n * (int32_t)n_methods};
    status st = ST_OK;
    assert(s->n > 0 && s->budgets && n_methods > 0);
    s->persistent_bytes = p->persistent_bytes;
    s->base_cost = problem_base_cost(p);
    s->lines = ARENA_ARRAY(a, struct sweep_line, n_methods);
    if (!s->lines)
        return diag_out_of_memory(d);
    for (; s->n_lines < n_methods && !st; s->n_lines++) {
        struct sweep_line *line = &s->lines[s->n_lines];
        line->method = settings->methods.at[s->n_lines];
        st = run_line(&r, settings->options, line);
        if (!st && !add_initial(&r, line))
            st = diag_out_of_memory(d);
    }
    if (st)
        return st;
    s->is_interrupted = stop && stop_raised(stop);
    s->best = n_methods - 1;
    find_knee(s);
    return ST_OK;
}
