// From the baseline step to a plan for one device: the search (plan_search.c) or a given schedule,
// applied to the step, with its numbers. The promise is about the peak of the runtime model.
#include <string.h>

#include "ir/copy.h"
#include "passes/plan/plan_parts.h"

// What is left after the first search, in measurements of the step: a plan has more nodes, and is
// measured, applied, placed, checked and written.
#define FINISH_MEASURES 8

// --time and a grace, as for the training step: a tenth and two seconds.
#define GRACE_PART 10
#define GRACE_NS   ((int64_t)2000000000)

// --plan-in: the schedule of a file.
static status take_given(struct planning *k, const char *path, struct plan_incumbent *best) {
    struct trial *t = &best->trial;
    struct schedule *s = &best->schedule;
    *s = (struct schedule){
        .outcome = OUTCOME_FEASIBLE, .bound = BOUND_NONE, .bound_any = BOUND_NONE};
    status st = remat_make(k->m->graph, k->c, true, &k->fine);
    if (!st)
        st = remat_read(k->m->graph, &k->fine, path, k->c->arena, k->c->diags, &s->steps);
    if (!st)
        st = plan_try(k, &k->fine, s->steps, t);
    if (st)
        return st;
    if (!k->settings.dual && t->peak_bytes > k->budget_bytes)
        return diag_error(
            k->c->diags, DIAG_NO_PLAN, loc_file(path),
            "this plan needs %lld bytes, over the budget of %lld; the largest tensors "
            "at its peak: %s",
            (long long)t->peak_bytes, (long long)k->budget_bytes, t->top);
    best->problem = &k->fine;
    return ST_OK;
}

// The incumbent becomes the plan, in the model itself.
static status finish(struct planning *k, const struct plan_incumbent *best) {
    struct plan_facts *out = k->out;
    struct remat_result applied;
    struct model *step = model_copy(k->m, k->c->arena);
    status st = step ? ST_OK : diag_out_of_memory(k->c->diags);
    if (!st && k->is_pass)
        return remat_apply(k->m->graph, best->problem, best->schedule.steps, k->c->arena,
                           k->c->diags, &applied);
    k->form = best->trial.form;
    if (!st)
        st = plan_apply(k, k->m, best->problem, best->schedule.steps, &applied);
    if (!st)
        st = steer_repeat(k->m, k->c, best->trial.recipe);
    if (st)
        return st;
    out->planned = true;
    out->step = step;
    out->budget_bytes = k->settings.dual ? PLAN_FACTS_UNKNOWN : k->budget_bytes;
    out->max_overhead = k->settings.dual ? k->settings.overhead : 0;
    out->n_clusters = best->problem->clusters.n;
    out->is_interrupted = plan_is_stopped(k);
    return plan_verdict_report(k, &best->trial);
}

// The options of plans of both forms, unless the user has chosen one.
static status open_forms(struct planning *k) {
    static const char *const shapes[] = {"hidden", "known"};
    const struct options *given = k->c->options;
    k->infers = options_flag(given, "inference") && !options_given(given, "runtime-shapes");
    for (int i = 0; i < 2 && k->infers; i++) {
        struct options *o = ARENA_NEW(k->c->arena, struct options);
        if (!o || !options_copy(given, k->c->arena, o))
            return diag_out_of_memory(k->c->diags);
        status st = options_set(o, k->c->diags, "runtime-shapes", shapes[i]);
        if (st)
            return st;
        k->forms[i] = o;
    }
    return ST_OK;
}

// Whether a plan can be made in the time that the user gave; after the first search it is too late
// to say so.
static status check_time(struct planning *k) {
    int64_t now_ns = stop_clock_ns(), given_ns = k->end_ns - k->c->start_ns;
    bool is_limited = options_given(k->c->options, "time") && k->end_ns != STOP_NEVER &&
                      k->c->start_ns && k->time_share <= 0;
    if (!is_limited || now_ns + k->finish_ns <= k->end_ns + given_ns / GRACE_PART + GRACE_NS)
        return ST_OK;
    k->is_late = true;
    return diag_error(k->c->diags, DIAG_NO_PLAN, loc_none(),
                      "the training step took %.0f s, and a plan of it takes about %.0f s more; "
                      "give both by --time",
                      (double)(now_ns - k->c->start_ns) * 1e-9, (double)k->finish_ns * 1e-9);
}

