// `mfc __worker`: the process in which CBC runs (solver/mip/worker.h). For mfc's own use: it reads
// a model from the socket that is its standard input, answers on the same, and ends.
#include <signal.h>
#include <sys/prctl.h>

#include "frontend/cli/cli.h"
#include "solver/mip/worker.h"

static status run(struct cli *c) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); // no result is wanted any more
    return worker_serve(0, &c->mem);
}

const struct command cmd_worker = {
    .name = WORKER_COMMAND,
    .summary = "solve an integer program for another mfc process",
    .run = run,
    .hidden = true,
};
