// The parent's side of the CBC worker: starts it, exchanges messages over a socket (MSG_NOSIGNAL
// avoids SIGPIPE, which a pipe could not), enforces the deadline and the stop flag, and checks
// every answer against the model.
#include "solver/mip/worker.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

// Grace period after the deadline: CBC checks its clock rarely, and may ignore a limit near zero.
#define GRACE_NS   ((int64_t)700000000)
#define TICK_MS    20
#define EXIT_TICKS 25 // for a worker that has closed its end

extern char **environ;

struct watch {
    int fd;
    int64_t deadline_ns;
    const struct stop *stop;
    bool is_closed; // by the worker
};

// The end of both limits on time, and a grace period.
static int64_t deadline_ns(const struct cbc_limits *limits) {
    double seconds = limits->seconds > 0 ? limits->seconds : INFINITY;
    if (limits->stop)
        seconds = fmin(seconds, stop_seconds_left(limits->stop));
    return seconds < 1e9 ? stop_clock_ns() + (int64_t)(seconds * 1e9) + GRACE_NS : INT64_MAX;
}

static bool expired(const struct watch *w) {
    return stop_clock_ns() > w->deadline_ns || (w->stop && stop_raised(w->stop));
}

// Waits until the socket is ready. False: out of time, or stopped.
static bool wait_for(const struct watch *w, short what) {
    for (;;) {
        struct pollfd p = {.fd = w->fd, .events = what};
        int n = poll(&p, 1, TICK_MS);
        if (n > 0)
            return true;
        if ((n < 0 && errno != EINTR) || expired(w))
            return false;
    }
}

