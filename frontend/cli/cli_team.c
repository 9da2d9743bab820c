// A team of processes that mpirun has started: see cli_team.h.
//
// MPI tells how many there are and takes their cards around; what they say to each other goes over
// sockets (cli_link.h). For Open MPI 4.1 ends a process that has a message on the way over TCP to
// one that dies, and mpirun then ends all; and nothing promises that its queues in shared memory
// still work when who was changing them is no more. So after the cards no call of MPI is made until
// the end, and then only if all have lived to see it. mpirun is told to let the others live
// (--enable-recovery). A thread of its own sends, receives, and says every now and then that it is
// alive. Dead is who is no more, which the system of its host tells at once; or who has not been
// heard of for a while.
#include "frontend/cli/cli_team.h"

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
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "frontend/cli/cli_post.h"

#define MS          1000000
#define TICK_MS     2                       // how often the thread looks, at least
#define LAPSE_NS    (int64_t)(100 * MS)     // it was kept from looking for longer: time stood still
#define MEETING_NS  (int64_t)(5000LL * MS)  // for all to find each other, before the work begins
#define BEAT_NS     (int64_t)(250 * MS)     // how often a member shows that it lives
#define SILENCE_NS  (int64_t)(20000LL * MS) // so long without a word: it is dead
#define LATE_NS     (int64_t)(400 * MS)     // it may be, when there is no time to wait
#define PATIENCE_NS (int64_t)(300 * MS)     // after a signal, for what others have still to say
#define PARTING_NS  (int64_t)(5000LL * MS)  // for the others to hear that all is done
#define ENDING_NS   (int64_t)(10000LL * MS) // for that and MPI to end

enum kind { ALIVE, DATA, STOP, DONE };

struct peer {
    bool is_dead;  // or has left: nothing will come any more
    bool has_done; // knows that the result is out
    int64_t heard_ns, told_ns;
    struct cli_post post;
    struct cli_queue in;       // what has arrived
    struct cli_message *given; // what the search looks at
};

struct mpi_team {
    struct team team;
    struct mem mem;
    struct arena arena;
    struct stop *stop;
    struct peer *peer;
    struct cli_links links; // the thread's alone
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_ready, is_ending, has_told_stop;
    int64_t looked_ns, clock_ns;  // of the last look; time that this thread has been watching
    int64_t raised_ns, ending_ns; // when the signal was seen, and the end
};

const char *cli_team_library(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;
    MPI_Get_library_version(text, &n);
    text[strcspn(text, ",")] = 0;
    return text;
}

// Without room for it the message is not sent; who waits for it will take this member for lost.
static void post(struct mpi_team *t, int32_t to, enum kind kind, const void *bytes,
                 size_t n_bytes) {
    struct peer *p = &t->peer[to];
    if (to != t->team.rank && !p->is_dead && cli_post_put(&t->mem, &p->post, kind, bytes, n_bytes))
        p->told_ns = t->clock_ns;
}

static void post_all(struct mpi_team *t, enum kind kind, const void *bytes, size_t n_bytes) {
    for (int32_t to = 0; to < t->team.n; to++)
        post(t, to, kind, bytes, n_bytes);
}

// ---- The thread: all of MPI and all of the sockets, under the lock ----

static void take_in(struct mpi_team *t, struct peer *p, struct cli_message *m) {
    int reason = 0;
    switch (m->header.kind) {
    case DATA:
        cli_post_add(&p->in, m);
        return;
    case STOP:
        if (m->header.n_bytes == sizeof reason)
            memcpy(&reason, m->bytes, sizeof reason);
        if (reason && !stop_raised(t->stop))
            stop_raise(t->stop, reason);
        break;
    case DONE: // what this member may still be looking for is of no use any more
        p->has_done = true;
        if (!stop_raised(t->stop))
            stop_raise(t->stop, 1);
    }
    cli_post_free(&t->mem, m);
}

static void receive_messages(struct mpi_team *t, int32_t from) {
    struct peer *p = &t->peer[from];
    struct cli_message *m;
    do {
        bool heard;
        m = cli_post_receive(&t->mem, &p->post, &t->links, from, &heard);
        if (heard)
            p->heard_ns = t->clock_ns;
        if (m)
            take_in(t, p, m);
    } while (m);
}

// A thread that gets no processor, or a machine that is halted, must not take the others for dead.
static void advance_clock(struct mpi_team *t, int64_t now) {
    int64_t since = now - t->looked_ns;
    t->clock_ns += since < LAPSE_NS ? since : LAPSE_NS;
    t->looked_ns = now;
}

// Then a death will be known at once.
static bool all_were_heard(const struct mpi_team *t) {
    for (int32_t k = 0; k < t->team.n; k++)
        if (k != t->team.rank && t->peer[k].heard_ns == 0 && !t->peer[k].is_dead)
            return t->clock_ns > MEETING_NS;
    return true;
}

