// The curves of several methods: see sweep.h. Stages: which methods; the problem; one curve for
// each method (solver/curve.h), simple methods first; the knee of the best one.
#include "frontend/tools/sweep.h"

#include <math.h>
#include <string.h>

#include "passes/plan/plan.h"
#include "passes/plan/step.h"
#include "solver/curve.h"

static bool gives_schedules(const struct solve_method *m) {
    return strcmp(m->name, "any-order") != 0 && strcmp(m->name, "lp-bound") != 0;
}

static bool is_preset(const struct solve_method *m) {
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
                           "there is no method \"%s\" that gives schedules; there are %s", name,
                           str_text(&known));
    arena_free(&scratch);
    return st;
}

status sweep_methods(const struct option_value *names, struct arena *a, struct diags *d,
                     const struct solve_method ***out, size_t *n) {
    size_t n_all;
    const struct solve_method *all = solve_methods(&n_all);
    bool *wanted = ARENA_ARRAY(a, bool, n_all);
    *out = ARENA_ARRAY(a, const struct solve_method *, n_all);
    *n = 0;
    if (!wanted || !*out)
        return diag_out_of_memory(d);
    status st = ST_OK;
    for (size_t i = 0; i < n_all; i++)
        wanted[i] = !names->list.n && is_preset(&all[i]);
    for (size_t k = 0; k < names->list.n; k++) {
        const struct solve_method *m = solve_method_find(names->list.at[k]);
        if (!m || !gives_schedules(m))
            st = bad_method(d, names->list.at[k]);
        else
            wanted[m - all] = true;
    }
    // Simple ones first, the portfolio last: each can begin with what was found before.
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < n_all; i++)
            if (wanted[i] && (all[i].baseline ? 0 : i ? 1 : 2) == round)
                (*out)[(*n)++] = &all[i];
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
    status st = ST_OK;
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
            // One schedule often serves several budgets.
            if (last && last->peak_bytes == now->peak_bytes && last->cost == now->cost)
                line->runtime_bytes[k] = line->runtime_bytes[last - line->at];
            else
                st = plan_measure(m, r, now->steps, c, &line->runtime_bytes[k]);
            last = now;
        }
    }
    return st;
}

bool sweep_has(const struct schedule *s) {
    return s->outcome == OUTCOME_FEASIBLE || s->outcome == OUTCOME_OPTIMAL;
}

double sweep_overhead(const struct schedule *s) {
    return s->base_cost > 0 ? (double)(s->cost - s->base_cost) / (double)s->base_cost : 0;
}

// ---- Running ----

struct running {
    const struct sweep_hooks *hooks;
    const struct sweep *sweep;
    const struct solve_method *method;
    int32_t k, n;
};

static void on_begin(void *context, int64_t budget_bytes) {
    struct running *r = context;
    if (r->hooks->begin)
        r->hooks->begin(r->hooks->context, r->sweep, r->method, budget_bytes, r->k, r->n);
    r->k++;
}

// The solver's hooks get one context: this run. What the watcher asked for is passed on.
static void on_progress(void *context, const struct solve_event *e) {
    struct running *r = context;
    if (r->hooks->solve.progress)
        r->hooks->solve.progress(r->hooks->solve.context, e);
}

struct starts {
    VEC(struct steps) list;
    bool failed;
};

// A schedule that serves several budgets in a row is one start.
static void add_starts(struct starts *s, const struct sweep_line *line, int32_t n,
                       struct arena *a) {
    const struct step *last = NULL;
    for (int32_t k = 0; k < n; k++) {
        if (!sweep_has(&line->at[k]) || line->at[k].steps.at == last)
            continue;
        last = line->at[k].steps.at;
        s->failed |= !VEC_PUSH(a, &s->list, line->at[k].steps);
    }
}

static status run_line(const struct problem *p, const struct solve_options *options,
                       const struct starts *starts, struct running *r, struct arena *a,
                       struct diags *d, struct sweep *s, struct sweep_line *line) {
    struct solve_options o = *options;
    struct solve_hooks hooks = {
        .progress = on_progress, .context = r, .stop = r->hooks->solve.stop};
    o.method = line->method->name;
    o.seconds = o.seconds > 0 ? o.seconds * s->n : 0;
    o.work = o.work > 0 && o.work <= INT64_MAX / s->n ? o.work * s->n : o.work;
    if (!line->method->baseline && strcmp(o.method, "rounding") != 0) {
        o.starts = starts->list.at;
        o.n_initial = (int32_t)starts->list.n;
    }
    r->method = line->method;
    line->at = ARENA_ARRAY(a, struct schedule, s->n);
    if (!line->at)
        return diag_out_of_memory(d);
    return curve_sweep(p, &o, &hooks, on_begin, s->budgets, s->n, a, d, line->at);
}

// Where the curve bends most: the point farthest below the line from its first to its last point,
// both axes taken as 0 to 1 (the idea of Satopaa et al., "Finding a Kneedle in a Haystack").
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
    double height = sweep_overhead(&at[last]) - sweep_overhead(&at[first]), most = 1e-6;
    for (int32_t k = first + 1; k < last; k++) {
        if (!sweep_has(&at[k]))
            continue;
        double x = (double)(at[first].budget_bytes - at[k].budget_bytes) / width;
        double below = x - (sweep_overhead(&at[k]) - sweep_overhead(&at[first])) / height;
        if (below > most) {
            most = below;
            s->knee = k;
        }
    }
}

status sweep_run(const struct problem *p, const struct solve_options *options,
                 const struct solve_method *const *methods, size_t n_methods,
                 const struct sweep_hooks *hooks, struct arena *a, struct diags *d,
                 struct sweep *s) {
    struct starts starts = {0};
    struct running r = {.hooks = hooks, .sweep = s, .n = s->n * (int32_t)n_methods};
    status st = ST_OK;
    s->persistent_bytes = p->persistent_bytes;
    s->base_cost = problem_base_cost(p);
    s->lines = ARENA_ARRAY(a, struct sweep_line, n_methods);
    if (!s->lines)
        return diag_out_of_memory(d);
    for (; s->n_lines < n_methods && !st; s->n_lines++) {
        struct sweep_line *line = &s->lines[s->n_lines];
        line->method = methods[s->n_lines];
        st = run_line(p, options, &starts, &r, a, d, s, line);
        if (!st)
            add_starts(&starts, line, s->n, a);
        if (starts.failed)
            st = diag_out_of_memory(d);
    }
    if (st)
        return st;
    s->is_interrupted = hooks->solve.stop && stop_raised(hooks->solve.stop);
    s->best = n_methods - 1;
    find_knee(s);
    return ST_OK;
}
