// The live line, the progress table and the last resort after a signal: see cli_watch.h.
#include "frontend/cli/cli_watch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ir/json/json_write.h"

#define TICK_NS       200000000 // how often the live line is drawn
#define HASTE_NS      20000000  // the same after a signal
#define GRACE_SECONDS 1.0       // after a signal, before the best schedule is written from here
#define NS            1000000000

static double seconds_since(int64_t start_ns) {
    return (double)(stop_clock_ns() - start_ns) / NS;
}

static void print_header(struct watch *w) {
    size_t n;
    const struct solve_letter *letters = solve_letters(&n);
    fputs("found by:", stderr);
    for (size_t i = 0; i < n; i++)
        fprintf(stderr, "%s %c %s", i ? "," : "", letters[i].letter, letters[i].meaning);
    fputs("\nbound, gap: of this search, for its order and its clusters\n"
          "\n            cost   overhead            bound       gap   peak/budget     time\n",
          stderr);
    w->header_done = true;
}

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
    fprintf(stderr, " %7.1fs\n", e->seconds);
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
    w->has_event = true;
    if (w->cli->progress_json) {
        print_json(w, e);
    } else if (w->table && (e->cost != INT64_MAX || w->cli->verbose)) {
        cli_live_clear(w->cli);
        if (!w->header_done)
            print_header(w);
        print_row(w, e);
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

// The search has not ended in time. The lock stays held, so that no other thread writes.
static void rescue(struct watch *w) {
    cli_live_clear(w->cli);
    if (w->path && w->best.steps.n > 0) {
        struct arena scratch = arena_make(&w->mem);
        struct diags d = diags_make(&scratch);
        schedule_write(&w->best, seconds_since(w->cli->start_ns), &scratch, &d, w->path);
    }
    _exit(cli_signal_code(w->cli->stop));
}

static void add_percent(struct str *line, const char *name, const struct watch *w, int64_t cost) {
    str_addf(line, "%s %.2f %%", name,
             w->base_cost > 0 ? 100.0 * (double)(cost - w->base_cost) / (double)w->base_cost : 0.0);
}

static void add_event(struct str *line, const struct watch *w) {
    const struct solve_event *e = &w->last;
    if (!w->has_event || e->cost == INT64_MAX) {
        str_add(line, "no schedule yet");
        return;
    }
    add_percent(line, "overhead", w, e->cost);
    if (e->bound > w->base_cost)
        add_percent(line, ", bound of this search", w, e->bound);
    str_add(line, ", peak ");
    str_add_bytes(line, e->peak_bytes);
}

static void draw_live(struct watch *w) {
    struct arena scratch = arena_make(&w->mem);
    struct str line = str_make(&scratch);
    str_addf(&line, "%.0f s", seconds_since(w->cli->start_ns));
    if (w->end_ns != STOP_NEVER)
        str_addf(&line, " of %.0f s", (double)(w->end_ns - w->cli->start_ns) / NS);
    if (w->round > 1)
        str_addf(&line, ", search %d", w->round);
    str_add(&line, ": ");
    if (*w->line)
        str_add(&line, w->line);
    else
        add_event(&line, w);
    if (!line.failed)
        cli_live(w->cli, str_text(&line));
    arena_free(&scratch);
}

void watch_line(struct watch *w, const char *text) {
    pthread_mutex_lock(&w->lock);
    if (w->table) {
        cli_live_clear(w->cli);
        fprintf(stderr, "%8.2f s  ", seconds_since(w->cli->start_ns));
        cli_print_error(w->cli, text);
        fputs("\n", stderr);
    }
    snprintf(w->line, sizeof w->line, "%s", text);
    pthread_mutex_unlock(&w->lock);
}

void watch_round(void *watch, int n, bool more, const char *result) {
    struct watch *w = watch;
    pthread_mutex_lock(&w->lock);
    if (w->table || (w->cli->live && (more || n > 1))) {
        cli_live_clear(w->cli);
        fprintf(stderr, "search %d: %s\n", n, result);
    }
    w->round = n + 1;
    w->has_event = false;
    pthread_mutex_unlock(&w->lock);
}

void watch_placed(struct watch *w, const struct place_event *e, const char *text) {
    if (!w->cli->progress_json) {
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
        if (w->cli->live)
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
    *w = (struct watch){.cli = c,
                        .table = c->progress && !c->progress_json,
                        .base_cost = base_cost,
                        .path = path,
                        .end_ns = STOP_NEVER,
                        .mem = mem_make(MEM_UNLIMITED)};
    w->arena = arena_make(&w->mem);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    w->running = pthread_create(&w->thread, NULL, watch_thread, w) == 0;
    return w->running;
}

void watch_limit(struct watch *w, double seconds) {
    pthread_mutex_lock(&w->lock);
    w->end_ns = seconds > 0 ? w->cli->start_ns + (int64_t)(seconds * NS) : STOP_NEVER;
    pthread_mutex_unlock(&w->lock);
}

void watch_begin(struct watch *w, int64_t budget_bytes) {
    pthread_mutex_lock(&w->lock);
    w->budget_bytes = budget_bytes;
    pthread_mutex_unlock(&w->lock);
}

void watch_begin_search(void *watch, int64_t budget_bytes) {
    watch_begin(watch, budget_bytes);
}

void watch_begin_plan(void *watch, int64_t base_cost, int64_t budget_bytes, int64_t end_ns) {
    struct watch *w = watch;
    pthread_mutex_lock(&w->lock);
    w->base_cost = base_cost;
    w->budget_bytes = budget_bytes;
    w->end_ns = end_ns;
    pthread_mutex_unlock(&w->lock);
}

void watch_close(struct watch *w) {
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    cli_live_clear(w->cli);
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->running)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    arena_free(&w->arena);
}
