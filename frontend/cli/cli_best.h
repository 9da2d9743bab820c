// The best strategy so far, kept in the output file while the search goes on: whatever ends the
// process, or all of them, what was known a moment before is there.
//
// Every second or so, and at once after a signal, what is new is checked and written, whole or not
// at all; of the ranks of an MPI job by the first. A file with something at least as good for the
// same problem is left as it is. What the search ends with is written by who has asked for it.
#pragma once

#include <pthread.h>
#include <sys/stat.h>

#include "frontend/cli/cli.h"
#include "solver/place.h"

struct cli_best {
    struct cli *cli;
    const struct placement *p;
    const struct mcmc_objective *objective;
    const char *path; // NULL: nowhere
    pthread_mutex_t lock;
    struct arena arena;     // of the newest; new and old are under --memory-limit
    struct strategy newest; // newest.n = 0: all that was found is saved
    bool has_saved;
    double saved_value;         // what the file has, if it is this process's
    struct stat own;            // the file as it was written here; st_ino = 0: none
    int64_t saved_ns, pause_ns; // when, and how long until the next time
};

void cli_best_open(struct cli_best *b, struct cli *c, const struct placement *p,
                   const struct mcmc_objective *objective, const char *path);
void cli_best_keep(struct cli_best *b, const struct strategy *best);
// For watch_save: `seconds` since the signal; below 0: there was none.
bool cli_best_save(void *best, double seconds);
void cli_best_close(struct cli_best *b);
