// The table of passes, and pipelines of them: see passes/pass.h.
#include "passes/pass.h"

#include <assert.h>
#include <string.h>

#include "passes/fact_check.h"

const struct pass *const pass_table[] = {
#define PASS(name) &pass_##name,
#include "passes/passes.def"
#undef PASS
    NULL};

const struct pass *pass_find(const char *name) {
    for (const struct pass *const *p = pass_table; *p; p++)
        if (strcmp((*p)->name, name) == 0)
            return *p;
    return NULL;
}

status pass_add_options(struct options *o, struct diags *d) {
    for (const struct pass *const *p = pass_table; *p; p++) {
        status st = options_add(o, d, (*p)->options);
        if (st)
            return st;
    }
    return ST_OK;
}

void pass_list(struct str *out) {
    for (const struct pass *const *p = pass_table; *p; p++)
        str_addf(out, "  %-14s%s\n", (*p)->name, (*p)->summary);
}

void pass_progress(struct pass_context *c, const char *format, ...) {
    if (!c->progress)
        return;
    struct arena scratch = arena_make(c->arena->mem);
    struct str line = str_make(&scratch);
    va_list args;
    va_start(args, format);
    str_addv(&line, format, args);
    va_end(args);
    c->progress(c->progress_to, str_text(&line));
    arena_free(&scratch);
}

static status unknown_pass(struct diags *d, const char *name) {
    struct arena scratch = arena_make(d->arena->mem);
    struct str known = str_make(&scratch);
    for (const struct pass *const *p = pass_table; *p; p++)
        str_addf(&known, "%s%s", p == pass_table ? "" : ", ", (*p)->name);
    status st = diag_error(d, DIAG_USAGE, loc_none(), "there is no pass \"%s\"; there are: %s",
                           name, str_text(&known));
    arena_free(&scratch);
    return st;
}

status pass_pipeline_parse(struct arena *a, struct diags *d, const char *text,
                           struct pass_pipeline *out) {
    VEC(const struct pass *) list = {0};
    status st = ST_OK;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, ", \t\n");
        if (n) {
            char *name = arena_alloc(a, n + 1);
            if (!name)
                return diag_out_of_memory(d);
            const struct pass *found = pass_find(memcpy(name, p, n));
            if (!found)
                st = unknown_pass(d, name);
            else if (!VEC_PUSH(a, &list, found))
                return diag_out_of_memory(d);
        }
        p += n + (p[n] != 0);
    }
    *out = (struct pass_pipeline){list.at, list.n};
    return st;
}

// The facts after a pass, given those before it.
static unsigned facts_after(const struct pass *pass, unsigned facts) {
    return (facts & ~pass->breaks) | pass->gives;
}

static void add_givers(struct str *out, unsigned facts) {
    const char *separator = "";
    for (const struct pass *const *p = pass_table; *p; p++)
        if ((*p)->gives & facts) {
            str_addf(out, "%s%s", separator, (*p)->name);
            separator = ", ";
        }
}

static status missing_needs(const struct pass *pass, unsigned missing, struct diags *d) {
    struct arena scratch = arena_make(d->arena->mem);
    struct str what = str_make(&scratch), who = str_make(&scratch);
    fact_print(&what, missing);
    add_givers(&who, missing);
    status st =
        diag_error(d, DIAG_USAGE, loc_none(), "pass %s needs the facts %s: run %s before it",
                   pass->name, str_text(&what), str_text(&who));
    arena_free(&scratch);
    return st;
}

// A missing fact is reported once: behind the pass that lacks it, it is taken as given.
static status check_needs(const struct pass_pipeline *p, unsigned facts, struct diags *d) {
    status st = ST_OK;
    for (size_t i = 0; i < p->n; i++) {
        unsigned missing = p->at[i]->needs & ~facts;
        if (missing)
            st = missing_needs(p->at[i], missing, d);
        facts = facts_after(p->at[i], facts | missing);
    }
    return st;
}

static bool needs_hold(const struct pass_pipeline *p, unsigned facts) {
    bool ok = true;
    for (size_t i = 0; i < p->n; i++) {
        ok &= !(p->at[i]->needs & ~facts);
        facts = facts_after(p->at[i], facts);
    }
    return ok;
}

