// What the user sees of a search while it runs, and what is saved when it does not end in time.
//
// A table in the manner of MIP solvers on stderr: one line per improvement, and on a terminal a
// last line that lives. A thread of its own draws that line; and after a signal it gives the search
// a second to end by itself, then writes the best schedule so far and ends the process. Or, where
// the search is sure to end soon, but perhaps not before the process is killed, it has the best so
// far saved on the way.
#pragma once

#include <pthread.h>

#include "frontend/cli/cli.h"
#include "solver/place.h"
#include "solver/solve.h"

enum watch_style { WATCH_SILENT, WATCH_TABLE, WATCH_JSON };

struct watch {
    struct cli *cli;
    enum watch_style style;
    bool terminal, header_done, live_drawn;
    int64_t budget_bytes, base_cost;
    const char *path; // where the schedule goes; NULL: nowhere
    bool patient;     // after a signal the search is given all the time that it needs to end
    bool (*save)(void *context, double seconds); // see watch_save; or NULL
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool running, ended;
    int64_t start_ns;
    double limit_seconds; // 0: none that is known
    char line[200];       // the last one of watch_line
    struct solve_event last;
    struct mem mem; // the copy below must not depend on the run's own memory limit
    struct arena arena;
    struct schedule best; // best.steps.n == 0: none yet
};

// `path` may be NULL. False: no thread could be started; everything else still works.
bool watch_open(struct watch *w, struct cli *c, const char *path, int64_t base_cost);
// A new search begins (there are several in a sweep): what the next lines are about.
void watch_begin(struct watch *w, int64_t budget_bytes);
void watch_begin_search(void *watch, int64_t budget_bytes); // the same, as a hook of solver/curve.h
void watch_base(struct watch *w, int64_t base_cost);        // what overhead is of
void watch_close(struct watch *w);                          // clears the live line, ends the thread

struct solve_hooks watch_hooks(struct watch *w);

// The search is given all the time that it needs to end after a signal. `save` is called every so
// often, by another thread: with -1, and after a signal with the seconds since then, until it
// returns true.
void watch_save(struct watch *w, bool (*save)(void *context, double seconds), void *context);

// For searches that are not of schedules: a line about what was found, which the live line repeats.
void watch_line(struct watch *w, const char *text);
// The same for a placement; where progress goes out as JSON, its numbers do.
void watch_placed(struct watch *w, const struct place_event *e, const char *text);
