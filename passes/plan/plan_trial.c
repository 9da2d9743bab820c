// A trial: the schedule is applied to the step and rewritten, and the runtime model measures it.
#include "ir/copy.h"
#include "passes/plan/plan_inner.h"
#include "passes/rewrite/wrap.h"

static status measure(struct planning *k, const struct model *m, struct arena *a,
                      struct trial *out) {
    struct runtime_report report;
    struct storage s;
    struct liveness l;
    const struct graph *g = m->graph;
    status st = runtime_peak(m, k->runtime, a, k->c->diags, &report);
    if (!st)
        st = storage_of(g, a, k->c->diags, &s);
    if (!st)
        st = liveness_of(g, &s, (struct node_list){g->order.at, g->order.n}, a, k->c->diags, &l);
    if (st)
        return st;
    if (k->counts_session)
        runtime_count_session(&report);
    struct str top = str_make(k->c->arena);
    runtime_print_top(&top, m, &report);
    out->top = str_text(&top);
    out->peak_bytes = report.peak_bytes;
    out->plain_peak_bytes = report.plain_peak_bytes;
    out->fused_peak_bytes = report.fused_peak_bytes;
    out->liveness_bytes = l.peak_bytes + (k->counts_session ? report.session_bytes : 0);
    return ST_OK;
}

status plan_apply(struct planning *k, struct model *m, const struct remat *r, struct steps steps,
                  struct remat_result *out) {
    struct pass_context c = *k->c;
    struct arena scratch = arena_make(k->c->arena->mem);
    status st = remat_apply(m->graph, r, steps, &scratch, k->c->diags, out);
    arena_free(&scratch);
    if (k->infers)
        c.options = k->forms[k->form];
    if (!st)
        st = pass_run(&pass_rewrite, m, &c);
    // In a branch ONNX Runtime makes no memory patterns, which would hold the step a second time.
    m->is_wrapped = k->runtime == RUNTIME_ORT && wrap_is_possible(m);
    return st;
}

// Whether control nodes for the arena may be worth their cost.
static bool needs_steering(const struct planning *k, const struct model *m, const struct trial *t) {
    int64_t budget = k->budget_bytes;
    return k->steers && m->is_wrapped && t->liveness_bytes < t->peak_bytes &&
           (k->settings.dual || k->steers_all ||
            (t->peak_bytes > budget && t->liveness_bytes <= budget));
}

static status steer(struct planning *k, struct model *m, struct arena *a, struct trial *out) {
    struct stop until = {.deadline_ns = k->end_ns, .parent = k->c->stop};
    struct pass_context c = *k->c;
    struct steer_result r;
    c.stop = &until;
    c.arena = a;
    status st = steer_model(m, &c, &r);
    out->recipe = r.recipe;
    return st || !r.n_nodes ? st : measure(k, m, a, out);
}

static status try_form(struct planning *k, const struct remat *r, struct steps steps,
                       struct trial *out) {
    struct arena scratch = arena_make(k->c->arena->mem);
    struct model *copy = model_copy(k->m, &scratch);
    status st =
        copy ? plan_apply(k, copy, r, steps, &out->result) : diag_out_of_memory(k->c->diags);
    out->form = k->form;
    if (!st)
        st = measure(k, copy, &scratch, out);
    out->recipe = (struct steer_recipe){0};
    struct trial plain = *out;
    if (!st && needs_steering(k, copy, out))
        st = steer(k, copy, &scratch, out);
    if (!st && out->peak_bytes > plain.peak_bytes) // the control nodes take more than they save
        *out = plain;
    arena_free(&scratch);
    return st;
}

status plan_try(struct planning *k, const struct remat *r, struct steps steps, struct trial *out) {
    struct trial other;
    k->form = 0;
    status st = try_form(k, r, steps, out);
    if (st || !k->infers)
        return st;
    k->form = 1;
    st = try_form(k, r, steps, &other);
    if (!st && other.peak_bytes < out->peak_bytes)
        *out = other;
    k->form = out->form;
    return st;
}

int64_t plan_cost(const struct planning *k, const struct trial *t) {
    return k->out->base_cost + t->result.recompute_cost;
}

status plan_measure(struct model *step, const struct remat *r, struct steps steps,
                    struct pass_context *c, int64_t *peak_bytes) {
    struct plan_facts unread = {0};
    struct pass_context silent = *c;
    struct planning k = {.m = step,
                         .c = &silent,
                         .out = &unread,
                         .counts_session = plan_counts_session(step->graph, c->options)};
    struct trial t = {0};
    silent.progress = NULL;
    runtime_find(options_text(c->options, "runtime"), &k.runtime); // the option has no other values
    status st = plan_try(&k, r, steps, &t);
    *peak_bytes = t.peak_bytes;
    return st;
}

status plan_baseline_run(const struct model *step, enum runtime r, struct pass_context *c,
                         struct arena *a, struct runtime_report *out) {
    struct model *arranged = model_copy(step, a);
    status st = arranged ? arrange_for(arranged, r, c) : diag_out_of_memory(c->diags);
    return st ? st : runtime_peak(arranged, r, a, c->diags, out);
}

status plan_measure_step(const struct model *step, struct pass_context *c, int64_t *peak_bytes) {
    enum runtime runtime;
    struct runtime_report r = {0};
    runtime_find(options_text(c->options, "runtime"), &runtime); // the option has no other values
    status st = plan_baseline_run(step, runtime, c, c->arena, &r);
    if (!st && plan_counts_session(step->graph, c->options))
        runtime_count_session(&r);
    *peak_bytes = runtime_default_peak(&r);
    return st;
}

int64_t plan_end_ns(const struct pass_context *c, double seconds) {
    int64_t start_ns = c->start_ns ? c->start_ns : stop_clock_ns();
    return seconds > 0 && seconds < 1e9 ? start_ns + (int64_t)(seconds * 1e9) : STOP_NEVER;
}
