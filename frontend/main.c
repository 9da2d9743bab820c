// The command `mfc`: standard descriptors and signal handlers. The first Ctrl-C ends the search
// with the best result so far; a second one ends the process. SIGUSR1 does the same for the ranks
// of an MPI job: mpirun forwards it and does not kill the ranks afterwards.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

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

// A closed standard descriptor would be the next file that is opened, and messages would be written
// into it. Results that nobody can receive stay an error: what is opened in their place refuses
// reads or writes.
static bool open_standard(void) {
    static const int flags[] = {O_WRONLY, O_RDONLY, O_RDWR};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", flags[fd]) != fd)
            return false;
    return true;
}

int main(int argc, char **argv) {
    if (!open_standard())
        return ST_IO;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGXFSZ, SIG_IGN); // a write beyond the limit of file sizes is an error as any other
    return cli_main(argc, argv, &stop);
}
