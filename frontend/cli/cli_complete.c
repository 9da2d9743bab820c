// Completions for bash, zsh and fish: commands, options, the words of a choice, files. The first
// argument decides the command; without one it is `plan`.
#include <string.h>

#include "frontend/cli/cli_manual.h"

// Text inside single quotes: bash, zsh and fish end the quotes, add an escaped one, and go on.
static void add_quoted(struct str *out, const char *text) {
    for (; *text; text++)
        if (*text == '\'')
            str_add(out, "'\\''");
        else
            str_add_char(out, *text);
}

// The words of a choice "a|b|c", with blanks between them.
static void add_words(struct str *out, const char *choices) {
    for (; *choices; choices++)
        str_add_char(out, *choices == '|' ? ' ' : *choices);
}

// Calls `visit` for each command that the help shows.
static void each_command(void (*visit)(struct str *out, const struct command *c), struct str *out) {
    for (const struct command *const *c = cli_commands; *c; c++)
        if (!(*c)->hidden)
            visit(out, *c);
}

// ---- bash ----

static void bash_name(struct str *out, const struct command *c) {
    str_addf(out, " %s", c->name);
}

static void bash_option(struct str *out, const struct option_spec *s) {
    str_addf(out, " --%s%s", s->name, s->argument ? "=" : "");
    if (s->letter)
        str_addf(out, " -%c", s->letter);
}

static void bash_options(struct str *out, const struct command *c) {
    str_addf(out, "    %s) options='", c->name);
    cli_each_option_of(c, bash_option, out);
    str_add(out, "' ;;\n");
}

static void bash_choice(struct str *out, const struct option_spec *s) {
    if (s->kind != OPTION_CHOICE)
        return;
    str_addf(out, "    *:--%s) words='", s->name);
    add_words(out, s->argument);
    str_add(out, "' ;;\n");
}

// Choices of a command are told apart from those of the same name in others.
static void bash_choices(struct str *out, const struct command *c) {
    struct str rows = str_make(out->arena);
    cli_each_option_of(c, bash_choice, &rows);
    for (const char *p = str_text(&rows); *p; p++)
        if (*p == '*')
            str_add(out, c->name);
        else
            str_add_char(out, *p);
}

void cli_complete_bash(struct str *out) {
    str_add(out, "# Completion of mfc for bash, made by `mfc manual bash`.\n"
                 "_mfc() {\n"
                 "  local commands='");
    each_command(bash_name, out);
    str_add(out, " help'\n"
                 "  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}\n"
                 "  local command=plan options= words= word\n"
                 "  for word in $commands; do\n"
                 "    test \"${COMP_WORDS[1]}\" = \"$word\" && command=$word\n"
                 "  done\n"
                 "  # --name=value is three words for bash.\n"
                 "  if test \"$cur\" = =; then\n"
                 "    cur=\n"
                 "  elif test \"$option\" = =; then\n"
                 "    option=${COMP_WORDS[COMP_CWORD - 2]}\n"
                 "  fi\n"
                 "  case $command in\n");
    each_command(bash_options, out);
    str_add(out, "  esac\n"
                 "  case $command:$option in\n");
    each_command(bash_choices, out);
    str_add(out,
            "  esac\n"
            "  if test -n \"$words\"; then\n"
            "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
            "  elif [[ $cur == -* ]]; then\n"
            "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
            "    [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
            "  else\n"
            "    test \"$COMP_CWORD\" = 1 && COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n"
            "    compopt -o default 2>/dev/null\n"
            "  fi\n"
            "  return 0\n"
            "}\n"
            "complete -F _mfc mfc\n");
}

// ---- zsh ----

// The text of a zsh specification: brackets and colons have a meaning there.
static void zsh_text(struct str *out, const char *text) {
    for (; *text; text++) {
        char one[] = {*text, 0};
        if (strchr("[]:\\", *text))
            str_add_char(out, '\\');
        add_quoted(out, one);
    }
}

