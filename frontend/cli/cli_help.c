// The texts of `mfc --help`, `mfc COMMAND --help` and `mfc --version`, from the tables.
#include "frontend/cli/cli.h"
#include "frontend/cli/cli_team.h"
#include "frontend/version.h"
#include "passes/pass.h"

#define COMMAND(name) extern const struct command cmd_##name;
#include "frontend/cli/commands.def"
#undef COMMAND

const struct command *const cli_commands[] = {
#define COMMAND(name) &cmd_##name,
#include "frontend/cli/commands.def"
#undef COMMAND
    NULL};

const struct option_spec cli_common_options[] = {
    {"help", 'h', OPTION_FLAG, NULL, NULL, 0, 0, "show this help"},
    {"version", 'V', OPTION_FLAG, NULL, NULL, 0, 0, "show the versions of mfc and its libraries"},
    {"quiet", 'q', OPTION_FLAG, NULL, NULL, 0, 0, "errors only: no warnings, notes or progress"},
    {"verbose", 'v', OPTION_FLAG, NULL, NULL, 0, 0,
     "show every step of a search, and more numbers"},
    {"progress", 0, OPTION_CHOICE, "auto|always|never|json", "auto", 0, 0,
     "progress on stderr: one line on a terminal (auto), lines everywhere, none, or JSON"},
    {"memory-limit", 0, OPTION_BYTES, "SIZE", NULL, 0, 0, "fail rather than allocate more"},
    {0}};

void cli_help(struct str *out) {
    str_add(out, "usage: mfc MODEL.onnx -o PLAN.onnx [OPTION]...\n"
                 "       mfc COMMAND [OPTION]... [ARGUMENT]...\n\n"
                 "Turns an ONNX model into a training step that fits the memory you have. The\n"
                 "options of a plan: mfc plan --help.\n\n"
                 "Commands (mfc COMMAND --help for more):\n");
    for (const struct command *const *c = cli_commands; *c; c++)
        if (!(*c)->hidden) {
            str_addf(out, "  %-14s", (*c)->name);
            str_add_wrapped(out, (*c)->summary, 16);
            str_add_char(out, '\n');
        }
    str_add(out, "\nOptions of every command:\n");
    options_help(out, cli_common_options, NULL);
    str_add(out, "\nExit codes: 0 done, 1 internal error, 2 usage, 3 malformed input,\n"
                 "4 unsupported, 5 proven infeasible, 6 no plan within limits, 8 input/output,\n"
                 "9 memory or size limit, 10 verification failed, 130 interrupted,\n"
                 "138 stopped (SIGUSR1), 143 terminated.\n");
}

// The options of a command and of the passes it runs, by purpose.
static void add_options(struct str *out, const struct command *c) {
    static const char *const headings[] = {NULL,      "Model",    "Loss and training",
                                           "Budget",  "Sharding", "Search",
                                           "Devices", "Costs",    "Output"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        struct str rows = str_make(out->arena);
        options_help(&rows, c->options, headings[i]);
        for (const struct pass *const *p = pass_table; c->passes && *p; p++)
            options_help(&rows, (*p)->options, headings[i]);
        if (rows.n)
            str_addf(out, "\n%s:\n%s", headings[i] ? headings[i] : "Options", str_text(&rows));
    }
}

void cli_help_command(struct str *out, const struct command *c) {
    str_addf(out, "usage: mfc %s [OPTION]... %s\n\n", c->name, c->arguments);
    str_add_wrapped(out, c->description ? c->description : c->summary, 0);
    str_add_char(out, '\n');
    add_options(out, c);
    str_add(out, "\nOptions of every command:\n");
    options_help(out, cli_common_options, NULL);
}

void cli_version(struct str *out) {
    str_addf(out, "mfc %s\n", version_mfc());
    str_addf(out, "CBC %s\n", version_cbc());
    str_addf(out, "CoinUtils %s\n", version_coinutils());
    str_addf(out, "protobuf-c %s\n", version_protobuf_c());
    str_addf(out, "%s\n", cli_team_library() ? cli_team_library() : "built without MPI");
}
