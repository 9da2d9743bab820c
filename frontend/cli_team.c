// A team of processes over MPI: see cli_team.h.
//
// MPI by itself ends all processes when one dies, and its calls may wait for the dead for ever. So
// mpirun is told to let the others live (--enable-recovery), and here only calls are made that
// return at once: a thread of its own sends, receives, and says every now and then that it is
// alive. A member that has not been heard of for a while is taken for dead. Messages go in small
// pieces, which MPI keeps until they are fetched: none of them can get stuck half way between two
// processes, of which one is no more.
#include "frontend/cli_team.h"

#ifndef MFC_MPI

const char *cli_team_library(void) {
    return NULL;
}

struct team *cli_team_open(struct stop *stop) {
    (void)stop;
    return NULL;
}

bool cli_team_leads(struct team *t) {
    (void)t;
    return true;
}

bool cli_team_seems_to_lead(struct team *t) {
    (void)t;
    return true;
}

int cli_team_close(struct team *t, int code) {
    (void)t;
    return code;
}

#else

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/mem.h"

#define MS          1000000
#define TICK_NS     (2 * MS)               // how often the thread looks
#define BEAT_NS     (int64_t)(250 * MS)    // how often a member shows that it lives
#define SILENCE_NS  (int64_t)(5000LL * MS) // so long without a word: it is dead
#define LATE_NS     (int64_t)(400 * MS)    // it may be, when there is no time to wait
#define PATIENCE_NS (int64_t)(300 * MS)    // after a signal, for what others have still to say
#define ENDING_NS   (int64_t)(5000LL * MS) // for MPI to end

enum { TAG = 1, PIECE = 3072 };
enum kind { ALIVE, DATA, STOP, DONE };

struct message {
    struct message *next;
    size_t n_bytes; // of all: the header and what follows
    size_t n_done;  // sent or received so far
    struct header {
        int64_t kind, n_bytes; // n_bytes: of what follows
    } header;
};

struct queue {
    struct message *first, **end;
};

struct peer {
    bool is_dead, has_done;
    int64_t heard_ns, told_ns;
    struct queue out, in;    // what is to be sent; what has arrived
    struct message *partial; // what is arriving
    struct message *given;   // what the search looks at
    MPI_Request request;     // of the piece on its way
    size_t n_on_way;
};

struct mpi_team {
    struct team team;
    struct mem mem;
    struct stop *stop;
    struct peer *peer;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_ready, is_ending, has_told_stop;
    int64_t raised_ns; // when the signal was seen
};

const char *cli_team_library(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;
    MPI_Get_library_version(text, &n);
    text[strcspn(text, ",")] = 0;
    return text;
}

// ---- Messages ----

static struct message *message_make(struct mpi_team *t, enum kind kind, size_t n_bytes) {
    size_t size = sizeof(struct message) + n_bytes;
    struct message *m = mem_resize(&t->mem, NULL, 0, size);
    if (m)
        *m = (struct message){.n_bytes = sizeof m->header + n_bytes,
                              .header = {kind, (int64_t)n_bytes}};
    return m;
}

static void message_free(struct mpi_team *t, struct message *m) {
    if (m)
        mem_resize(&t->mem, m, sizeof *m - sizeof m->header + m->n_bytes, 0);
}

static char *message_bytes(struct message *m) { // with the header
    return (char *)&m->header;
}

static void queue_add(struct queue *q, struct message *m) {
    if (!q->first)
        q->end = &q->first;
    *q->end = m;
    q->end = &m->next;
}

static struct message *queue_take(struct queue *q) {
    struct message *m = q->first;
    if (m)
        q->first = m->next;
    return m;
}

// Without room for it the message is not sent; who waits for it will take this member for lost.
static void post(struct mpi_team *t, int32_t to, enum kind kind, const void *bytes,
                 size_t n_bytes) {
    struct message *m =
        to == t->team.rank || t->peer[to].is_dead ? NULL : message_make(t, kind, n_bytes);
    if (!m)
        return;
    if (n_bytes > 0)
        memcpy(message_bytes(m) + sizeof m->header, bytes, n_bytes);
    queue_add(&t->peer[to].out, m);
    t->peer[to].told_ns = stop_clock_ns();
}