// A model that was sound before a pass and is not after it is the pass's fault, not the input's.
static status verify_after(const struct pass *pass, const struct model *m,
                           const struct pass_context *c) {
    struct arena scratch = arena_make(c->diags->arena->mem);
    struct diags found = diags_make(&scratch);
    status st = model_verify(m, &found);
    if (!st && c->checks_facts)
        st = fact_check(m, m->facts, DIAG_INTERNAL, &found);
    if (st == ST_LIMIT) // the verifier itself ran out of memory
        st = diag_out_of_memory(c->diags);
    else if (st)
        st =
            diag_error(c->diags, DIAG_INTERNAL, loc_none(),
                       "the model is not sound after pass %s; this is a defect of mfc", pass->name);
    for (size_t i = 0; i < found.list.n; i++)
        diag_note(c->diags, found.list.at[i].code, found.list.at[i].where, "%s",
                  found.list.at[i].text);
    arena_free(&scratch);
    return st;
}

// A rule that cannot read a constant treats it as unknown. When that is for an error of reading, or
// for want of memory, what the pass found is not about the model: the first such failure since
// `first` ends the pass, also when another error followed from it.
static status failure_since(const struct diags *d, size_t first, status st) {
    for (size_t i = first; i < d->list.n; i++) {
        status one = diag_status(d->list.at[i].code);
        if (d->list.at[i].severity == DIAG_ERROR && (one == ST_IO || one == ST_LIMIT))
            return one;
    }
    return st;
}

static status run_one(const struct pass *pass, struct model *m, const struct pass_context *c) {
    struct arena scratch = arena_make(c->arena->mem);
    struct pass_context own = *c;
    own.arena = &scratch;
    size_t n_before = c->diags->list.n;
    status st = pass->run(m, &own);
    st = failure_since(c->diags, n_before, st);
    arena_free(&scratch);
    if (st)
        return st;
    m->facts = facts_after(pass, m->facts);
    return verify_after(pass, m, c);
}

status pass_pipeline_run(const struct pass_pipeline *p, struct model *m, struct pass_context *c,
                         const struct pass_pipeline_hooks *hooks) {
    assert(c->arena && c->diags);
    status st = check_needs(p, m->facts, c->diags);
    if (!st && c->checks_facts)
        st = fact_check(m, m->facts, DIAG_MALFORMED, c->diags);
    for (size_t i = 0; i < p->n && !st; i++) {
        const struct pass *pass = p->at[i];
        if (hooks && hooks->before)
            st = hooks->before(hooks->to, pass, i, m);
        if (!st)
            st = run_one(pass, m, c);
        if (!st && hooks && hooks->after)
            st = hooks->after(hooks->to, pass, i, m);
    }
    return st;
}

status pass_run(const struct pass *pass, struct model *m, struct pass_context *c) {
    assert(needs_hold(&PASS_PIPELINE(pass), m->facts));
    return pass_pipeline_run(&PASS_PIPELINE(pass), m, c, NULL);
}

static status announce(void *to, const struct pass *p, size_t i, const struct model *m) {
    struct pass_context *c = to;
    (void)i;
    (void)m;
    if (c->stop && stop_raised(c->stop))
        return ST_INTERRUPTED;
    if (c->stop && stop_now(c->stop))
        return diag_error(c->diags, DIAG_NO_PLAN, loc_none(),
                          "the time is over before pass %s of the training step; give more by "
                          "--time",
                          p->name);
    pass_progress(c, "%s: %s", p->name, p->summary);
    return ST_OK;
}

static status run_announced(const struct pass_pipeline *p, struct model *m,
                            struct pass_context *c) {
    return pass_pipeline_run(p, m, c, &(struct pass_pipeline_hooks){.to = c, .before = announce});
}

status pass_run_all(struct pass_pipeline p, struct model *m, struct pass_context *c) {
    assert(needs_hold(&p, m->facts));
    return run_announced(&p, m, c);
}

status pass_run_text(const char *text, struct model *m, struct pass_context *c) {
    struct pass_pipeline p;
    status st = pass_pipeline_parse(c->arena, c->diags, text, &p);
    return st ? st : run_announced(&p, m, c);
}
