// The best so far in the output file: see cli_best.h.
#include "frontend/cli/cli_best.h"

#include <math.h>
#include <string.h>

#include "ir/base/file.h"

#define EVERY_NS (int64_t)1000000000 // at most so often
#define SHARE    20                  // and at most this part of the time goes into it

static struct stat stat_of(const char *path) {
    struct stat s;
    return path && stat(path, &s) == 0 ? s : (struct stat){0};
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void cli_best_open(struct cli_best *b, struct cli *c, const struct placement *p,
                   const struct mcmc_objective *objective, const char *path) {
    *b = (struct cli_best){.cli = c,
                           .p = p,
                           .objective = objective,
                           .path = cli_leads(c) && path && strcmp(path, "-") != 0 ? path : NULL,
                           .arena = arena_make(&c->mem)};
    struct stat file = stat_of(b->path);
    if (file.st_ino && !S_ISREG(file.st_mode))
        b->path = NULL; // a stream gets the result and nothing before
    pthread_mutex_init(&b->lock, NULL);
}

void cli_best_close(struct cli_best *b) {
    arena_free(&b->arena);
    pthread_mutex_destroy(&b->lock);
}

// Without room for the new one the old one stays.
void cli_best_keep(struct cli_best *b, const struct strategy *best) {
    struct arena arena = arena_make(&b->cli->mem);
    struct task *at = NULL;
    if (b->path)
        at = arena_copy(&arena, best->at, (size_t)best->n * sizeof *best->at);
    if (!at) {
        arena_free(&arena);
        return;
    }
    pthread_mutex_lock(&b->lock);
    struct arena old = b->arena;
    b->arena = arena;
    b->newest = (struct strategy){at, best->n};
    pthread_mutex_unlock(&b->lock);
    arena_free(&old);
}

// The value of the strategy in the file; INFINITY: the file has none for this problem.
static double file_value(const struct cli_best *b) {
    struct stat now = stat_of(b->path);
    if (!now.st_ino)
        return INFINITY;
    if (b->has_saved && is_same(&now, &b->own))
        return b->saved_value;
    struct arena scratch = arena_make(&b->cli->mem);
    struct diags d = diags_make(&scratch); // why the file has none does not matter
    struct source *source = NULL;
    struct strategy s;
    struct strategy_facts facts;
    status st = source_open(&scratch, &d, b->path, &source);
    if (st == ST_OK)
        st = strategy_read(&scratch, &d, source, b->p, &s);
    source_close(source);
    if (st == ST_OK)
        st = strategy_check(b->p, &s, &scratch, &d, &facts);
    double value = st == ST_OK ? mcmc_value_of_facts(b->objective, b->p, &facts) : INFINITY;
    arena_free(&scratch);
    return value;
}

static void write_it(struct cli_best *b, const struct strategy *s) {
    struct arena scratch = arena_make(&b->cli->mem);
    struct diags d = diags_make(&scratch);
    struct strategy_facts facts;
    if (strategy_check(b->p, s, &scratch, &d, &facts) == ST_OK) {
        double value = mcmc_value_of_facts(b->objective, b->p, &facts);
        if (value < file_value(b) &&
            strategy_write(b->p, s, &facts, &scratch, &d, b->path) == ST_OK) {
            b->own = stat_of(b->path);
            b->saved_value = value;
        }
        b->has_saved = true;
    }
    arena_free(&scratch);
}

// It is taken out of the search's way for as long as that lasts.
static void save_newest(struct cli_best *b) {
    int64_t start_ns = stop_clock_ns();
    pthread_mutex_lock(&b->lock);
    struct arena arena = b->arena;
    struct strategy s = b->newest;
    b->arena = arena_make(&b->cli->mem);
    b->newest = (struct strategy){0};
    pthread_mutex_unlock(&b->lock);
    if (s.n > 0)
        write_it(b, &s);
    arena_free(&arena);
    b->saved_ns = stop_clock_ns();
    int64_t pause_ns = SHARE * (b->saved_ns - start_ns);
    b->pause_ns = pause_ns > EVERY_NS ? pause_ns : EVERY_NS;
}

bool cli_best_save(void *best, double seconds) {
    struct cli_best *b = best;
    if (!b->path)
        return true;
    if (seconds < 0 && stop_clock_ns() - b->saved_ns < b->pause_ns)
        return false;
    save_newest(b);
    return b->has_saved;
}
