// `mfc explain CODE`: what a diagnostic means and what to do, from diag.def.
#include <string.h>

#include "frontend/cli.h"

static status run(struct cli *c) {
    if (c->n_arguments == 0) {
        for (int code = 0; code < DIAG_COUNT_; code++)
            str_addf(&c->out, "%-20s exit code %d\n", diag_slug((enum diag_code)code),
                     (int)diag_status((enum diag_code)code));
        return ST_OK;
    }
    const char *slug = c->arguments[0];
    enum diag_code code;
    if (!diag_find(slug, &code))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "there is no diagnostic \"%s\"; `mfc explain` lists them all", slug);
    str_addf(&c->out, "%s (exit code %d)\n", slug, (int)diag_status(code));
    // Break the explanation into lines of at most 80 columns.
    size_t column = 0;
    for (const char *p = diag_explanation(code); *p;) {
        size_t n = strcspn(p, " ");
        if (column && column + 1 + n > 80) {
            str_add_char(&c->out, '\n');
            column = 0;
        } else if (column) {
            str_add_char(&c->out, ' ');
            column++;
        }
        str_add_n(&c->out, p, n);
        column += n;
        p += n + (p[n] == ' ');
    }
    str_add_char(&c->out, '\n');
    return ST_OK;
}

const struct command cmd_explain = {
    .name = "explain",
    .summary = "say what a diagnostic means and what to do about it",
    .arguments = "[CODE]",
    .description = "A message of mfc ends with its code in brackets, such as [malformed]. Without "
                   "a code, all of\nthem are listed.",
    .least = 0,
    .most = 1,
    .run = run,
};
