// Peaks of a model that is not planned: see inspect_peaks.h. The model for inference and its
// training step are made as they are written without a plan, each on a copy, and measured by the
// runtime model.
#include "frontend/tools/inspect/inspect_peaks.h"

#include <string.h>

#include "ir/copy.h"
#include "ir/keys.h"
#include "ir/runtime/runtime.h"
#include "passes/plan/plan.h"
#include "passes/plan/step.h"

#define MAX_NODES 20000 // of a model whose peaks are worth the time
#define SHOWN_TOP 3     // tensors of a peak

enum form { AS_IT_IS, FOR_INFERENCE, FOR_TRAINING };

static status make_form(struct model *m, struct pass_context *c, enum form form,
                        struct options *o) {
    if (form == AS_IT_IS)
        return pass_run_all(PASS_PIPELINE(&pass_shapes, &pass_costs), m, c);
    c->options = o;
    status st = form == FOR_INFERENCE ? options_set(o, c->diags, "inference", "true") : ST_OK;
    if (!st)
        st = step_make_costed(m, c); // with the workspace of kernels
    return st ? st : step_arrange(m, c);
}

static status measure(struct model *m, struct pass_context *c, struct arena *keep,
                      struct inspect_peak *out) {
    enum runtime runtime;
    struct runtime_report r;
    runtime_find(options_text(c->options, "runtime"), &runtime); // the option has no other values
    status st = runtime_peak(m, runtime, c->arena, c->diags, &r);
    if (st)
        return st;
    if (plan_counts_session(m->graph, c->options))
        runtime_count_session(&r);
    struct str top = str_make(keep);
    r.n_top = r.n_top < SHOWN_TOP ? r.n_top : SHOWN_TOP;
    runtime_print_top(&top, m, &r);
    out->n_bytes = runtime_default_peak(&r);
    out->top = str_text(&top);
    return top.failed ? diag_out_of_memory(c->diags) : ST_OK;
}

// Errors are those of the copy: they end up in out->why. Only lack of memory is passed on.
static status find_peak(const struct model *m, const struct pass_context *outer, enum form form,
                        struct inspect_peak *out) {
    struct arena scratch = arena_make(outer->arena->mem);
    struct diags own = diags_make(&scratch);
    struct pass_context c = {.arena = &scratch,
                             .diags = &own,
                             .options = outer->options,
                             .stop = outer->stop,
                             .start_ns = outer->start_ns};
    struct options o;
    struct model *copy = model_copy(m, &scratch);
    bool ok = copy && options_copy(outer->options, &scratch, &o);
    *out = (struct inspect_peak){.n_bytes = PLAN_FACTS_UNKNOWN};
    status st = ok ? make_form(copy, &c, form, &o) : ST_LIMIT;
    if (!st)
        st = measure(copy, &c, outer->arena, out);
    for (size_t i = 0; i < own.list.n && st && !out->why; i++)
        if (own.list.at[i].severity == DIAG_ERROR)
            out->why =
                arena_copy(outer->arena, own.list.at[i].text, strlen(own.list.at[i].text) + 1);
    bool ran_out = !ok || own.ran_out || (st && !out->why);
    arena_free(&scratch);
    return ran_out ? diag_out_of_memory(outer->diags) : ST_OK;
}

status inspect_peaks(const struct model *m, struct pass_context *c, struct inspect_peaks *out) {
    *out = (struct inspect_peaks){.runtime = options_text(c->options, "runtime"),
                                  .is_step = pairs_get(&m->metadata, KEY_OPTIONS),
                                  .plan = plan_facts_none(),
                                  .loss = pairs_get(&m->metadata, KEY_LOSS),
                                  .options = pairs_get(&m->metadata, KEY_OPTIONS)};
    out->itself.n_bytes = out->step.n_bytes = PLAN_FACTS_UNKNOWN;
    if (out->is_step) {
        struct diags ignored = diags_make(c->arena); // mfc verify reports what is wrong with them
        plan_facts_read(m, &out->plan, &ignored);
    }
    if (m->graph->order.n > MAX_NODES)
        return ST_OK;
    status st = find_peak(m, c, out->is_step ? AS_IT_IS : FOR_INFERENCE, &out->itself);
    return st || out->is_step ? st : find_peak(m, c, FOR_TRAINING, &out->step);
}

