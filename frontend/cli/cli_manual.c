// The manual page mfc(1) in roff, from the tables of commands, options and exit codes: what is not
// in a table is in no help either.
#include "frontend/cli/cli_manual.h"

#include <string.h>

#include "frontend/version.h"

void cli_each_option(const struct option_spec *table,
                     void (*visit)(struct str *out, const struct option_spec *s), struct str *out) {
    for (const struct option_spec *s = table; s && s->name; s++)
        if (s->kind != OPTION_GROUP && s->help)
            visit(out, s);
}

void cli_each_option_of(const struct command *c,
                        void (*visit)(struct str *out, const struct option_spec *s),
                        struct str *out) {
    cli_each_option(c->options, visit, out);
    for (const struct pass *const *p = pass_table; c->passes && *p; p++)
        cli_each_option((*p)->options, visit, out);
    cli_each_option(cli_common_options, visit, out);
}

bool cli_option_names_file(const struct option_spec *s) {
    static const char *const names[] = {"FILE", "FOLDER", "PLAN", "RIG"};
    for (size_t i = 0; s->argument && i < sizeof names / sizeof *names; i++)
        if (strcmp(s->argument, names[i]) == 0)
            return true;
    return false;
}

// Text as roff shows it: no character is a request or an escape, a hyphen is that of the keyboard.
static void add_text(struct str *out, const char *text) {
    bool begins = true;
    for (const char *p = text; *p; p++) {
        if (begins && (*p == '.' || *p == '\''))
            str_add(out, "\\&");
        if (*p == '\\')
            str_add(out, "\\e");
        else if (*p == '-')
            str_add(out, "\\-");
        else
            str_add_char(out, *p);
        begins = *p == '\n';
    }
}

// A paragraph; an empty line in the text begins another one.
static void add_paragraphs(struct str *out, const char *text) {
    for (const char *end; (end = strstr(text, "\n\n")); text = end + 2) {
        struct str part = str_make(out->arena);
        str_add_n(&part, text, (size_t)(end - text));
        add_text(out, str_text(&part));
        str_add(out, "\n.PP\n");
    }
    add_text(out, text);
    str_add_char(out, '\n');
}

static void add_option(struct str *out, const struct option_spec *s) {
    str_add(out, ".TP\n");
    if (s->letter)
        str_addf(out, "\\fB\\-%c\\fR, ", s->letter);
    str_add(out, "\\fB\\-\\-");
    add_text(out, s->name);
    str_add(out, "\\fR");
    if (s->argument) {
        str_add(out, "=\\fI");
        add_text(out, s->argument);
        str_add(out, "\\fR");
    }
    str_add_char(out, '\n');
    add_text(out, s->help);
    if (s->default_text && s->kind != OPTION_FLAG && s->kind != OPTION_SAME) {
        str_add(out, " (");
        add_text(out, s->default_text);
        str_add(out, ")");
    }
    str_add_char(out, '\n');
}

static void add_command(struct str *out, const struct command *c) {
    str_add(out, ".SS mfc ");
    add_text(out, c->name);
    str_add(out, " [OPTION]... ");
    add_text(out, c->arguments ? c->arguments : "");
    str_add_char(out, '\n');
    add_paragraphs(out, c->description ? c->description : c->summary);
    if (c->passes)
        str_add(out, ".PP\nIt also takes the options under OPTIONS OF THE STEP AND THE PLAN.\n");
    cli_each_option(c->options, add_option, out);
}

static void add_beginning(struct str *out) {
    str_addf(out, ".TH MFC 1 \"\" \"mfc %s\" \"User Commands\"\n", version_mfc());
    str_add(
        out,
        ".SH NAME\n"
        "mfc \\- turns an ONNX model into a training step that fits the memory you have\n"
        ".SH SYNOPSIS\n"
        ".B mfc\n.I MODEL.onnx\n.B \\-o\n.I PLAN.onnx\n[OPTION]...\n.br\n"
        ".B mfc\n.I COMMAND\n[OPTION]... [ARGUMENT]...\n"
        ".SH DESCRIPTION\n"
        "mfc reads an ONNX model, adds loss, gradients and optimizer in standard operators, and "
        "plans which results to keep and which to recompute, so that the training step stays "
        "within a budget of memory at the least overhead. The plan is checked by independent "
        "exact code, and runs on stock ONNX Runtime.\n"
        ".PP\n"
        "Results go to standard output, everything else to standard error; \\- as a file name "
        "is standard input or output. A file appears complete or not at all.\n");
}

static void add_end(struct str *out) {
    str_add(out, ".SH EXIT STATUS\n");
    static const struct {
        const char *code, *text;
    } rows[] = {
        {"0", "done"},
        {"1", "internal error: a defect of mfc"},
        {"2", "usage: an unknown option, value or argument"},
        {"3", "malformed input; the message says where"},
        {"4", "unsupported: the input is valid, mfc does not support it"},
        {"5", "proven infeasible; the message gives a budget that works"},
        {"6", "no plan found within the limits"},
        {"8", "input or output failed"},
        {"9", "out of memory, or over a size limit"},
        {"10", "verification failed"},
        {"130, 138, 143", "interrupted, stopped (SIGUSR1), terminated; the best result so far is "
                          "still written"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        str_addf(out, ".TP\n.B %s\n", rows[i].code);
        add_text(out, rows[i].text);
        str_add_char(out, '\n');
    }
    str_add(out, ".SH EXAMPLES\n.nf\n"
                 "mfc model.onnx \\-o plan.onnx \\-\\-budget 4GiB \\-\\-optimizer adamw\n"
                 "mfc verify model.onnx plan.onnx\n"
                 "mfc state plan.onnx \\-o start.safetensors\n"
                 "mfc export model.onnx \\-\\-state now.safetensors \\-o trained.onnx\n.fi\n");
}

void cli_manual_page(struct str *out) {
    add_beginning(out);
    str_add(out, ".SH COMMANDS\n");
    for (const struct command *const *c = cli_commands; *c; c++)
        if (!(*c)->hidden)
            add_command(out, *c);
    str_add(out, ".SH OPTIONS OF EVERY COMMAND\n");
    cli_each_option(cli_common_options, add_option, out);
    str_add(out, ".SH OPTIONS OF THE STEP AND THE PLAN\nOf the commands that make them:");
    const char *comma = " ";
    for (const struct command *const *c = cli_commands; *c; c++)
        if ((*c)->passes) {
            str_add(out, comma);
            add_text(out, (*c)->name);
            comma = ", ";
        }
    str_add(out, ".\n");
    for (const struct pass *const *p = pass_table; *p; p++)
        cli_each_option((*p)->options, add_option, out);
    add_end(out);
}
