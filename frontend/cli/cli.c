// From argv to exit code: find the command, read its options with getopt_long, run it, print what
// it found. Stages: which command; the options of its table; run; results to stdout; diagnostics to
// stderr.
#include "frontend/cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/cli/cli_team.h"
#include "ir/json/json.h"
#include "passes/pass.h"

static const struct command *find_command(const char *name) {
    for (const struct command *const *c = cli_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

// A first word that looks like a command and is none gets a better message than "no such file".
static status unknown_command(struct diags *d, const char *word) {
    if (find_command(word))
        return diag_error(d, DIAG_USAGE, loc_none(), "options come after the command: mfc %s ...",
                          word);
    if (strcmp(word, "help") == 0 || strcmp(word, "version") == 0)
        return diag_error(d, DIAG_USAGE, loc_none(),
                          "%s is an option: mfc --%s, or mfc COMMAND --help", word, word);
    const char *near = NULL;
    size_t nearest = STR_NEAR;
    for (const struct command *const *c = cli_commands; *c; c++)
        if (!(*c)->hidden && str_is_nearer(word, (*c)->name, &nearest))
            near = (*c)->name;
    return diag_error(d, DIAG_USAGE, loc_none(),
                      "there is no command and no file \"%s\"%s%s%s; mfc --help lists the commands",
                      word, near ? "; is it \"" : "", near ? near : "", near ? "\"?" : "");
}

// getopt's tables, made from ours. Long options carry their index + 256, letters themselves.
enum { LONG_BASE = 256 };

static bool is_flag(const struct option_spec *s) {
    return s->kind == OPTION_FLAG || (s->kind == OPTION_SAME && !s->argument);
}

static struct option *getopt_table(struct options *o, struct str *letters) {
    struct option *table = ARENA_ARRAY(o->arena, struct option, o->items.n + 1);
    str_add(letters, ":"); // tells a missing argument from an unknown option
    for (size_t i = 0; table && i < o->items.n; i++) {
        const struct option_spec *s = o->items.at[i].spec;
        bool flag = is_flag(s);
        table[i] = (struct option){s->name, flag ? no_argument : required_argument, NULL,
                                   LONG_BASE + (int)i};
        if (s->letter)
            str_addf(letters, "%c%s", s->letter, flag ? "" : ":");
    }
    return letters->failed ? NULL : table;
}

static const struct option_spec *spec_of(const struct options *o, int got) {
    if (got >= LONG_BASE)
        return o->items.at[got - LONG_BASE].spec;
    for (size_t i = 0; i < o->items.n; i++)
        if (o->items.at[i].spec->letter == got)
            return o->items.at[i].spec;
    return NULL;
}

// getopt_long gave '?' or ':'. It leaves the letter, or the number of a known long option, in
// optopt; 0 there is an unknown long option, which is the word that it has just passed.
static status bad_option(struct options *o, struct diags *d, int got, char **argv) {
    const struct option_spec *s = optopt ? spec_of(o, optopt) : NULL;
    if (got == ':' && s)
        return diag_error(d, DIAG_USAGE, loc_none(), "--%s needs its %s", s->name, s->argument);
    if (s)
        return diag_error(d, DIAG_USAGE, loc_none(), "--%s takes no argument", s->name);
    if (optopt)
        return diag_error(d, DIAG_USAGE, loc_none(), "there is no option -%c", optopt);
    const char *word = argv[optind - 1] + strlen("--");
    size_t n = strcspn(word, "=");
    char *name = arena_alloc(o->arena, n + 1);
    if (!name)
        return diag_out_of_memory(d);
    memcpy(name, word, n);
    return options_set(o, d, name, "");
}

// All mistakes are reported at once; the status is that of the first.
static status read_options(struct cli *c, int argc, char **argv) {
    struct str letters = str_make(&c->arena);
    struct option *table = getopt_table(&c->options, &letters);
    if (!table)
        return diag_out_of_memory(&c->diags);
    optind = 0; // GNU: start afresh, argv[0] is skipped
    opterr = 0;
    int got;
    while ((got = getopt_long(argc, argv, str_text(&letters), table, NULL)) >= 0) {
        if (got == '?' || got == ':') {
            bad_option(&c->options, &c->diags, got, argv);
            continue;
        }
        const struct option_spec *s = spec_of(&c->options, got);
        options_set(&c->options, &c->diags, s->name, is_flag(s) ? "true" : optarg);
    }
    c->arguments = (const char *const *)argv + optind;
    c->n_arguments = (size_t)(argc - optind);
    return c->diags.worst;
}

static status check_arguments(struct cli *c, const struct command *command) {
    if (c->n_arguments < command->min_arguments)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(), "usage: mfc %s [OPTION]... %s",
                          command->name, command->arguments);
    if (c->n_arguments > command->max_arguments)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "\"%s\" is one argument too many; usage: mfc %s [OPTION]... %s",
                          c->arguments[command->max_arguments], command->name, command->arguments);
    return ST_OK;
}

