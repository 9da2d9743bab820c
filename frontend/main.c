// The command `mfc`: signal handlers. The first Ctrl-C ends the search with the best result so far;
// a second one ends the process. SIGUSR1 does the same for the ranks of an MPI job: mpirun forwards
// it and does not kill the ranks afterwards.
#include <signal.h>
#include <stddef.h>

#include "frontend/cli/cli.h"

// A signal handler can reach only globals.
static struct stop stop = {.deadline_ns = STOP_NEVER};
static volatile sig_atomic_t n_signals; // the stop can also be raised without a signal

static void on_signal(int number) {
    if (n_signals++ > 0) {
        signal(number, SIG_DFL);
        raise(number);
    }
    stop_raise(&stop, number);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    return cli_main(argc, argv, &stop);
}
