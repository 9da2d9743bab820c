// What the user sees of a search while it runs, and what is saved when it does not end in time.
//
// On a terminal one live line; with --verbose also a table in the manner of MIP solvers, one row
// per improvement; or events as JSON. A thread draws the live line. After a signal it gives the
// search a second to end, then writes the best schedule so far and ends the process. Where the
// search is sure to end, but perhaps not before the process is killed, the thread saves the best
// result on the way instead.
#pragma once

#include <pthread.h>

#include "frontend/cli/cli.h"
#include "solver/place.h"
#include "solver/solve.h"

struct watch {
    struct cli *cli;
    bool table, header_done;
    int round; // number of the search, from 1; 0: there is only one
    int64_t budget_bytes, base_cost;
    const char *path; // where the schedule goes; NULL: nowhere
    bool patient;     // after a signal the search has all the time that it needs to end
    bool (*save)(void *context, double seconds); // see watch_save; or NULL
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool running, ended;
    int64_t end_ns; // of the time of the command; STOP_NEVER
    char line[160]; // the last one of watch_line
    struct solve_event last;
    bool has_event;
    struct mem mem; // the copy below must not depend on the run's own memory limit
    struct arena arena;
    struct schedule best; // best.steps.n == 0: none yet
};

// `path` may be NULL. False: no thread could be started; everything else still works.
bool watch_open(struct watch *w, struct cli *c, const char *path, int64_t base_cost);
void watch_limit(struct watch *w, double seconds); // of the whole command; 0: none
// A search begins; there are several in a sweep.
void watch_begin(struct watch *w, int64_t budget_bytes);
void watch_begin_search(void *watch, int64_t budget_bytes); // the same, as a hook of solver/curve.h
// The same of a plan, and its rounds: hooks of passes/plan/plan.h.
void watch_begin_plan(void *watch, int64_t base_cost, int64_t budget_bytes, int64_t end_ns);
void watch_round(void *watch, int n, bool more, const char *result);
void watch_close(struct watch *w); // clears the live line, ends the thread

struct solve_hooks watch_hooks(struct watch *w);

// The search has all the time that it needs to end after a signal. `save` is called regularly, by
// another thread: with -1, and after a signal with the seconds since then, until it returns true.
void watch_save(struct watch *w, bool (*save)(void *context, double seconds), void *context);

// For searches of other things than schedules: what was found, for the table and the live line.
void watch_line(struct watch *w, const char *text);
// The same for a placement; where progress goes out as JSON, its numbers do.
void watch_placed(struct watch *w, const struct place_event *e, const char *text);
