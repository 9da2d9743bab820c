// The progress table and the last resort after a signal: see cli_watch.h.
#include "frontend/cli/cli_watch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/json_write.h"

#define TICK_NS       200000000 // how often the live line is drawn
#define HASTE_NS      20000000  // how often the thread looks after a signal
#define GRACE_SECONDS 1.0       // after a signal, until the best schedule is written from here
#define NS            1000000000

static double seconds_since(int64_t start_ns) {
    return (double)(stop_clock_ns() - start_ns) / NS;
}

static void clear_live(struct watch *w) {
    if (w->live_drawn)
        fputs("\r\033[K", stderr);
    w->live_drawn = false;
}

static void print_header(struct watch *w) {
    size_t n;
    const struct solve_letter *letters = solve_letters(&n);
    fputs("found by:", stderr);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s %c %s", i ? "," : "", letters[i].letter, letters[i].meaning);
    fputs("\n\n            cost   overhead            bound       gap   peak/budget     time\n",
          stderr);
    w->header_done = true;
}

// One row, without an end of line.
static void print_row(const struct watch *w, const struct solve_event *e) {
    bool none = e->cost == INT64_MAX;
    if (none)
        fprintf(stderr, "%c %14s %10s", e->letter, "-", "-");
    else
        fprintf(stderr, "%c %14lld %8.3f %%", e->letter, (long long)e->cost,
                w->base_cost > 0 ? 100.0 * (double)(e->cost - w->base_cost) / (double)w->base_cost
                                 : 0.0);
    fprintf(stderr, " %16lld", (long long)e->bound);
    if (none || e->cost == 0)
        fprintf(stderr, " %9s", "-");
    else
        fprintf(stderr, " %7.3f %%", 100.0 * (double)(e->cost - e->bound) / (double)e->cost);
    if (none || w->budget_bytes == BUDGET_NONE)
        fprintf(stderr, " %13s", "-");
    else
        fprintf(stderr, " %11.2f %%", 100.0 * (double)e->peak_bytes / (double)w->budget_bytes);
    fprintf(stderr, " %7.1fs", e->seconds);
}

// A line of JSON, with memory of its own: events come from several threads.
struct json_line {
    struct arena arena;
    struct str text;
    struct json_writer w;
};

static void begin_line(struct watch *w, struct json_line *l) {
    l->arena = arena_make(&w->mem);
    l->text = str_make(&l->arena);
    l->w = json_write_begin(&l->text, JSON_WRITE_COMPACT);
}

static void end_line(struct json_line *l, double seconds) {
    json_write_fixed(&l->w, "seconds", 3, seconds);
    json_write_finish(&l->w);
    if (!l->text.failed)
        fputs(str_text(&l->text), stderr);
    arena_free(&l->arena);
}

static void print_json(struct watch *w, const struct solve_event *e) {
    struct json_line l;
    begin_line(w, &l);
    json_write_textf(&l.w, "source", "%c", e->letter);
    json_write_int_if(&l.w, "cost", e->cost != INT64_MAX, e->cost);
    if (e->cost != INT64_MAX)
        json_write_int(&l.w, "peak_bytes", e->peak_bytes);
    json_write_int(&l.w, "bound", e->bound);
    json_write_int(&l.w, "budget_bytes", w->budget_bytes);
    end_line(&l, e->seconds);
}

static void on_progress(void *context, const struct solve_event *e) {
    struct watch *w = context;
    pthread_mutex_lock(&w->lock);
    w->last = *e;
    if (w->style == WATCH_JSON) {
        print_json(w, e);
    } else if (w->style == WATCH_TABLE) {
        clear_live(w);
        if (!w->header_done)
            print_header(w);
        print_row(w, e);
        fputc('\n', stderr);
    }
    pthread_mutex_unlock(&w->lock);
}

static void on_improved(void *context, const struct schedule *best) {
    struct watch *w = context;
    if (!w->path)
        return;
    pthread_mutex_lock(&w->lock);
    arena_free(&w->arena);
    w->best = *best;
    w->best.steps.at =
        arena_copy(&w->arena, best->steps.at, (size_t)best->steps.n * sizeof *best->steps.at);
    if (!w->best.steps.at)
        w->best.steps.n = 0;
    pthread_mutex_unlock(&w->lock);
}

struct solve_hooks watch_hooks(struct watch *w) {
    return (struct solve_hooks){on_progress, w, w->cli->stop, on_improved};
}

// The search has not ended in time. The lock stays held: nobody else writes any more.
static void rescue(struct watch *w) {
    clear_live(w);
    if (w->path && w->best.steps.n > 0) {
        struct arena scratch = arena_make(&w->mem);
        struct diags d = diags_make(&scratch);
        schedule_write(&w->best, seconds_since(w->start_ns), &scratch, &d, w->path);
    }
    _exit(cli_signal_code(w->cli->stop));
}

