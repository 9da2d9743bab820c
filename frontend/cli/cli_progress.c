// Progress on stderr: see cli.h. On a terminal one live line, which is cleared before anything else
// is printed.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "frontend/cli/cli.h"
#include "ir/json/json_write.h"

#define BAR_WIDTH     24
#define DEFAULT_WIDTH 80 // of a terminal that does not report its own

static int terminal_width(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : DEFAULT_WIDTH;
}

void cli_print_error(struct cli *c, const char *text) {
    struct arena scratch = arena_make(&c->mem);
    struct str line = str_make(&scratch);
    str_add_visible(&line, text, true);
    if (!line.failed)
        fputs(str_text(&line), stderr);
    arena_free(&scratch);
}

void cli_live(struct cli *c, const char *text) {
    if (!c->live)
        return;
    struct arena scratch = arena_make(&c->mem);
    struct str line = str_make(&scratch);
    str_add_visible(&line, text, false);
    // A full last column would wrap, and the line could not be cleared any more.
    if (!line.failed)
        fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, str_text(&line));
    c->live_drawn = true;
    arena_free(&scratch);
}

void cli_live_clear(struct cli *c) {
    if (c->live_drawn)
        fputs("\r\033[K", stderr);
    c->live_drawn = false;
}

static double seconds(const struct cli *c) {
    return (double)(stop_clock_ns() - c->start_ns) * 1e-9;
}

void cli_progress(struct cli *c, const char *format, ...) {
    if (!c->progress)
        return;
    struct arena scratch = arena_make(&c->mem);
    struct str text = str_make(&scratch), line = str_make(&scratch);
    va_list args;
    va_start(args, format);
    str_addv(&text, format, args);
    va_end(args);
    cli_live_clear(c);
    if (c->progress_json) {
        struct json_writer w = json_write_begin(&line, JSON_WRITE_COMPACT);
        json_write_text(&w, "message", str_text(&text));
        json_write_fixed(&w, "seconds", 3, seconds(c));
        json_write_finish(&w);
    } else {
        str_addf(&line, "%s\n", str_text(&text));
    }
    if (!line.failed)
        cli_print_error(c, str_text(&line));
    arena_free(&scratch);
}

static void add_bar(struct str *line, const struct cli_step *s) {
    int64_t full = s->of > 0 ? BAR_WIDTH * s->done / s->of : 0; // fits: counts of searches
    str_add_char(line, '[');
    for (int64_t i = 0; i < BAR_WIDTH; i++)
        str_add_char(line, i < full ? '#' : '.');
    str_add(line, "] ");
}

static void add_text(struct str *line, const struct cli *c, const struct cli_step *s) {
    if (s->of > 0)
        add_bar(line, s);
    str_addf(line, "%s %lld", s->what, (long long)s->done + 1);
    if (s->of > 0)
        str_addf(line, " of %lld", (long long)s->of);
    str_addf(line, ": %s; %.0f s so far", s->now, seconds(c));
    if (s->left_seconds >= 0)
        str_addf(line, ", at most %.0f s left", s->left_seconds);
}

static void add_json(struct str *line, const struct cli *c, const struct cli_step *s) {
    struct json_writer w = json_write_begin(line, JSON_WRITE_COMPACT);
    json_write_text(&w, "message", s->now);
    json_write_int(&w, "done", s->done);
    if (s->of > 0)
        json_write_int(&w, "of", s->of);
    if (s->left_seconds >= 0)
        json_write_fixed(&w, "left_seconds", 1, s->left_seconds);
    json_write_fixed(&w, "seconds", 3, seconds(c));
    json_write_finish(&w);
}

void cli_progress_step(struct cli *c, const struct cli_step *s) {
    if (!c->progress && !c->live)
        return;
    struct arena scratch = arena_make(&c->mem);
    struct str line = str_make(&scratch);
    if (c->progress_json)
        add_json(&line, c, s);
    else
        add_text(&line, c, s);
    if (!c->progress_json && !c->live)
        str_add_char(&line, '\n');
    if (!line.failed && c->live)
        cli_live(c, str_text(&line));
    else if (!line.failed)
        cli_print_error(c, str_text(&line));
    arena_free(&scratch);
}