static void zsh_option(struct str *out, const struct option_spec *s) {
    if (s->letter)
        str_addf(out, "    '(-%c --%s)'{-%c%s,--%s%s}'", s->letter, s->name, s->letter,
                 s->argument ? "+" : "", s->name, s->argument ? "=" : "");
    else
        str_addf(out, "    '*--%s%s", s->name, s->argument ? "=" : "");
    str_add_char(out, '[');
    zsh_text(out, s->help);
    str_add_char(out, ']');
    if (s->argument) {
        str_add_char(out, ':');
        zsh_text(out, s->kind == OPTION_CHOICE ? s->name : s->argument);
        str_add_char(out, ':');
        if (s->kind == OPTION_CHOICE) {
            str_add_char(out, '(');
            add_words(out, s->argument);
            str_add_char(out, ')');
        } else if (cli_option_names_file(s)) {
            str_add(out, "_files");
        }
    }
    str_add(out, "' \\\n");
}

static void zsh_options(struct str *out, const struct command *c) {
    str_addf(out, "  %s) _arguments \\\n", c->name);
    cli_each_option_of(c, zsh_option, out);
    str_add(out, "    '*:file:_files' ;;\n");
}

static void zsh_name(struct str *out, const struct command *c) {
    str_addf(out, "    '%s:", c->name);
    add_quoted(out, c->summary);
    str_add(out, "'\n");
}

void cli_complete_zsh(struct str *out) {
    str_add(out, "#compdef mfc\n"
                 "# Completion of mfc for zsh, made by `mfc manual zsh`.\n"
                 "local -a commands\n"
                 "commands=(\n");
    each_command(zsh_name, out);
    str_add(out, ")\n"
                 "if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
                 "  _describe command commands\n"
                 "  _files\n"
                 "  return\n"
                 "fi\n"
                 "local command=plan\n"
                 "if (( ${commands[(I)${words[2]}:*]} )); then\n"
                 "  command=$words[2]\n"
                 "  words=(\"${(@)words[2,-1]}\")\n"
                 "  (( CURRENT-- ))\n"
                 "fi\n"
                 "case $command in\n");
    each_command(zsh_options, out);
    str_add(out, "esac\n");
}

// ---- fish ----

static void fish_option(struct str *out, const struct option_spec *s) {
    str_add(out, "@ ");
    if (s->letter)
        str_addf(out, "-s %c ", s->letter);
    str_addf(out, "-l %s ", s->name);
    if (s->kind == OPTION_CHOICE) {
        str_add(out, "-x -a '");
        add_words(out, s->argument);
        str_add(out, "' ");
    } else if (s->argument) {
        str_add(out, cli_option_names_file(s) ? "-r -F " : "-x ");
    }
    str_add(out, "-d '");
    add_quoted(out, s->help);
    str_add(out, "'\n");
}

static void fish_options(struct str *out, const struct command *c) {
    struct str rows = str_make(out->arena);
    cli_each_option_of(c, fish_option, &rows);
    for (const char *p = str_text(&rows), *end; (end = strchr(p, '\n')); p = end + 1) {
        str_addf(out, "complete -c mfc -n '__mfc_is %s'", c->name);
        str_add_n(out, p + 1, (size_t)(end - p));
    }
}

static void fish_name(struct str *out, const struct command *c) {
    str_addf(out, "complete -c mfc -n __fish_use_subcommand -a %s -d '", c->name);
    add_quoted(out, c->summary);
    str_add(out, "'\n");
}

void cli_complete_fish(struct str *out) {
    str_add(out, "# Completion of mfc for fish, made by `mfc manual fish`.\n"
                 "set -g __mfc_commands");
    each_command(bash_name, out);
    str_add(out, "\n"
                 "function __mfc_is\n"
                 "  set -l words (commandline -opc)\n"
                 "  if contains -- \"$words[2]\" $__mfc_commands\n"
                 "    test \"$words[2]\" = $argv[1]\n"
                 "  else\n"
                 "    test plan = $argv[1]\n"
                 "  end\n"
                 "end\n");
    each_command(fish_name, out);
    each_command(fish_options, out);
}