static struct option_value *find_value(struct cli *c, const char *name) {
    for (size_t i = 0; i < c->options.items.n; i++)
        if (strcmp(c->options.items.at[i].spec->name, name) == 0)
            return &c->options.items.at[i].value;
    return NULL;
}

// In commands that run passes, --output names values of the model, and -o the file. Without -o, a
// single --output that is the name of a file means that, as it did before.
static status take_output_file(struct cli *c) {
    struct option_value *file = find_value(c, "file"), *values = find_value(c, "output");
    if (!file || !values || file->given || values->list.n != 1)
        return ST_OK;
    const char *name = values->list.at[0];
    if (strcmp(name, "-") != 0 && !str_ends_with(name, ".onnx") && !str_ends_with(name, ".mfc") &&
        !str_ends_with(name, ".dot"))
        return ST_OK;
    values->list.n = 0;
    values->given = false;
    return options_set(&c->options, &c->diags, "file", name);
}

static void settle(struct cli *c) {
    bool terminal = isatty(STDERR_FILENO);
    const char *no_colour = getenv("NO_COLOR");
    const char *progress = options_text(&c->options, "progress");
    c->colour = terminal && !(no_colour && *no_colour);
    c->quiet = options_flag(&c->options, "quiet");
    c->verbose = options_flag(&c->options, "verbose");
    c->progress_json = strcmp(progress, "json") == 0;
    c->progress =
        c->progress_json || (!c->quiet && (strcmp(progress, "always") == 0 || c->verbose));
    c->live = terminal && !c->quiet && !c->progress_json && strcmp(progress, "never") != 0;
    c->mem.limit_bytes = options_bytes(&c->options, "memory-limit", MEM_UNLIMITED);
}

static status dispatch(struct cli *c, int argc, char **argv) {
    const char *first = argc > 1 ? argv[1] : NULL;
    const struct command *command = first ? find_command(first) : NULL;
    bool named = command != NULL;
    if (!named) // then the first word is the model, or an option
        command = find_command("plan");
    status st = options_add(&c->options, &c->diags, cli_common_options);
    if (!st)
        st = options_add(&c->options, &c->diags, command->options);
    if (!st && command->passes)
        st = pass_add_options(&c->options, &c->diags);
    if (!st)
        st = read_options(c, argc - named, argv + named);
    if (!st)
        st = take_output_file(c);
    if (st)
        return st;
    settle(c);
    if (options_flag(&c->options, "version")) {
        cli_version(&c->out);
        return ST_OK;
    }
    if (options_flag(&c->options, "help")) {
        if (named)
            cli_help_command(&c->out, command);
        else
            cli_help(&c->out);
        return ST_OK;
    }
    if (argc == 1)
        return diag_error(&c->diags, DIAG_USAGE, loc_none(),
                          "no model is given; mfc --help shows what mfc does");
    if (!named && c->n_arguments && access(c->arguments[0], F_OK) != 0 &&
        strcmp(c->arguments[0], "-") != 0 && !strpbrk(c->arguments[0], "./"))
        return unknown_command(&c->diags, c->arguments[0]);
    if (command->ranks)
        c->team = cli_team_open(c->stop);
    if (!cli_leads(c)) { // rank 0 reports for all
        c->progress = c->live = false;
        st = options_set(&c->options, &c->diags, "progress", "never");
    }
    if (!st)
        st = check_arguments(c, command);
    return st ? st : command->run(c);
}

bool cli_leads(struct cli *c) {
    return cli_team_leads(c->team);
}

const char *cli_worker_path(void) {
    return access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : NULL;
}

static void pass_line(void *to, const char *line) {
    cli_progress(to, "%s", line);
}