static bool send_all(const struct watch *w, const void *from, size_t n) {
    for (size_t sent = 0; sent < n;) {
        if (!wait_for(w, POLLOUT))
            return false;
        ssize_t k = send(w->fd, (const char *)from + sent, n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (k < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        sent += k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool receive_all(struct watch *w, void *to, size_t n) {
    for (size_t got = 0; got < n;) {
        if (!wait_for(w, POLLIN))
            return false;
        ssize_t k = recv(w->fd, (char *)to + got, n - got, MSG_DONTWAIT);
        w->is_closed = k == 0;
        if (k == 0 || (k < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        got += k > 0 ? (size_t)k : 0;
    }
    return true;
}

// Starts the worker in its own process group, so that Ctrl-C of the terminal does not reach it. Its
// standard input is the socket; standard output and error go to /dev/null. It inherits no other
// file, so that peers of this process, such as ranks of a team, see their connection close when
// this process ends, even while the worker still runs.
static bool start_worker(const char *path, int socket_fd, pid_t *pid) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    char *arguments[] = {(char *)path, (char *)WORKER_COMMAND, NULL};
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    if (posix_spawn_file_actions_init(&files))
        return false;
    if (posix_spawnattr_init(&attributes)) {
        posix_spawn_file_actions_destroy(&files);
        return false;
    }
    bool ok =
        !posix_spawn_file_actions_adddup2(&files, socket_fd, 0) &&
        !posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) &&
        !posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0) &&
        !posix_spawn_file_actions_addclosefrom_np(&files, 3) &&
        !posix_spawnattr_setpgroup(&attributes, 0) &&
        !posix_spawnattr_setsigmask(&attributes, &none) &&
        !posix_spawnattr_setsigdefault(&attributes, &all) &&
        !posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                   POSIX_SPAWN_SETSIGDEF) &&
        !posix_spawn(pid, path, &files, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

// A worker that has closed its end should exit by itself; after a while it is killed, as any other
// one is at once. True: it had run out of memory.
static bool end_worker(const struct watch *w, pid_t pid) {
    int state = 0;
    pid_t ended = 0;
    for (int i = 0; w->is_closed && ended == 0 && i < EXIT_TICKS; i++)
        if ((ended = waitpid(pid, &state, WNOHANG)) == 0)
            poll(NULL, 0, TICK_MS);
    if (ended == 0)
        kill(pid, SIGKILL);
    while (ended == 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(state) && WEXITSTATUS(state) == ST_LIMIT;
}

// What the gate has left; 0: it has no limit.
static int64_t memory_left(struct mem *mem) {
    int64_t left = mem->limit_bytes - atomic_load(&mem->used_bytes);
    return mem->limit_bytes == MEM_UNLIMITED ? 0 : left > 0 ? left : 1;
}

static bool send_model(const struct watch *w, const struct cbc_model *m, const double *initial,
                       const struct cbc_limits *limits, struct arena *scratch,
                       bool *out_of_memory) {
    struct worker_model_head h = {.magic = WORKER_MODEL_MAGIC,
                                  .memory_bytes = memory_left(scratch->mem),
                                  .seconds = limits->seconds,
                                  .gap = limits->gap,
                                  .n_nodes = limits->n_nodes,
                                  .n_cols = cbc_n_cols(m),
                                  .n_rows = cbc_n_rows(m),
                                  .n_terms = (int32_t)m->term_col.n,
                                  .has_initial = initial != NULL};
    struct worker_layout l = worker_layout(&h);
    char *body = arena_alloc(scratch, l.n_bytes);
    if (!body) {
        *out_of_memory = true;
        return false;
    }
    size_t cols = (size_t)h.n_cols, rows = (size_t)h.n_rows, terms = (size_t)h.n_terms;
    memcpy(body + l.col_lower, m->col_lower.at, cols * sizeof(double));
    memcpy(body + l.col_upper, m->col_upper.at, cols * sizeof(double));
    memcpy(body + l.col_cost, m->col_cost.at, cols * sizeof(double));
    memcpy(body + l.row_lower, m->row_lower.at, rows * sizeof(double));
    memcpy(body + l.row_upper, m->row_upper.at, rows * sizeof(double));
    memcpy(body + l.term_value, m->term_value.at, terms * sizeof(double));
    memcpy(body + l.row_start, m->row_start.at, rows * sizeof(int32_t));
    memcpy(body + l.term_col, m->term_col.at, terms * sizeof(int32_t));
    memcpy(body + l.col_integer, m->col_integer.at, cols);
    if (initial)
        memcpy(body + l.initial, initial, cols * sizeof(double));
    h.body_bytes = (int64_t)l.n_bytes;
    h.hash = worker_hash(&h, sizeof h, body, l.n_bytes);
    return send_all(w, &h, sizeof h) && send_all(w, body, l.n_bytes);
}

// Accepts an answer that passes the checks: x is feasible for the model, and the bound does not
// exceed the objective, which is recomputed here. Any other answer is discarded.
static void accept_answer(const struct cbc_model *m, const struct worker_answer_head *h, double *x,
                          struct cbc_answer *out) {
    bool has_x = h->result == CBC_OPTIMAL || h->result == CBC_FEASIBLE;
    if (isnan(h->bound) || has_x != (h->n_cols > 0 || cbc_n_cols(m) == 0))
        return;
    double objective = 0;
    for (int32_t j = 0; has_x && j < h->n_cols; j++)
        objective += m->col_cost.at[j] * x[j];
    if (has_x &&
        (cbc_violation(m, x) > 1e-5 || h->bound > objective + 1e-6 * fmax(1, fabs(objective))))
        return;
    *out = (struct cbc_answer){.result = (enum cbc_result)h->result,
                               .objective = objective,
                               .bound = h->bound,
                               .n_nodes = h->n_nodes,
                               .n_iterations = h->n_iterations,
                               .x = has_x ? x : NULL};
}

static bool receive_answer(struct watch *w, const struct cbc_model *m, struct arena *a,
                           struct cbc_answer *out) {
    struct worker_answer_head h;
    if (!receive_all(w, &h, sizeof h) || h.magic != WORKER_ANSWER_MAGIC || h.result < CBC_UNKNOWN ||
        h.result > CBC_INFEASIBLE || (h.n_cols != 0 && h.n_cols != cbc_n_cols(m)) ||
        h.body_bytes != (int64_t)h.n_cols * (int64_t)sizeof(double))
        return true;
    double *x = ARENA_ARRAY(a, double, h.n_cols);
    if (!x)
        return false;
    uint64_t hash = h.hash;
    h.hash = 0;
    if (receive_all(w, x, (size_t)h.body_bytes) &&
        worker_hash(&h, sizeof h, x, (size_t)h.body_bytes) == hash)
        accept_answer(m, &h, x, out);
    return true;
}

bool worker_mip(const struct cbc_model *m, const double *initial, const struct cbc_limits *limits,
                struct arena *a, struct cbc_answer *out) {
    assert(m && limits && limits->worker_path && a && out);
    *out = (struct cbc_answer){.bound = -CBC_INF};
    if (m->out_of_memory)
        return false;
    int fds[2];
    pid_t pid;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
        return true;
    struct watch w = {.fd = fds[0], .deadline_ns = deadline_ns(limits), .stop = limits->stop};
    bool out_of_memory = false;
    if (start_worker(limits->worker_path, fds[1], &pid)) {
        struct arena scratch = arena_make(a->mem);
        close(fds[1]);
        fds[1] = -1;
        if (send_model(&w, m, initial, limits, &scratch, &out_of_memory))
            out_of_memory = !receive_answer(&w, m, a, out);
        out_of_memory = end_worker(&w, pid) || out_of_memory;
        arena_free(&scratch);
    }
    if (fds[1] >= 0)
        close(fds[1]);
    close(fds[0]);
    return !out_of_memory;
}