// ---- Text ----

static void print_bytes(struct str *out, const char *label, int64_t n_bytes) {
    if (!plan_facts_is_known(n_bytes))
        return;
    str_addf(out, "  %-14s ", label);
    str_add_bytes(out, n_bytes);
    str_add_char(out, '\n');
}

static void print_peak(struct str *out, const char *label, const struct inspect_peak *p) {
    if (!plan_facts_is_known(p->n_bytes) && !p->why)
        return;
    str_addf(out, "  %-14s ", label);
    if (p->why)
        str_add(out, "not known: ");
    else
        str_add_bytes(out, p->n_bytes);
    if (!p->why && *p->top)
        str_add(out, "; largest: ");
    str_add_visible(out, p->why ? p->why : p->top, false);
    str_add_char(out, '\n');
}

// Names and metadata of a file may hold anything, such as line breaks.
static void print_text(struct str *out, const char *label, const char *text) {
    if (!text)
        return;
    str_addf(out, "  %-14s ", label);
    str_add_visible(out, text, false);
    str_add_char(out, '\n');
}

static void print_count(struct str *out, const char *label, int64_t n) {
    if (plan_facts_is_known(n))
        str_addf(out, "  %-14s %lld\n", label, (long long)n);
}

static void print_plan(struct str *out, const struct plan_facts *f) {
    if (!plan_facts_is_known(f->peak_bytes))
        return;
    str_addf(out, "plan, as its metadata claim (mfc verify checks it)\n");
    print_text(out, "runtime", f->runtime);
    print_bytes(out, "budget", f->budget_bytes);
    print_bytes(out, "peak", f->peak_bytes);
    print_bytes(out, "baseline peak", f->baseline_bytes);
    print_bytes(out, "session", f->session_bytes);
    if (plan_facts_is_known(f->cost) && plan_facts_is_known(f->base_cost))
        str_addf(out, "  %-14s %.2f %%\n", "overhead", 100 * plan_facts_overhead(f));
    if (plan_facts_is_known(f->bound) && plan_facts_is_known(f->base_cost))
        str_addf(out, "  %-14s %.2f %%\n", "lower bound", 100 * plan_facts_min_overhead(f));
    print_count(out, "recomputed", f->n_recomputed);
    print_count(out, "control nodes", f->n_control);
}

// Lines of the record as one line.
static void print_options(struct str *out, const char *text) {
    struct str line = str_make(out->arena);
    for (const char *at = text; *at; at++)
        if (*at != '\n')
            str_add_char(&line, *at);
        else if (at[1])
            str_add(&line, ", ");
    print_text(out, "options", str_text(&line));
}

void inspect_peaks_print(struct str *out, const struct inspect_peaks *p) {
    bool any = plan_facts_is_known(p->itself.n_bytes) || p->itself.why ||
               plan_facts_is_known(p->step.n_bytes) || p->step.why;
    if (any)
        str_addf(out, "peak on runtime %s, without planning\n", p->runtime);
    print_peak(out, p->is_step ? "as it is" : "inference", &p->itself);
    print_peak(out, "training step", &p->step);
    if (!p->is_step)
        return;
    print_plan(out, &p->plan);
    str_add(out, "step of mfc\n");
    print_text(out, "loss", p->loss);
    if (p->options && *p->options)
        print_options(out, p->options);
}

// ---- JSON ----

static void json_peak(struct json_writer *w, const char *name, const struct inspect_peak *p) {
    json_write_line(w);
    json_write_object(w, name);
    json_write_int_if(w, "bytes", plan_facts_is_known(p->n_bytes), p->n_bytes);
    json_write_text(w, "why", p->why ? p->why : "");
    json_write_end(w);
}

void inspect_peaks_json(struct json_writer *w, const struct inspect_peaks *p) {
    json_peak(w, "peak", &p->itself);
    json_peak(w, "step_peak", &p->step);
}
