// `mfc manual FORM`: the manual page, or the completions of a shell, for the build to install.
#include <string.h>

#include "frontend/cli/cli_manual.h"
#include "ir/base/file.h"

static status run(struct cli *c) {
    static const struct {
        const char *name;
        void (*print)(struct str *out);
    } forms[] = {{"man", cli_manual_page},
                 {"bash", cli_complete_bash},
                 {"zsh", cli_complete_zsh},
                 {"fish", cli_complete_fish}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(c->arguments[0], forms[i].name) == 0) {
            struct str text = str_make(&c->arena);
            forms[i].print(&text);
            return output_text(&c->arena, &c->diags, options_text(&c->options, "output"), &text);
        }
    return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                      "there is no form \"%s\"; there are man, bash, zsh and fish",
                      c->arguments[0]);
}

static const struct option_spec manual_options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", "-", 0, 0, "where it goes; - is stdout"}, {0}};

const struct command cmd_manual = {
    .name = "manual",
    .summary = "print the manual page (man), or completions (bash, zsh, fish)",
    .arguments = "FORM",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = manual_options,
    .run = run,
    .hidden = true,
};
