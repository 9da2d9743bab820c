// The command line. A command is a constant descriptor in a file of its own, and one table lists
// them all. Only main.c and frontend/cli print, exit and handle signals: they are the executable,
// and no part of libmfc.
//
// To add a command NAME:
//   1. Write frontend/cli/commands/cmd_NAME.c, which ends with
//
//          static const struct option_spec name_options[] = {
//              {"output", 'o', OPTION_TEXT, "FILE", NULL, 0, 0, "where the result goes"}, {0}};
//
//          const struct command cmd_NAME = {
//              .name = "NAME", .summary = "one line for mfc --help", .arguments = "FILE",
//              .min_arguments = 1, .max_arguments = 1, .options = name_options, .run = run};
//
//   2. Add COMMAND(NAME) to frontend/cli/commands.def.
//
// CMake finds the file by itself. `run` returns a status, which becomes the exit code; what is
// wrong goes to c->diags, and results go to c->out or, when they are large or a file, to an
// `output` (file.h, where "-" is standard output). It never prints by itself.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ir/base/diag.h"
#include "ir/base/mem.h"
#include "ir/base/options.h"
#include "ir/base/status.h"
#include "ir/base/stop.h"
#include "ir/base/str.h"
#include "passes/pass.h"

// What a command gets. All of it lives until the command has returned.
struct cli {
    struct mem mem;     // the gate, with the limit of --memory-limit
    struct arena arena; // for what lives as long as the run
    struct diags diags; // printed to stderr by main when the run ends
    struct stop *stop;  // raised by SIGINT and SIGTERM
    struct options options;
    const char *const *arguments; // those that are not options
    size_t n_arguments;
    struct str out;      // results for stdout; main writes them, also when the run fails
    const char *program; // argv[0], for a command that starts mfc again as a worker
    const char *line;    // the command line, as one would type it in a shell
    bool quiet;          // errors only
    bool verbose;        // every step, and more numbers
    bool progress;       // as lines on stderr
    bool progress_json;  // these are JSON
    bool live;           // as one line on a terminal, drawn over and over
    bool live_drawn;     // it is the last line on stderr
    int64_t start_ns;    // when the run began
    bool colour;         // stderr is a terminal and NO_COLOR is not set
    size_t n_printed;    // diagnostics that are on stderr already, or left out
    size_t n_messages;   // of them, without those that --quiet leaves out
    struct team *team;   // processes that do this together; NULL: there is just this one
};

struct command {
    const char *name, *summary;
    const char *arguments; // as the help shows them: "FILE [FILE]"
    const char
        *description; // for --help of the command, lines are wrapped there; NULL: the summary
    size_t min_arguments, max_arguments;
    const struct option_spec *options; // NULL: none of its own
    bool passes;                       // it runs passes, and takes their options too
    status (*run)(struct cli *c);
    bool hidden; // not in the list of --help: for the build and for mfc's own workers
    bool ranks;  // the ranks of an MPI job can do it together. It writes where cli_leads is true
};

// From argv to exit code. `stop` is what the signal handlers raise.
int cli_main(int argc, char **argv, struct stop *stop);

// The exit code after a signal: 130 for SIGINT, 143 for SIGTERM.
int cli_signal_code(const struct stop *stop);

// The outcome of a search: ST_INTERRUPTED when a signal ended it before it found a plan.
status cli_search_status(const struct cli *c, status st);

// cli_progress.c: one line of progress on stderr, if lines are wanted.
__attribute__((format(printf, 2, 3))) void cli_progress(struct cli *c, const char *format, ...);
// The live line, cut to the width of the terminal.
void cli_live(struct cli *c, const char *text);
void cli_live_clear(struct cli *c); // before anything else goes to stderr
// Work in many parts: which of them begins now, as a bar.
struct cli_step {
    const char *what, *now; // "sweep", "portfolio at 80 %"
    int64_t done, of;       // parts; of = 0: their number is unknown
    double left_seconds;    // at most; below 0: unknown
};
void cli_progress_step(struct cli *c, const struct cli_step *s);

// Whether this process prints and writes: of the ranks of an MPI job only the first (cli_team.h).
bool cli_leads(struct cli *c);

// The mfc executable itself, for searches in processes of their own; NULL: unknown.
const char *cli_worker_path(void);

// What passes get from a command: its messages, options, signals and progress.
struct pass_context cli_context(struct cli *c, struct arena *scratch);

// Prints the diagnostics that were added since the last call. A command calls it before a long
// phase, so that a warning does not come after the wait.
void cli_flush_diags(struct cli *c);
// Text for humans, which may hold foreign names, to stderr.
void cli_print_error(struct cli *c, const char *text);

// cli_help.c: the texts of --help and --version.
extern const struct option_spec cli_common_options[];
extern const struct command *const cli_commands[]; // NULL-terminated
void cli_help(struct str *out);
void cli_help_command(struct str *out, const struct command *c);
void cli_version(struct str *out);
