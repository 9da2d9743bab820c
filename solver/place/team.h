// Processes that search together: what the placement search needs of whatever connects them.
//
// The ranks of a team run the same search and exchange messages in pairs. Both ranks of a pair call
// `exchange` for each other, each the same number of times, and each goes through its peers in
// ascending order: so a blocking implementation cannot deadlock. frontend/cli/cli_team.c implements
// it with MPI.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct team {
    int32_t rank, n; // this process, and how many there are
    void *context;
    // Sends a message to a peer, and waits for the one that it sends; that is valid until the next
    // call. NULL: the peer has left the search, because it failed.
    const void *(*exchange)(void *context, int32_t peer, const void *bytes, size_t n_bytes,
                            size_t *n_received);
};
