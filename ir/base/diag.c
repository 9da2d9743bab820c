// Diagnostics: see diag.h.
#include "ir/base/diag.h"

#include <string.h>

#include "ir/base/limits.h"

static const struct {
    const char *slug, *explanation;
    status st;
} codes[] = {
#define DIAG(name, slug, st, text) {slug, text, st},
#include "ir/base/diag.def"
#undef DIAG
};

struct diags diags_make(struct arena *a) {
    return (struct diags){.arena = a};
}

static const char *copy_text(struct arena *a, const char *text) {
    return text ? arena_copy(a, text, strlen(text) + 1) : NULL;
}

__attribute__((format(printf, 5, 0))) static void diag_add(struct diags *d,
                                                           enum diag_severity severity,
                                                           enum diag_code code, struct loc where,
                                                           const char *format, va_list args) {
    if (severity == DIAG_ERROR && d->n_errors++ == 0)
        d->worst = codes[code].st;
    if (d->list.n >= LIMIT_DIAGS) {
        d->n_dropped++;
        return;
    }
    struct str text = str_make(d->arena);
    str_addv(&text, format, args);
    where.file = copy_text(d->arena, where.file);
    where.path = copy_text(d->arena, where.path);
    struct diag item = {severity, code, where, str_text(&text)};
    if (text.failed || !VEC_PUSH(d->arena, &d->list, item))
        d->n_dropped++;
}

status diag_errorv(struct diags *d, enum diag_code code, struct loc where, const char *format,
                   va_list args) {
    diag_add(d, DIAG_ERROR, code, where, format, args);
    return codes[code].st;
}

status diag_error(struct diags *d, enum diag_code code, struct loc where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    status st = diag_errorv(d, code, where, format, args);
    va_end(args);
    return st;
}

void diag_warning(struct diags *d, enum diag_code code, struct loc where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diag_add(d, DIAG_WARNING, code, where, format, args);
    va_end(args);
}

void diag_note(struct diags *d, enum diag_code code, struct loc where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diag_add(d, DIAG_NOTE, code, where, format, args);
    va_end(args);
}

__attribute__((format(printf, 5, 6))) static void diag_addf(struct diags *d,
                                                            enum diag_severity severity,
                                                            enum diag_code code, struct loc where,
                                                            const char *format, ...) {
    va_list args;
    va_start(args, format);
    diag_add(d, severity, code, where, format, args);
    va_end(args);
}

void diags_take(struct diags *to, const struct diags *from) {
    for (size_t i = 0; i < from->list.n; i++) {
        const struct diag *x = &from->list.at[i];
        diag_addf(to, x->severity, x->code, x->where, "%s", x->text);
    }
    to->n_dropped += from->n_dropped;
    to->ran_out |= from->ran_out;
}

status diag_out_of_memory(struct diags *d) {
    d->ran_out = true;
    return diag_error(d, DIAG_LIMIT, loc_none(), "out of memory");
}

const char *diag_slug(enum diag_code code) {
    return codes[code].slug;
}

const char *diag_explanation(enum diag_code code) {
    return codes[code].explanation;
}

status diag_status(enum diag_code code) {
    return codes[code].st;
}

bool diag_find(const char *slug, enum diag_code *code) {
    for (size_t i = 0; i < DIAG_COUNT_; i++)
        if (strcmp(codes[i].slug, slug) == 0) {
            *code = (enum diag_code)i;
            return true;
        }
    return false;
}

void diag_print(struct str *out, const struct diag *d) {
    static const char *const names[] = {"note", "warning", "error"};
    str_addf(out, "%s: ", names[d->severity]);
    if (d->where.file) {
        str_add_visible(out, d->where.file, false);
        str_add(out, ": ");
    }
    if (d->where.offset >= 0)
        str_addf(out, "byte %lld: ", (long long)d->where.offset);
    if (d->where.line > 0)
        str_addf(out, "%lld:%lld: ", (long long)d->where.line, (long long)d->where.col);
    if (d->where.path) {
        str_add_visible(out, d->where.path, false);
        str_add(out, ": ");
    }
    str_add_visible(out, d->text, false);
    str_addf(out, " [%s]\n", diag_slug(d->code));
}
