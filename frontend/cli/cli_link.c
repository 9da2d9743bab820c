// Streams between members: see cli_link.h.
//
// An address on a card may be out of reach, or that of another machine (bridges have the same one
// everywhere), and the port there another program's. So the addresses are tried one after the
// other until one answers with the team's secret and the right number; and a caller is listened to
// only after it has named them. The called one says nothing before the caller's first word: until
// then the caller may have given up and call again.
#include "frontend/cli/cli_link.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ir/base/stop.h"

#define MS       1000000
#define CALL_NS  (int64_t)(1000LL * MS) // for one address to answer
#define PAUSE_NS (int64_t)(20 * MS)     // before the next is called
#define GREET_NS (int64_t)(5000LL * MS) // for a stranger to say who it is

struct greeting {
    uint8_t secret[CLI_LINK_SECRET];
    int32_t from, to;
};

// ---- Addresses ----

static struct in6_addr mapped(struct in_addr v4) {
    struct in6_addr a = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&a.s6_addr[12], &v4, sizeof v4);
    return a;
}

static void add_address(struct cli_link_card *c, struct in6_addr a) {
    if (c->n_addresses < CLI_LINK_ADDRESSES)
        c->address[c->n_addresses++] = a;
}

// Those that others may reach, IPv4 first; last the one that is for this machine alone.
static void add_addresses(struct cli_link_card *c) {
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0)
        all = NULL;
    for (int family = 0; family < 2; family++)
        for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
            if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK) ||
                c->n_addresses + 1 == CLI_LINK_ADDRESSES)
                continue;
            if (family == 0 && i->ifa_addr->sa_family == AF_INET)
                add_address(c, mapped(((const struct sockaddr_in *)(void *)i->ifa_addr)->sin_addr));
            if (family == 1 && i->ifa_addr->sa_family == AF_INET6) {
                struct in6_addr a = ((const struct sockaddr_in6 *)(void *)i->ifa_addr)->sin6_addr;
                if (!IN6_IS_ADDR_LINKLOCAL(&a)) // which needs an interface that is not ours to know
                    add_address(c, a);
            }
        }
    freeifaddrs(all);
    add_address(c, mapped((struct in_addr){htonl(INADDR_LOOPBACK)}));
}

// Returns the size of what was filled in.
static socklen_t socket_address(struct in6_addr a, uint16_t port, struct sockaddr_storage *out) {
    *out = (struct sockaddr_storage){0};
    if (!IN6_IS_ADDR_V4MAPPED(&a)) {
        struct sockaddr_in6 v6 = {
            .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = a};
        memcpy(out, &v6, sizeof v6);
        return sizeof v6;
    }
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    memcpy(&v4.sin_addr, &a.s6_addr[12], sizeof v4.sin_addr);
    memcpy(out, &v4, sizeof v4);
    return sizeof v4;
}

// ---- Listening ----

// A listener of this family at a port of the system's choice; -1: there is none.
static int listen_on(struct in6_addr any, uint16_t *port) {
    struct sockaddr_storage at;
    socklen_t n = socket_address(any, 0, &at);
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), off = 0;
    if (fd < 0)
        return -1;
    if (at.ss_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, (struct sockaddr *)&at, n) != 0 || listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &n) != 0) {
        close(fd);
        return -1;
    }
    struct sockaddr_in6 v6; // the port is where it is in IPv4's
    memcpy(&v6, &at, sizeof v6);
    *port = ntohs(v6.sin6_port);
    return fd;
}

bool cli_link_listen(struct cli_links *l, struct cli_link_card *own) {
    *l = (struct cli_links){.listener = -1};
    *own = (struct cli_link_card){0};
    if (getrandom(own->secret, sizeof own->secret, 0) != sizeof own->secret)
        return false;
    l->listener = listen_on(in6addr_any, &own->port); // and IPv4, too
    if (l->listener < 0)
        l->listener = listen_on(mapped((struct in_addr){htonl(INADDR_ANY)}), &own->port);
    add_addresses(own);
    return l->listener >= 0;
}

