// The baseline step and the options that make it: see step.h.
#include "passes/plan/step.h"

#include <assert.h>
#include <string.h>

#include "ir/keys.h"

// Several times: fold, because decompositions and unrolling make shape arithmetic, and gradients
// arithmetic of constants; simplify, because gradients transpose what was transposed; dce, because
// gradients that no parameter needs are built too. A training step is the first part and the
// second, divided as --shard says; with --eval, the first and the third; with --inference the last
// one alone, where operators stay whole that the runtime has.
static const struct pass *const step_passes[] = {
    &pass_eval_export, &pass_inline,    &pass_upgrade,   &pass_truncate,   &pass_head,
    &pass_shapes,      &pass_fold,      &pass_decompose, &pass_fold,       &pass_unroll,
    &pass_fold,        &pass_recognize, &pass_simplify,  &pass_dce,        &pass_loss,
    &pass_lora,        &pass_mixed,     &pass_grad,      &pass_optimizer,  &pass_expand,
    &pass_fold,        &pass_simplify,  &pass_dce,       &pass_names,      &pass_shard,
    &pass_evaluate,    &pass_expand,    &pass_fold,      &pass_simplify,   &pass_dce,
    &pass_inline,      &pass_upgrade,   &pass_truncate,  &pass_shapes,     &pass_inference,
    &pass_fold,        &pass_simplify,  &pass_dce,       &pass_overridable};

enum {
    N_FORWARD = 17,
    N_GRADIENTS = 8,
    N_EVALUATION = 5,
    N_INFERENCE = 9,
    AT_INFERENCE = N_FORWARD + N_GRADIENTS + N_EVALUATION,
    N_STEP_PASSES = sizeof step_passes / sizeof *step_passes
};

static_assert(AT_INFERENCE + N_INFERENCE == N_STEP_PASSES, "parts of step_passes");

static status make_part(struct model *m, struct pass_context *c, size_t first, size_t n) {
    return pass_run_all((struct pass_pipeline){step_passes + first, n}, m, c);
}

status step_make(struct model *m, struct pass_context *c) {
    if (pairs_get(&m->metadata, KEY_OPTIONS))
        return diag_error(c->diags, DIAG_USAGE, loc_file(m->path),
                          "this is a training step of mfc already; give the model that it was made "
                          "from");
    if (options_flag(c->options, "inference"))
        return make_part(m, c, AT_INFERENCE, N_INFERENCE);
    status st = make_part(m, c, 0, N_FORWARD);
    if (st)
        return st;
    return options_flag(c->options, "eval") ? make_part(m, c, N_FORWARD + N_GRADIENTS, N_EVALUATION)
                                            : make_part(m, c, N_FORWARD, N_GRADIENTS);
}

status step_make_costed(struct model *m, struct pass_context *c) {
    status st = step_make(m, c);
    return st ? st : pass_run_all(PASS_PIPELINE(&pass_names, &pass_costs), m, c);
}

static void add_value(struct str *out, const struct option_value *v) {
    for (size_t i = 0; i < v->list.n; i++)
        str_addf(out, "%s%s", i ? "," : "", v->list.at[i]);
    if (!v->list.n)
        str_add(out, v->text);
}

static bool is_given(const struct option_spec *s, const struct options *o) {
    return s->kind != OPTION_GROUP && options_given(o, s->name);
}

// The given options of one pass, each once however often the pass runs.
static void add_options(struct str *out, const struct pass *p, const struct options *o) {
    for (const struct option_spec *s = p->options; s && s->name; s++) {
        if (!is_given(s, o))
            continue;
        str_addf(out, "%s=", s->name);
        add_value(out, options_get(o, s->name));
        str_add_char(out, '\n');
    }
}

static status refuse_line_breaks(const struct pass *p, const struct options *o, struct diags *d) {
    for (const struct option_spec *s = p->options; s && s->name; s++)
        if (is_given(s, o) && strchr(options_get(o, s->name)->text, '\n'))
            return diag_error(d, DIAG_USAGE, loc_none(), "the value of --%s has a line break",
                              s->name);
    return ST_OK;
}

status step_record(struct model *m, const struct options *o, struct diags *d) {
    struct arena scratch = arena_make(m->arena->mem);
    struct str text = str_make(&scratch);
    status st = ST_OK;
    for (size_t i = 0; i < N_STEP_PASSES && !st; i++) {
        bool was_before = false;
        for (size_t k = 0; k < i; k++)
            was_before |= step_passes[k] == step_passes[i];
        st = refuse_line_breaks(step_passes[i], o, d);
        if (!was_before)
            add_options(&text, step_passes[i], o);
    }
    const char *kept = text.failed ? NULL : pool_intern(m->pool, str_text(&text));
    if (!st && (!kept || !pairs_set(&m->metadata, m->arena, KEY_OPTIONS, kept)))
        st = diag_out_of_memory(d);
    arena_free(&scratch);
    return st;
}

void step_forget(struct model *m) {
    size_t n = 0;
    for (size_t i = 0; i < m->metadata.n; i++)
        if (strcmp(m->metadata.at[i].key, KEY_OPTIONS) != 0)
            m->metadata.at[n++] = m->metadata.at[i];
    m->metadata.n = n;
}

// The only options that a plan may set: those of the passes that make the step. None of them names
// a file; a plan from a stranger must not choose what is read or written.
static bool shapes_step(const char *name) {
    for (size_t i = 0; i < N_STEP_PASSES; i++)
        for (const struct option_spec *s = step_passes[i]->options; s && s->name; s++)
            if (s->kind != OPTION_GROUP && s->kind != OPTION_SAME && strcmp(s->name, name) == 0)
                return true;
    return false;
}

static status recall_line(const struct model *plan, struct options *o, struct diags *d,
                          char *line) {
    char *value = strchr(line, '=');
    if (!value)
        return diag_error(d, DIAG_MALFORMED, loc_file(plan->path),
                          "the options of the step hold \"%s\", which is not name=value", line);
    *value++ = 0;
    if (!shapes_step(line))
        return diag_error(d, DIAG_MALFORMED, loc_file(plan->path),
                          "the plan sets the option --%s, which does not shape a training step; "
                          "%s is not written by mfc",
                          line, KEY_OPTIONS);
    if (options_given(o, line))
        return ST_OK;
    struct diags why = diags_make(d->arena);
    status st = options_set(o, &why, line, value);
    if (!st || st == ST_LIMIT)
        return st ? diag_out_of_memory(d) : ST_OK;
    return diag_error(d, DIAG_MALFORMED, loc_file(plan->path), "the options of the step: %s",
                      why.list.n ? why.list.at[0].text : "a value is wrong");
}

status step_recall(const struct model *plan, struct options *o, struct diags *d) {
    const char *text = pairs_get(&plan->metadata, KEY_OPTIONS);
    if (!text)
        return diag_error(d, DIAG_MALFORMED, loc_file(plan->path),
                          "not a plan of mfc: the metadata %s is missing; make a plan with mfc "
                          "MODEL -o PLAN.onnx",
                          KEY_OPTIONS);
    status st = ST_OK;
    while (*text && !st) {
        size_t n = strcspn(text, "\n");
        char *line = arena_alloc(o->arena, n + 1);
        if (!line)
            return diag_out_of_memory(d);
        memcpy(line, text, n);
        st = n ? recall_line(plan, o, d, line) : ST_OK;
        text += n + (text[n] != 0);
    }
    return st;
}
