// What `mfc --help`, `mfc COMMAND --help` and `mfc --version` say. All of it comes from the tables.
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
    {"progress", 0, OPTION_CHOICE, "auto|always|never|json", "auto", 0, 0,
     "progress on stderr; auto: more on a terminal"},
    {"memory-limit", 0, OPTION_BYTES, "SIZE", NULL, 0, 0, "fail rather than allocate more"},
    {0}};

void cli_help(struct str *out) {
    str_add(out, "usage: mfc MODEL.onnx -o PLAN.onnx [OPTION]...\n"
                 "       mfc COMMAND [OPTION]... [ARGUMENT]...\n\n"
                 "Turns an ONNX model into a training step that fits the memory you have.\n\n"
                 "Commands (mfc COMMAND --help tells more):\n");
    for (const struct command *const *c = cli_commands; *c; c++)
        if (!(*c)->hidden)
            str_addf(out, "  %-14s%s\n", (*c)->name, (*c)->summary);
    str_add(out, "\nOptions of every command:\n");
    options_help(out, cli_common_options);
    str_add(
        out,
        "\nExit codes: 0 done, 1 internal error, 2 usage, 3 malformed input, 4 unsupported,\n"
        "5 proven infeasible, 6 no plan within limits, 8 input/output, 9 memory or size limit,\n"
        "10 verification failed, 130 interrupted, 138 told to end (SIGUSR1), 143 terminated.\n");
}

void cli_help_command(struct str *out, const struct command *c) {
    str_addf(out, "usage: mfc %s [OPTION]... %s\n\n%s\n", c->name, c->arguments,
             c->description ? c->description : c->summary);
    if (c->options) {
        str_add(out, "\nOptions:\n");
        options_help(out, c->options);
    }
    const char *heading = "\nOptions of the passes:\n";
    for (const struct pass *const *p = pass_table; c->passes && *p; p++)
        if ((*p)->options) {
            str_add(out, heading);
            options_help(out, (*p)->options);
            heading = "";
        }
    str_add(out, "\nOptions of every command:\n");
    options_help(out, cli_common_options);
}

void cli_version(struct str *out) {
    str_addf(out, "mfc %s\n", version_mfc());
    str_addf(out, "CBC %s\n", version_cbc());
    str_addf(out, "CoinUtils %s\n", version_coinutils());
    str_addf(out, "protobuf-c %s\n", version_protobuf_c());
    str_addf(out, "%s\n", cli_team_library() ? cli_team_library() : "built without MPI");
}
