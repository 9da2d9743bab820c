// Streams of bytes between the members of a team, over TCP.
//
// Whoever starts the members exchanges their cards, which tell where each of them listens. Of two
// members the higher number calls the lower. Only cli_link_wait waits; everything else does what
// can be done now. A stream whose other end has died or left is broken, as soon as the system has
// told so: nothing else happens to this process, and nothing to the other streams.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/mem.h"

enum { CLI_LINK_ADDRESSES = 16, CLI_LINK_SECRET = 16, CLI_LINK_STRANGERS = 64 };

struct cli_link_card {
    uint8_t secret[CLI_LINK_SECRET]; // that of the first member is the team's
    uint16_t port, n_addresses;
    struct in6_addr address[CLI_LINK_ADDRESSES]; // IPv4 as ::ffff:a.b.c.d
};

struct cli_link { // to one member
    enum {
        CLI_LINK_APART,
        CLI_LINK_CALLED,
        CLI_LINK_GREETED,
        CLI_LINK_OPEN,
        CLI_LINK_BROKEN
    } state;
    int fd;
    int32_t n_calls;
    int64_t since_ns; // in this state
    bool is_mute;     // nothing can be sent any more
};

struct cli_links {
    int32_t rank, n;
    int listener;
    struct cli_link *at;
    const struct cli_link_card *card;
    struct pollfd *polled;
    struct {
        int fd; // has called, and not yet said who it is
        int64_t since_ns;
    } stranger[CLI_LINK_STRANGERS];
    int32_t n_strangers;
};

// Makes this member's card. False: the system has no socket for it.
bool cli_link_listen(struct cli_links *l, struct cli_link_card *own);

// With the cards of all, which stay with the caller. False: no room.
bool cli_link_begin(struct cli_links *l, int32_t rank, int32_t n, const struct cli_link_card *card,
                    struct arena *a);

void cli_link_meet(struct cli_links *l); // calls and answers calls; to be repeated

// How many bytes were taken or given; 0: none can be now. What is sent into a stream that is
// breaking is taken and lost: that it is broken shows when everything that came in has been read.
size_t cli_link_send(struct cli_links *l, int32_t to, const void *bytes, size_t n);
size_t cli_link_receive(struct cli_links *l, int32_t from, void *bytes, size_t n);
bool cli_link_is_broken(const struct cli_links *l, int32_t member);

void cli_link_break(struct cli_links *l, int32_t member);  // nothing more is expected of it
void cli_link_wait(struct cli_links *l, int milliseconds); // until something comes in
void cli_link_close(struct cli_links *l);
