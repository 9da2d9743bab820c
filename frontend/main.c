// The command `mfc`: signals and nothing else. The first Ctrl-C asks the run to end with the best
// it has; a second one ends the process. SIGUSR1 is the same for those who cannot send it SIGINT:
// mpirun passes it on, and does not kill anybody a second later.
#include <signal.h>
#include <stddef.h>

#include "frontend/cli/cli.h"

// A signal handler can reach nothing else than a global.
static struct stop stop = {.deadline_ns = STOP_NEVER};
static volatile sig_atomic_t n_signals; // others, too, raise the stop

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
