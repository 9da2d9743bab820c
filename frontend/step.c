// The unplanned step and the options that make it: see step.h.
#include "frontend/step.h"

#include <string.h>

#include "ir/keys.h"

const char *step_passes(void) {
    return "upgrade,shapes,fold,unroll,fold,dce,loss,grad,optimizer,dce";
}

static void add_value(struct str *out, const struct option_value *v) {
    for (size_t i = 0; i < v->list.n; i++)
        str_addf(out, "%s%s", i ? "," : "", v->list.at[i]);
    if (!v->list.n)
        str_add(out, v->text);
}

// The given options of one pass, each once however often the pass runs.
static void add_options(struct str *out, const struct pass *p, const struct options *o) {
    for (const struct option_spec *s = p->options; s && s->name; s++) {
        const struct option_value *v = options_get(o, s->name);
        if (!v->given)
            continue;
        str_addf(out, "%s=", s->name);
        add_value(out, v);
        str_add_char(out, '\n');
    }
}

status step_record(struct model *m, const struct options *o, struct diags *d) {
    struct arena scratch = arena_make(m->arena->mem);
    struct str text = str_make(&scratch);
    struct pipeline p;
    status st = pipeline_parse(&scratch, d, step_passes(), &p);
    for (size_t i = 0; i < p.n && !st; i++) {
        bool was_before = false;
        for (size_t k = 0; k < i; k++)
            was_before |= p.at[k] == p.at[i];
        for (const struct option_spec *s = p.at[i]->options; s && s->name && !st; s++)
            if (options_given(o, s->name) && strchr(options_get(o, s->name)->text, '\n'))
                st = diag_error(d, DIAG_USAGE, loc_none(), "the value of --%s has a line break",
                                s->name);
        if (!was_before)
            add_options(&text, p.at[i], o);
    }
    const char *kept = text.failed ? NULL : pool_intern(m->pool, str_text(&text));
    if (!st && (!kept || !pairs_set(&m->metadata, m->arena, KEY_OPTIONS, kept)))
        st = diag_no_room(d);
    arena_free(&scratch);
    return st;
}

static bool knows(const struct options *o, const char *name) {
    for (size_t i = 0; i < o->items.n; i++)
        if (strcmp(o->items.at[i].spec->name, name) == 0)
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
    if (knows(o, line) && options_given(o, line))
        return ST_OK;
    return options_set(o, d, line, value);
}

status step_recall(const struct model *plan, struct options *o, struct diags *d) {
    const char *text = pairs_get(&plan->metadata, KEY_OPTIONS);
    if (!text)
        return diag_error(d, DIAG_MALFORMED, loc_file(plan->path),
                          "is not a plan of mfc: it does not say how its step was made (%s)",
                          KEY_OPTIONS);
    status st = ST_OK;
    while (*text && !st) {
        size_t n = strcspn(text, "\n");
        char *line = arena_alloc(o->arena, n + 1);
        if (!line)
            return diag_no_room(d);
        memcpy(line, text, n);
        st = n ? recall_line(plan, o, d, line) : ST_OK;
        text += n + (text[n] != 0);
    }
    return st;
}
