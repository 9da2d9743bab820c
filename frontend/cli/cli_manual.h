// The manual page and the completions of shells, from the tables of commands and options. The build
// runs them through `mfc manual` (frontend/cli/commands/cmd_manual.c) and installs what they print.
#pragma once

#include "frontend/cli/cli.h"

// Calls `visit` for every option of a table that the help shows.
void cli_each_option(const struct option_spec *table,
                     void (*visit)(struct str *out, const struct option_spec *s), struct str *out);

// Every option that a command takes: its own, those of passes, and the common ones.
void cli_each_option_of(const struct command *c,
                        void (*visit)(struct str *out, const struct option_spec *s),
                        struct str *out);

// Whether the argument of an option is a file, or a folder.
bool cli_option_names_file(const struct option_spec *s);

void cli_manual_page(struct str *out); // for man: roff
void cli_complete_bash(struct str *out);
void cli_complete_zsh(struct str *out);
void cli_complete_fish(struct str *out);
