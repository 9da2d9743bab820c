// Processes that search together: what the placement search needs of whatever connects them.
//
// Members send each other messages, which arrive whole and in order, or not at all: a member may
// die at any time, and the others go on. There may be several, on several hosts; who implements it
// (frontend/cli/cli_team.c does, with MPI) decides how a dead member is told from a slow one.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEAM_MOST = 1024 };

struct team {
    int32_t rank, n; // this member's number, and of how many
    void *context;
    // Returns at once; `bytes` may be reused. To the dead nothing is sent.
    void (*send)(void *context, int32_t to, const void *bytes, size_t n_bytes);
    // Waits for the next message of a member; it is valid until the next call for the same member.
    // NULL: there will be none, for it is dead, or everybody is asked to end at once.
    const void *(*receive)(void *context, int32_t from, size_t *n_bytes);
};
