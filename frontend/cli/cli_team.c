// The ranks of an MPI job: see cli_team.h.
//
// A rank that dies ends the job: mpirun ends the other ranks, and what is lost is what was found
// since rank 0 saved the incumbent (cli_best.h), a second ago at most. A rank that fails lives on
// in cli_team_close, where it answers every message by an empty one until all ranks are there. So
// no rank waits for one that will never send.
//
// Waiting is by probing and sleeping: a blocking call of MPI keeps a processor busy that a chain of
// another rank may need. Only the thread that has opened the team calls MPI.
#include "frontend/cli/cli_team.h"

#ifndef MFC_MPI

const char *cli_team_library(void) {
    return NULL;
}

struct team *cli_team_open(struct stop *stop) {
    (void)stop;
    return NULL;
}

void cli_team_close(struct team *t) {
    (void)t;
}

#else

#define OMPI_SKIP_MPICXX 1
#include <assert.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/base/mem.h"
#include "ir/base/status.h"

#define PROBE_NS 500000 // between two probes for a message

enum tag { REPORT, FAILED };

struct mpi_team {
    struct team team;
    struct stop *stop;
    struct mem mem;
    char *received; // the last message
    size_t cap_received;
};

const char *cli_team_library(void) {
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0;
    MPI_Get_library_version(text, &n);
    text[strcspn(text, ",")] = 0;
    return text;
}

static void pause_probing(void) {
    nanosleep(&(struct timespec){.tv_nsec = PROBE_NS}, NULL);
}

static void wait_for_message(int32_t peer, MPI_Status *message) {
    for (int is_there = 0;; pause_probing()) {
        MPI_Iprobe(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, message);
        if (is_there)
            return;
    }
}

static void wait_for_request(MPI_Request *request) {
    for (int is_done = 0;; pause_probing()) {
        MPI_Test(request, &is_done, MPI_STATUS_IGNORE);
        if (is_done)
            return;
    }
}

// Receives a message that is there. Without memory for it the job cannot go on.
static size_t receive(struct mpi_team *t, const MPI_Status *message) {
    int n_bytes = 0;
    MPI_Get_count(message, MPI_BYTE, &n_bytes);
    if ((size_t)n_bytes > t->cap_received) {
        char *grown = mem_resize(&t->mem, t->received, t->cap_received, (size_t)n_bytes);
        if (!grown)
            MPI_Abort(MPI_COMM_WORLD, ST_LIMIT);
        t->received = grown;
        t->cap_received = (size_t)n_bytes;
    }
    MPI_Recv(t->received, n_bytes, MPI_BYTE, message->MPI_SOURCE, message->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return (size_t)n_bytes;
}

static const void *exchange(void *context, int32_t peer, const void *bytes, size_t n_bytes,
                            size_t *n_received) {
    struct mpi_team *t = context;
    MPI_Request sent;
    MPI_Status message;
    assert(n_bytes <= INT_MAX);
    MPI_Isend(bytes, (int)n_bytes, MPI_BYTE, peer, REPORT, MPI_COMM_WORLD, &sent);
    wait_for_message(peer, &message);
    *n_received = receive(t, &message);
    wait_for_request(&sent); // a rank that has failed receives it, too
    if (message.MPI_TAG == REPORT)
        return t->received;
    if (peer == 0 && !stop_raised(t->stop)) // without rank 0 nothing is written
        stop_raise(t->stop, 1);
    return NULL;
}

struct team *cli_team_open(struct stop *stop) {
    const char *size = getenv("OMPI_COMM_WORLD_SIZE"); // mpirun sets it
    struct mpi_team *t = size && strtol(size, NULL, 10) > 1 ? calloc(1, sizeof *t) : NULL;
    int level, rank, n;
    if (!t)
        return NULL;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    t->mem = mem_make(MEM_UNLIMITED);
    t->stop = stop;
    t->team = (struct team){.rank = rank, .n = n, .context = t, .exchange = exchange};
    return &t->team;
}

void cli_team_close(struct team *team) {
    struct mpi_team *t = team ? team->context : NULL;
    MPI_Request all;
    if (!t)
        return;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int are_here = 0;; pause_probing()) {
        MPI_Status message;
        int is_there = 0;
        MPI_Test(&all, &are_here, MPI_STATUS_IGNORE);
        if (are_here)
            break;
        MPI_Iprobe(MPI_ANY_SOURCE, REPORT, MPI_COMM_WORLD, &is_there, &message);
        if (is_there) {
            receive(t, &message);
            MPI_Send(NULL, 0, MPI_BYTE, message.MPI_SOURCE, FAILED, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    mem_resize(&t->mem, t->received, t->cap_received, 0);
    free(t);
}

#endif

bool cli_team_leads(const struct team *t) {
    return !t || t->rank == 0;
}
