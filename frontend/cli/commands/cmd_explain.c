// `mfc explain CODE`: what a diagnostic means and what to do, from diag.def.
#include <string.h>

#include "frontend/cli/cli.h"
#include "ir/base/file.h"
#include "ir/json/json_write.h"

static void print_one(struct str *out, enum diag_code code) {
    str_addf(out, "%s (exit code %d)\n", diag_slug(code), (int)diag_status(code));
    str_add_wrapped(out, diag_explanation(code), 0);
    str_add_char(out, '\n');
}

static void print_json(struct str *out, enum diag_code first, enum diag_code end) {
    struct json_writer w = json_write_document(out, JSON_WRITE_COMPACT, "mfc-diagnostics");
    json_write_array(&w, "diagnostics");
    for (enum diag_code code = first; code < end; code++) {
        json_write_line(&w);
        json_write_object(&w, NULL);
        json_write_text(&w, "code", diag_slug(code));
        json_write_int(&w, "exit_code", (int)diag_status(code));
        json_write_text(&w, "explanation", diag_explanation(code));
        json_write_end(&w);
    }
    json_write_end(&w);
    json_write_finish(&w);
}

static status run(struct cli *c) {
    const char *path = options_text(&c->options, "json");
    const char *slug = c->n_arguments ? c->arguments[0] : NULL;
    enum diag_code code = 0;
    if (slug && !diag_find(slug, &code))
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "there is no diagnostic \"%s\"; `mfc explain` lists them all", slug);
    if (path) {
        struct str text = str_make(&c->arena);
        print_json(&text, code, slug ? code + 1 : DIAG_COUNT_);
        return output_text(&c->arena, &c->diags, path, &text);
    }
    if (slug)
        print_one(&c->out, code);
    for (code = 0; !slug && code < DIAG_COUNT_; code++)
        str_addf(&c->out, "%-20s exit code %d\n", diag_slug(code), (int)diag_status(code));
    return ST_OK;
}

static const struct option_spec explain_options[] = {
    {"json", 0, OPTION_TEXT, "FILE", NULL, 0, 0, "write it as JSON instead; - is stdout"}, {0}};

const struct command cmd_explain = {
    .name = "explain",
    .summary = "explain a diagnostic and what to do about it",
    .arguments = "[CODE]",
    .description = "A message of mfc ends with its code in brackets, such as [malformed]. Without "
                   "a code, all codes are listed.",
    .min_arguments = 0,
    .max_arguments = 1,
    .options = explain_options,
    .run = run,
};