static void post_all(struct mpi_team *t, enum kind kind, const void *bytes, size_t n_bytes) {
    for (int32_t to = 0; to < t->team.n; to++)
        post(t, to, kind, bytes, n_bytes);
}

// ---- The thread: all of MPI happens here, under the lock ----

static void send_pieces(struct mpi_team *t, int32_t to) {
    struct peer *p = &t->peer[to];
    while (!p->is_dead && p->out.first) {
        struct message *m = p->out.first;
        int arrived = 1;
        if (p->n_on_way > 0 && MPI_Test(&p->request, &arrived, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            !arrived)
            return;
        m->n_done += p->n_on_way;
        p->n_on_way = 0;
        if (m->n_done == m->n_bytes) {
            message_free(t, queue_take(&p->out));
            continue;
        }
        size_t left = m->n_bytes - m->n_done;
        p->n_on_way = left < PIECE ? left : PIECE;
        MPI_Isend(message_bytes(m) + m->n_done, (int)p->n_on_way, MPI_BYTE, to, TAG, MPI_COMM_WORLD,
                  &p->request);
    }
}

static void take_in(struct mpi_team *t, struct peer *p, struct message *m) {
    int reason;
    switch (m->header.kind) {
    case DATA:
        queue_add(&p->in, m);
        return;
    case STOP:
        memcpy(&reason, message_bytes(m) + sizeof m->header, sizeof reason);
        if (!stop_raised(t->stop))
            stop_raise(t->stop, reason);
        break;
    case DONE: // what this member may still be looking for is of no use any more
        p->has_done = true;
        if (!stop_raised(t->stop))
            stop_raise(t->stop, 1);
    }
    message_free(t, m);
}

static void receive_piece(struct mpi_team *t, int32_t from, int n_bytes) {
    struct peer *p = &t->peer[from];
    char piece[PIECE];
    struct header header;
    if (MPI_Recv(piece, n_bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return;
    p->heard_ns = stop_clock_ns();
    if (!p->partial) {
        memcpy(&header, piece, sizeof header);
        p->partial = message_make(t, (enum kind)header.kind, (size_t)header.n_bytes);
        p->is_dead = p->is_dead || !p->partial; // no room to listen
    }
    if (p->is_dead)
        return;
    memcpy(message_bytes(p->partial) + p->partial->n_done, piece, (size_t)n_bytes);
    p->partial->n_done += (size_t)n_bytes;
    if (p->partial->n_done < p->partial->n_bytes)
        return;
    take_in(t, p, p->partial);
    p->partial = NULL;
}

static void receive_pieces(struct mpi_team *t) {
    for (int there = 1; there;) {
        MPI_Status s;
        int n_bytes = 0;
        if (MPI_Iprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &there, &s) != MPI_SUCCESS || !there)
            return;
        MPI_Get_count(&s, MPI_BYTE, &n_bytes);
        receive_piece(t, s.MPI_SOURCE, n_bytes);
    }
}

static void look(struct mpi_team *t) {
    int64_t now = stop_clock_ns();
    int reason = atomic_load(&t->stop->raised);
    if (reason && !t->has_told_stop) {
        t->has_told_stop = true;
        t->raised_ns = now;
        post_all(t, STOP, &reason, sizeof reason);
    }
    receive_pieces(t);
    for (int32_t k = 0; k < t->team.n; k++) {
        struct peer *p = &t->peer[k];
        if (k == t->team.rank || p->is_dead)
            continue;
        p->is_dead = now - p->heard_ns > SILENCE_NS;
        if (now - p->told_ns > BEAT_NS && !p->out.first)
            post(t, k, ALIVE, NULL, 0);
        send_pieces(t, k);
    }
    pthread_cond_broadcast(&t->changed);
}

static bool all_is_sent(const struct mpi_team *t) {
    for (int32_t k = 0; k < t->team.n; k++)
        if (t->peer[k].out.first && !t->peer[k].is_dead)
            return false;
    return true;
}

static bool start(struct mpi_team *t) {
    int level, rank, n;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    t->team.rank = rank;
    t->team.n = n < TEAM_MOST ? n : TEAM_MOST;
    t->peer = mem_resize(&t->mem, NULL, 0, (size_t)n * sizeof *t->peer);
    for (int32_t k = 0; t->peer && k < n; k++)
        t->peer[k] = (struct peer){.heard_ns = stop_clock_ns()};
    return t->peer != NULL;
}

static void *serve(void *context) {
    struct mpi_team *t = context;
    bool ok = start(t);
    pthread_mutex_lock(&t->lock);
    t->is_ready = true;
    pthread_cond_broadcast(&t->changed);
    while (ok && !(t->is_ending && all_is_sent(t))) {
        look(t);
        pthread_mutex_unlock(&t->lock);
        nanosleep(&(struct timespec){.tv_nsec = TICK_NS}, NULL);
        pthread_mutex_lock(&t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    MPI_Finalize();
    return NULL;
}

// ---- What the search and the command call ----

static void send_to(void *context, int32_t to, const void *bytes, size_t n_bytes) {
    struct mpi_team *t = context;
    pthread_mutex_lock(&t->lock);
    post(t, to, DATA, bytes, n_bytes);
    pthread_mutex_unlock(&t->lock);
}

static const void *receive_from(void *context, int32_t from, size_t *n_bytes) {
    struct mpi_team *t = context;
    struct peer *p = &t->peer[from];
    pthread_mutex_lock(&t->lock);
    message_free(t, p->given);
    while (!(p->given = queue_take(&p->in)) && !p->is_dead &&
           !(t->has_told_stop && stop_clock_ns() - t->raised_ns > PATIENCE_NS))
        pthread_cond_wait(&t->changed, &t->lock);
    struct message *m = p->given;
    pthread_mutex_unlock(&t->lock);
    *n_bytes = m ? (size_t)m->header.n_bytes : 0;
    return m ? message_bytes(m) + sizeof m->header : NULL;
}

static void forget(struct mpi_team *t) {
    for (int32_t k = 0; t->peer && k < t->team.n; k++) {
        struct peer *p = &t->peer[k];
        message_free(t, p->partial);
        message_free(t, p->given);
        while (p->in.first)
            message_free(t, queue_take(&p->in));
        while (p->out.first)
            message_free(t, queue_take(&p->out));
    }
    mem_resize(&t->mem, t->peer, (size_t)t->team.n * sizeof *t->peer, 0);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

struct team *cli_team_open(struct stop *stop) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"); // what mpirun tells those that it starts
    struct mpi_team *t = size && atoi(size) > 1 ? calloc(1, sizeof *t) : NULL;
    if (!t)
        return NULL;
    t->mem = mem_make(MEM_UNLIMITED);
    t->stop = stop;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    if (pthread_create(&t->thread, NULL, serve, t) != 0) {
        forget(t);
        return NULL;
    }
    pthread_mutex_lock(&t->lock);
    while (!t->is_ready)
        pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    t->team.context = t;
    t->team.send = send_to;
    t->team.receive = receive_from;
    return t->peer ? &t->team : NULL;
}

bool cli_team_leads(struct team *team) {
    struct mpi_team *t = team ? team->context : NULL;
    bool someone_has = false, someone_will = false;
    if (!t)
        return true;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        someone_will = false;
        for (int32_t k = 0; k < team->n; k++) {
            someone_has = someone_has || t->peer[k].has_done;
            someone_will = someone_will || (k < team->rank && !t->peer[k].is_dead);
        }
        if (someone_has || !someone_will)
            break;
        pthread_cond_wait(&t->changed, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return !someone_has;
}

bool cli_team_seems_to_lead(struct team *team) {
    struct mpi_team *t = team ? team->context : NULL;
    bool someone_may = false;
    if (!t)
        return true;
    pthread_mutex_lock(&t->lock);
    for (int32_t k = 0; k < team->rank; k++)
        someone_may = someone_may || stop_clock_ns() - t->peer[k].heard_ns < LATE_NS;
    pthread_mutex_unlock(&t->lock);
    return !someone_may;
}

int cli_team_close(struct team *team, int code) {
    struct mpi_team *t = team ? team->context : NULL;
    struct timespec until;
    if (!t)
        return code;
    bool leads = cli_team_leads(team);
    pthread_mutex_lock(&t->lock);
    if (leads)
        post_all(t, DONE, NULL, 0);
    t->is_ending = true;
    pthread_mutex_unlock(&t->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ENDING_NS / (1000 * MS);
    if (pthread_timedjoin_np(t->thread, NULL, &until) != 0)
        _exit(code);
    forget(t);
    return code;
}

#endif