static void draw_live(struct watch *w) {
    struct solve_event now = w->last;
    if (w->style != WATCH_TABLE || !w->terminal || (!w->header_done && !*w->line))
        return;
    now.letter = ' ';
    now.seconds = seconds_since(w->start_ns);
    fputs("\r\033[K", stderr);
    if (*w->line)
        fprintf(stderr, "%8.2f s", now.seconds);
    else
        print_row(w, &now);
    if (w->limit_seconds > 0)
        fprintf(stderr, " of at most %g s", w->limit_seconds);
    if (*w->line)
        fprintf(stderr, "; best since %s", w->line);
    w->live_drawn = true;
}

void watch_line(struct watch *w, const char *text) {
    pthread_mutex_lock(&w->lock);
    clear_live(w);
    cli_progress(w->cli, "%s", text);
    snprintf(w->line, sizeof w->line, "%s", text + strspn(text, " "));
    pthread_mutex_unlock(&w->lock);
}

void watch_placed(struct watch *w, const struct place_event *e, const char *text) {
    if (w->style != WATCH_JSON) {
        watch_line(w, text);
        return;
    }
    pthread_mutex_lock(&w->lock);
    struct json_line l;
    begin_line(w, &l);
    json_write_real(&l.w, "value", 17, e->value);
    json_write_int(&l.w, "makespan", e->makespan_cost);
    json_write_int(&l.w, "load", e->load_cost);
    json_write_int(&l.w, "proposals", e->n_proposals);
    end_line(&l, e->seconds);
    pthread_mutex_unlock(&w->lock);
}

void watch_save(struct watch *w, bool (*save)(void *context, double seconds), void *context) {
    pthread_mutex_lock(&w->lock);
    w->patient = true;
    w->save = save;
    w->context = context;
    pthread_mutex_unlock(&w->lock);
}

// How long a search may take, when that is known before.
static double limit_of(const struct options *o) {
    return options_int(o, "work") > 0 ? 0 : options_seconds(o, "time");
}

static void *watch_thread(void *context) {
    struct watch *w = context;
    int64_t raised_ns = 0;
    bool is_saved = false;
    pthread_mutex_lock(&w->lock);
    while (!w->ended) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += raised_ns ? HASTE_NS : TICK_NS;
        until.tv_sec += until.tv_nsec / NS;
        until.tv_nsec %= NS;
        pthread_cond_timedwait(&w->wake, &w->lock, &until);
        if (w->ended)
            break;
        draw_live(w);
        if (stop_raised(w->cli->stop) && raised_ns == 0)
            raised_ns = stop_clock_ns();
        if (w->save && !is_saved) {
            pthread_mutex_unlock(&w->lock);
            is_saved = w->save(w->context, raised_ns ? seconds_since(raised_ns) : -1) && raised_ns;
            pthread_mutex_lock(&w->lock);
        }
        if (raised_ns && !w->patient && seconds_since(raised_ns) > GRACE_SECONDS)
            rescue(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

bool watch_open(struct watch *w, struct cli *c, const char *path, int64_t base_cost) {
    const char *progress = options_text(&c->options, "progress");
    *w = (struct watch){.cli = c,
                        .terminal = isatty(STDERR_FILENO),
                        .base_cost = base_cost,
                        .path = path,
                        .limit_seconds = limit_of(&c->options),
                        .start_ns = stop_clock_ns(),
                        .mem = mem_make(MEM_UNLIMITED)};
    if (strcmp(progress, "json") == 0)
        w->style = WATCH_JSON;
    else if (!c->quiet && strcmp(progress, "never") != 0)
        w->style = WATCH_TABLE;
    w->arena = arena_make(&w->mem);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    w->running = pthread_create(&w->thread, NULL, watch_thread, w) == 0;
    return w->running;
}

void watch_begin(struct watch *w, int64_t budget_bytes) {
    pthread_mutex_lock(&w->lock);
    w->budget_bytes = budget_bytes;
    w->start_ns = stop_clock_ns();
    pthread_mutex_unlock(&w->lock);
}

void watch_begin_search(void *watch, int64_t budget_bytes) {
    watch_begin(watch, budget_bytes);
}

void watch_base(struct watch *w, int64_t base_cost) {
    pthread_mutex_lock(&w->lock);
    w->base_cost = base_cost;
    pthread_mutex_unlock(&w->lock);
}

void watch_close(struct watch *w) {
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    clear_live(w);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->running)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    arena_free(&w->arena);
}