static void look(struct mpi_team *t) {
    int reason = atomic_load(&t->stop->raised);
    advance_clock(t, stop_clock_ns());
    if (reason && !t->has_told_stop) {
        t->has_told_stop = true;
        t->raised_ns = stop_clock_ns();
        post_all(t, STOP, &reason, sizeof reason);
    }
    cli_link_meet(&t->links);
    for (int32_t k = 0; k < t->team.n; k++) {
        struct peer *p = &t->peer[k];
        if (k == t->team.rank || p->is_dead)
            continue;
        receive_messages(t, k);
        if (t->clock_ns - p->heard_ns > SILENCE_NS)
            cli_link_break(&t->links, k);
        p->is_dead = cli_link_is_broken(&t->links, k);
        if (t->clock_ns - p->told_ns > BEAT_NS && !p->post.out.first)
            post(t, k, ALIVE, NULL, 0);
        cli_post_send(&t->mem, &p->post, &t->links, k);
    }
    t->is_ready = t->is_ready || all_were_heard(t);
    pthread_cond_broadcast(&t->changed);
}

// Everybody who lives has said so; or it takes too long.
static bool all_have_done(const struct mpi_team *t) {
    for (int32_t k = 0; k < t->team.n; k++)
        if (k != t->team.rank && !t->peer[k].is_dead &&
            !(t->peer[k].has_done && !t->peer[k].post.out.first))
            return stop_clock_ns() - t->ending_ns > PARTING_NS;
    return true;
}

static bool all_have_lived(const struct mpi_team *t) {
    for (int32_t k = 0; k < t->team.n; k++)
        if (k != t->team.rank && !t->peer[k].has_done)
            return false;
    return true;
}

static void allow_sockets(int n) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < (rlim_t)n + 256) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
}

static bool start(struct mpi_team *t) {
    struct cli_link_card own;
    int level, rank, n;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    allow_sockets(n);
    cli_link_listen(&t->links, &own); // who cannot is not heard, and dead to the others
    struct cli_link_card *cards = ARENA_ARRAY(&t->arena, struct cli_link_card, n);
    struct peer *peer = ARENA_ARRAY(&t->arena, struct peer, n);
    if (!cards || !peer ||
        MPI_Allgather(&own, sizeof own, MPI_BYTE, cards, sizeof own, MPI_BYTE, MPI_COMM_WORLD) !=
            MPI_SUCCESS)
        return false;
    t->team.rank = rank;
    t->team.n = n < TEAM_MOST ? n : TEAM_MOST;
    t->looked_ns = stop_clock_ns() - 1; // 0 on this clock is never
    t->peer = cli_link_begin(&t->links, rank, t->team.n, cards, &t->arena) ? peer : NULL;
    return t->peer != NULL;
}

static void *serve(void *context) {
    struct mpi_team *t = context;
    bool ok = start(t);
    pthread_mutex_lock(&t->lock);
    t->is_ready = !ok;
    if (ok)
        post_all(t, ALIVE, NULL, 0);
    pthread_cond_broadcast(&t->changed);
    while (ok && !(t->is_ending && all_have_done(t))) {
        look(t);
        pthread_mutex_unlock(&t->lock);
        cli_link_wait(&t->links, TICK_MS);
        pthread_mutex_lock(&t->lock);
    }
    bool is_whole = !ok || all_have_lived(t);
    pthread_mutex_unlock(&t->lock);
    cli_link_close(&t->links);
    if (is_whole)
        MPI_Finalize();
    return is_whole ? t : NULL;
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
    cli_post_free(&t->mem, p->given);
    while (!(p->given = cli_post_take(&p->in)) && !p->is_dead &&
           !(t->has_told_stop && stop_clock_ns() - t->raised_ns > PATIENCE_NS))
        pthread_cond_wait(&t->changed, &t->lock);
    struct cli_message *m = p->given;
    pthread_mutex_unlock(&t->lock);
    *n_bytes = m ? (size_t)m->header.n_bytes : 0;
    return m ? m->bytes : NULL;
}

static void forget(struct mpi_team *t) {
    for (int32_t k = 0; t->peer && k < t->team.n; k++) {
        struct peer *p = &t->peer[k];
        cli_post_close(&t->mem, &p->post);
        cli_post_free(&t->mem, p->given);
        while (p->in.first)
            cli_post_free(&t->mem, cli_post_take(&p->in));
    }
    arena_free(&t->arena);
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
    t->arena = arena_make(&t->mem);
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
        someone_may =
            someone_may || (!t->peer[k].is_dead && t->clock_ns - t->peer[k].heard_ns < LATE_NS);
    pthread_mutex_unlock(&t->lock);
    return !someone_may;
}

int cli_team_close(struct team *team, int code) {
    struct mpi_team *t = team ? team->context : NULL;
    struct timespec until;
    void *whole = NULL;
    if (!t)
        return code;
    cli_team_leads(team); // waits until the result is out
    pthread_mutex_lock(&t->lock);
    post_all(t, DONE, NULL, 0); // perhaps who leads has died before it told all
    t->is_ending = true;
    t->ending_ns = stop_clock_ns();
    pthread_mutex_unlock(&t->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ENDING_NS / (1000 * MS);
    if (pthread_timedjoin_np(t->thread, &whole, &until) != 0 || !whole)
        _exit(code); // MPI would wait for the dead
    forget(t);
    return code;
}

#endif