struct pass_context cli_context(struct cli *c, struct arena *scratch) {
    return (struct pass_context){.arena = scratch,
                                 .diags = &c->diags,
                                 .options = &c->options,
                                 .stop = c->stop,
                                 .start_ns = c->start_ns,
                                 .progress = pass_line,
                                 .progress_to = c,
                                 .worker_path = cli_worker_path()};
}

// More are a cascade that says nothing new.
enum { MAX_MESSAGES = 19 };

static void print_diags(struct cli *c) {
    static const char *const colours[] = {"\033[36m", "\033[33m", "\033[1;31m"};
    cli_live_clear(c);
    for (; c->n_printed < c->diags.list.n; c->n_printed++) {
        const struct diag *one = &c->diags.list.at[c->n_printed];
        if (c->quiet && one->severity != DIAG_ERROR)
            continue;
        if (c->n_messages++ >= MAX_MESSAGES && !c->verbose)
            continue;
        struct str line = str_make(&c->arena);
        diag_print(&line, one);
        const char *text = str_text(&line);
        if (line.failed) // a name in the message may not be fit for a terminal
            fputs("error: out of memory [limit]\n", stderr);
        else if (c->colour)
            fprintf(stderr, "%s%.*s\033[0m%s", colours[one->severity], (int)strcspn(text, ":"),
                    text, text + strcspn(text, ":"));
        else
            fputs(text, stderr);
    }
}

void cli_flush_diags(struct cli *c) {
    if (cli_leads(c))
        print_diags(c);
}

// The command line as a shell would take it, with "mfc" for the program wherever that is.
static const char *join_line(struct arena *a, int argc, char **argv) {
    struct str line = str_make(a);
    str_add(&line, "mfc");
    for (int i = 1; i < argc; i++) {
        str_add_char(&line, ' ');
        str_add_shell(&line, argv[i]);
    }
    return str_text(&line);
}

static status print_results(struct cli *c, status st) {
    cli_live_clear(c);
    struct str out = str_make(&c->arena);
    str_add_visible(&out, str_text(&c->out), true);
    if (out.failed && !st)
        st = diag_out_of_memory(&c->diags);
    bool lost = out.n > 0 && !out.failed &&
                (fwrite(str_text(&out), 1, out.n, stdout) < out.n || fclose(stdout) != 0);
    if (lost && !st)
        st = diag_error(&c->diags, DIAG_IO, loc_file("<stdout>"), "cannot write: %s",
                        strerror(errno));
    print_diags(c);
    if (st == ST_INTERRUPTED && !c->quiet)
        fputs("stopped before there was a result: nothing is written\n", stderr);
    if (st == ST_LIMIT && c->n_printed == 0) // there was not even memory to say so
        fputs("error: out of memory [limit]\n", stderr);
    size_t n_more = c->diags.n_dropped;
    if (!c->verbose && c->n_messages > MAX_MESSAGES)
        n_more += c->n_messages - MAX_MESSAGES;
    if (n_more)
        fprintf(stderr, "%zu further messages are not shown%s\n", n_more,
                c->verbose ? "" : "; --verbose shows more");
    return st;
}

int cli_signal_code(const struct stop *stop) {
    return 128 + stop_reason(stop);
}

status cli_search_status(const struct cli *c, status st) {
    return st == ST_NO_PLAN && stop_raised(c->stop) ? ST_INTERRUPTED : st;
}

int cli_main(int argc, char **argv, struct stop *stop) {
    struct cli c = {.mem = mem_make(MEM_UNLIMITED),
                    .stop = stop,
                    .program = argv[0],
                    .start_ns = stop_clock_ns()};
    json_use_gate(&c.mem);
    c.arena = arena_make(&c.mem);
    c.diags = diags_make(&c.arena);
    c.options = options_make(&c.arena);
    c.out = str_make(&c.arena);
    c.line = join_line(&c.arena, argc, argv); // before getopt moves the words about
    status st = dispatch(&c, argc, argv);
    if (!st && c.out.failed)
        st = diag_out_of_memory(&c.diags);
    bool leads = cli_leads(&c);
    st = leads ? print_results(&c, st) : ST_OK;
    bool is_stopped = leads && stop_raised(stop) && (st == ST_OK || st == ST_INTERRUPTED);
    arena_free(&c.arena);
    cli_team_close(c.team);
    return is_stopped ? cli_signal_code(stop) : (int)st;
}