bool cli_link_begin(struct cli_links *l, int32_t rank, int32_t n, const struct cli_link_card *card,
                    struct arena *a) {
    l->rank = rank;
    l->card = card;
    l->at = ARENA_ARRAY(a, struct cli_link, n);
    l->polled = ARENA_ARRAY(a, struct pollfd, n);
    if (!l->at || !l->polled)
        return false;
    l->n = n;
    for (int32_t k = 0; k < n; k++)
        l->at[k].fd = -1;
    return true;
}

// ---- Meeting ----

static void set_state(struct cli_link *k, int state) {
    if (state == CLI_LINK_APART || state == CLI_LINK_BROKEN) {
        if (k->fd >= 0)
            close(k->fd);
        k->fd = -1;
    }
    k->state = state;
    k->since_ns = stop_clock_ns();
}

static bool greet(const struct cli_links *l, int fd, int32_t to) {
    struct greeting g = {.from = l->rank, .to = to};
    int on = 1;
    memcpy(g.secret, l->card[0].secret, sizeof g.secret);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return send(fd, &g, sizeof g, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof g;
}

// Who is at the other end: its number; -1: nobody of ours; `l->n`: it has not said it yet.
static int32_t hear_greeting(const struct cli_links *l, int fd) {
    struct greeting g;
    ssize_t n = recv(fd, &g, sizeof g, MSG_PEEK | MSG_DONTWAIT);
    if ((n < 0 && (errno == EAGAIN || errno == EINTR)) || (n > 0 && n < (ssize_t)sizeof g))
        return l->n;
    if (n != sizeof g || memcmp(g.secret, l->card[0].secret, sizeof g.secret) != 0 ||
        g.to != l->rank || g.from < 0 || g.from >= l->n || g.from == l->rank)
        return -1;
    return recv(fd, &g, sizeof g, MSG_DONTWAIT) == sizeof g ? g.from : -1;
}

static void start_call(struct cli_links *l, int32_t to) {
    const struct cli_link_card *c = &l->card[to];
    struct cli_link *k = &l->at[to];
    struct sockaddr_storage at;
    if (c->n_addresses == 0 || (k->n_calls > 0 && stop_clock_ns() - k->since_ns < PAUSE_NS))
        return;
    socklen_t n = socket_address(c->address[k->n_calls++ % c->n_addresses], c->port, &at);
    k->fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool ok =
        k->fd >= 0 && (connect(k->fd, (struct sockaddr *)&at, n) == 0 || errno == EINPROGRESS);
    set_state(k, ok ? CLI_LINK_CALLED : CLI_LINK_APART);
}

static bool is_connected(int fd, bool *failed) {
    struct pollfd p = {fd, POLLOUT, 0};
    int error = 0;
    socklen_t n = sizeof error;
    if (poll(&p, 1, 0) <= 0)
        return false;
    *failed = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 || error != 0;
    return !*failed;
}

static void go_on_calling(struct cli_links *l, int32_t to) {
    struct cli_link *k = &l->at[to];
    bool failed = stop_clock_ns() - k->since_ns > CALL_NS;
    if (k->state == CLI_LINK_CALLED && is_connected(k->fd, &failed)) {
        failed = !greet(l, k->fd, to);
        set_state(k, CLI_LINK_GREETED);
    }
    if (k->state == CLI_LINK_GREETED && !failed) {
        int32_t from = hear_greeting(l, k->fd);
        if (from == to)
            set_state(k, CLI_LINK_OPEN);
        failed = from != to && from != l->n;
    }
    if (failed)
        set_state(k, CLI_LINK_APART);
}

// A caller that is awaited; it opens with its first word. True: `fd` is in good hands.
static bool answer(struct cli_links *l, int fd, int32_t from) {
    if (from < 0 || from <= l->rank || l->at[from].state == CLI_LINK_OPEN ||
        l->at[from].state == CLI_LINK_BROKEN || !greet(l, fd, from))
        return false;
    set_state(&l->at[from], CLI_LINK_APART); // from which it has called before
    l->at[from].fd = fd;
    set_state(&l->at[from], CLI_LINK_GREETED);
    return true;
}

static void answer_calls(struct cli_links *l) {
    int64_t now = stop_clock_ns();
    int fd;
    while (l->n_strangers < CLI_LINK_STRANGERS &&
           (fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        l->stranger[l->n_strangers].fd = fd;
        l->stranger[l->n_strangers++].since_ns = now;
    }
    for (int32_t i = l->n_strangers - 1; i >= 0; i--) {
        int32_t from = hear_greeting(l, l->stranger[i].fd);
        if (from == l->n && now - l->stranger[i].since_ns < GREET_NS)
            continue;
        if (from == l->n || !answer(l, l->stranger[i].fd, from))
            close(l->stranger[i].fd);
        l->stranger[i] = l->stranger[--l->n_strangers];
    }
}

void cli_link_meet(struct cli_links *l) {
    if (l->listener < 0)
        return;
    answer_calls(l);
    bool all = true;
    for (int32_t k = 0; k < l->n; k++) {
        struct cli_link *x = &l->at[k];
        if (k == l->rank || x->state == CLI_LINK_OPEN || x->state == CLI_LINK_BROKEN)
            continue;
        all = false;
        if (k < l->rank && x->state == CLI_LINK_APART)
            start_call(l, k);
        else if (k < l->rank)
            go_on_calling(l, k);
    }
    if (all) { // nobody is awaited any more
        close(l->listener);
        l->listener = -1;
    }
}

// ---- Streams ----

size_t cli_link_send(struct cli_links *l, int32_t to, const void *bytes, size_t n) {
    struct cli_link *k = &l->at[to];
    if (k->is_mute || k->state == CLI_LINK_BROKEN)
        return n;
    if (k->state != CLI_LINK_OPEN)
        return 0;
    ssize_t done = send(k->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done < 0 && errno != EAGAIN && errno != EINTR) {
        k->is_mute = true;
        return n;
    }
    return done > 0 ? (size_t)done : 0;
}

size_t cli_link_receive(struct cli_links *l, int32_t from, void *bytes, size_t n) {
    struct cli_link *k = &l->at[from];
    if (k->state != CLI_LINK_OPEN && (k->state != CLI_LINK_GREETED || from < l->rank))
        return 0;
    ssize_t done = recv(k->fd, bytes, n, MSG_DONTWAIT);
    if (done > 0 && k->state == CLI_LINK_GREETED)
        set_state(k, CLI_LINK_OPEN);
    if (done == 0 || (done < 0 && errno != EAGAIN && errno != EINTR))
        set_state(k, k->state == CLI_LINK_OPEN ? CLI_LINK_BROKEN : CLI_LINK_APART);
    return done > 0 ? (size_t)done : 0;
}

bool cli_link_is_broken(const struct cli_links *l, int32_t member) {
    return l->at[member].state == CLI_LINK_BROKEN;
}

void cli_link_break(struct cli_links *l, int32_t member) {
    set_state(&l->at[member], CLI_LINK_BROKEN);
}

void cli_link_wait(struct cli_links *l, int milliseconds) {
    nfds_t n = 0;
    for (int32_t k = 0; k < l->n; k++)
        if (l->at[k].state == CLI_LINK_OPEN)
            l->polled[n++] = (struct pollfd){l->at[k].fd, POLLIN, 0};
    poll(l->polled, n, milliseconds);
}

void cli_link_close(struct cli_links *l) {
    for (int32_t k = 0; k < l->n; k++)
        set_state(&l->at[k], CLI_LINK_BROKEN);
    while (l->n_strangers > 0)
        close(l->stranger[--l->n_strangers].fd);
    if (l->listener >= 0)
        close(l->listener);
    l->listener = -1;
}