static status open_planning(struct planning *k) {
    struct pass_context *c = k->c;
    struct runtime_report baseline;
    k->out->runtime = options_text(c->options, "runtime");
    runtime_find(k->out->runtime, &k->runtime); // the option has no other values
    if (!k->is_divided)                         // then it is as for the undivided step
        k->counts_session = plan_counts_session(k->m->graph, c->options);
    k->out->session_is_apart = !k->counts_session;
    k->steers = k->runtime == RUNTIME_ORT && !k->is_pass &&
                strcmp(options_text(c->options, "steer"), "on") == 0;
    k->hooks = k->watch ? k->watch->hooks : remat_hooks(c);
    struct arena scratch = arena_make(c->arena->mem);
    int64_t start_ns = stop_clock_ns();
    status st = plan_baseline_run(k->m, k->runtime, c, &scratch, &baseline);
    k->finish_ns = FINISH_MEASURES * (stop_clock_ns() - start_ns);
    arena_free(&scratch);
    if (!st && k->counts_session)
        runtime_count_session(&baseline);
    k->session_bytes = !st && k->counts_session ? baseline.session_bytes : 0;
    k->out->baseline_bytes = runtime_default_peak(&baseline);
    k->itself_bytes = st ? 0 : baseline.peak_bytes;
    if (!st)
        st = open_forms(k);
    if (!st)
        st = remat_make(k->m->graph, c, false, &k->coarse);
    if (!st)
        st = remat_settings_read(c->options, &k->coarse, k->out->baseline_bytes, c->diags,
                                 &k->settings);
    if (st)
        return st;
    k->settings.solve.worker_path = c->worker_path;
    if (k->is_divided) // a share is of the undivided step
        k->settings.solve.budget_bytes = k->budget_bytes;
    k->budget_bytes = k->settings.solve.budget_bytes;
    k->end_ns = plan_end_ns(c, k->settings.solve.seconds);
    if (k->time_share > 0 && k->end_ns != STOP_NEVER) {
        k->settings.solve.seconds *= k->time_share;
        k->end_ns = stop_clock_ns() + (int64_t)(k->settings.solve.seconds * 1e9);
    }
    k->out->base_cost = k->coarse.units.base_cost;
    st = check_time(k);
    if (st)
        return st;
    st = plan_bounds_make(k->m->graph, &k->coarse.units, k->counts_session, c, &k->bounds);
    k->floor_bytes =
        !st && k->bounds.is_known ? problem_floor(&k->bounds.relaxed.problem, NULL) : 0;
    return st;
}

static bool is_hopeless(const struct planning *k) {
    return k->is_hasty && !k->settings.dual && k->floor_bytes > k->budget_bytes;
}

status plan_one_device(struct planning *k) {
    struct plan_incumbent best = {0};
    status st = open_planning(k);
    if (!st && is_hopeless(k))
        return plan_verdict_refuse(k, &(struct trial){.peak_bytes = INT64_MAX});
    if (!st && k->coarse.clusters.n == 0)
        return ST_OK;
    bool infers = options_flag(k->c->options, "inference");
    if (!st && infers && !k->settings.dual && k->itself_bytes <= k->budget_bytes)
        return ST_OK;
    const char *given = options_text(k->c->options, "plan-in");
    if (!st)
        st = given ? take_given(k, given, &best) : plan_search(k, &best);
    // A model has no backward pass that must wait for its forward pass: no plan may be better.
    bool is_better = !infers || given || best.trial.peak_bytes < k->itself_bytes;
    return st || !is_better ? st : finish(k, &best);
}

status plan_memory(struct model *m, struct pass_context *c, const struct plan_watch *watch,
                   struct plan_facts *out) {
    bool may_divide = plan_parts_are_allowed(c->options);
    struct diags said = diags_make(c->arena);
    struct pass_context own = *c;
    struct planning k = {
        .m = m, .c = may_divide ? &own : c, .watch = watch, .out = out, .is_hasty = may_divide};
    own.diags = &said;
    status st = plan_one_device(&k);
    if (may_divide && !k.is_late && (st == ST_NO_PLAN || st == ST_INFEASIBLE))
        return plan_parts(&k, &said, c);
    if (may_divide)
        diags_take(c->diags, &said);
    return st;
}

// The same as a pass, which leaves the control nodes to the pass that follows.
static status run(struct model *m, struct pass_context *c) {
    struct plan_facts unused = {0};
    struct planning k = {.m = m, .c = c, .out = &unused, .is_pass = true};
    return remat_is_off(c->options) ? ST_OK : plan_one_device(&k);
}

const struct pass pass_remat = {
    .name = "remat",
    .summary = "plan what is kept and what is recomputed, within a budget",
    .needs = FACT_TOPO | FACT_SHAPES,
    .options = remat_options,
    .run = run,
};
