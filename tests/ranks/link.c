// Streams between members, all of them in this process: they find each other, carry messages whole
// and in order, and break alone.
#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frontend/cli/cli_post.h"

enum { MEMBERS = 3, LARGE = 5000000, TURNS = 20000 };

struct team_of_links {
    struct scene scene;
    struct cli_links links[MEMBERS];
    struct cli_link_card card[MEMBERS];
    struct cli_post post[MEMBERS][MEMBERS]; // of each with each
};

static void listen_all(struct team_of_links *t) {
    memset(t, 0, sizeof *t);
    scene_open(&t->scene);
    for (int k = 0; k < MEMBERS; k++)
        assert_true(cli_link_listen(&t->links[k], &t->card[k]));
}

static void begin_all(struct team_of_links *t) {
    for (int32_t k = 0; k < MEMBERS; k++)
        assert_true(cli_link_begin(&t->links[k], k, MEMBERS, t->card, &t->scene.arena));
}

static void close_all(struct team_of_links *t) {
    for (int k = 0; k < MEMBERS; k++) {
        cli_link_close(&t->links[k]);
        for (int i = 0; i < MEMBERS; i++)
            cli_post_close(&t->scene.mem, &t->post[k][i]);
    }
    scene_close(&t->scene);
}

// One turn of a member; the next message of `from`, if it is whole.
static struct cli_message *turn(struct team_of_links *t, int32_t member, int32_t from) {
    struct cli_message *m = NULL;
    bool heard;
    cli_link_meet(&t->links[member]);
    for (int32_t k = 0; k < MEMBERS; k++)
        if (k != member)
            cli_post_send(&t->scene.mem, &t->post[member][k], &t->links[member], k);
    if (from >= 0)
        m = cli_post_receive(&t->scene.mem, &t->post[member][from], &t->links[member], from,
                             &heard);
    return m;
}

// All take turns until `to` has a message of `from`.
static struct cli_message *await(struct team_of_links *t, int32_t from, int32_t to) {
    for (int i = 0; i < TURNS; i++) {
        struct cli_message *m = NULL;
        for (int32_t k = 0; k < MEMBERS && !m; k++)
            m = turn(t, k, k == to ? from : -1);
        if (m)
            return m;
        usleep(200);
    }
    fail_msg("nothing came from %d to %d", from, to);
    return NULL;
}

static void put(struct team_of_links *t, int32_t from, int32_t to, int64_t kind, const void *bytes,
                size_t n) {
    assert_true(cli_post_put(&t->scene.mem, &t->post[from][to], kind, bytes, n));
}

// The caller speaks first: see cli_link.c.
static void greet_all(struct team_of_links *t) {
    for (int32_t from = 0; from < MEMBERS; from++)
        for (int32_t to = 0; to < MEMBERS; to++)
            if (from != to)
                put(t, from, to, 10 * from + to, NULL, 0);
    for (int32_t from = MEMBERS - 1; from >= 0; from--)
        for (int32_t to = 0; to < MEMBERS; to++)
            if (from != to) {
                struct cli_message *m = await(t, from, to);
                assert_int_equal(m->header.kind, 10 * from + to);
                cli_post_free(&t->scene.mem, m);
            }
}

static void everybody_meets_everybody(void **state) {
    (void)state;
    struct team_of_links t;
    listen_all(&t);
    begin_all(&t);
    greet_all(&t);
    char *large = malloc(LARGE);
    for (int i = 0; i < LARGE; i++)
        large[i] = (char)(i * 7 + i / 251);
    for (int64_t kind = 0; kind < 3; kind++)
        put(&t, 0, 2, kind, large, kind == 1 ? LARGE : (size_t)kind);
    for (int64_t kind = 0; kind < 3; kind++) {
        struct cli_message *m = await(&t, 0, 2);
        assert_int_equal(m->header.kind, kind);
        assert_int_equal(m->header.n_bytes, kind == 1 ? LARGE : kind);
        assert_memory_equal(m->bytes, large, (size_t)m->header.n_bytes);
        cli_post_free(&t.scene.mem, m);
    }
    free(large);
    for (int k = 0; k < MEMBERS; k++) // nobody else is awaited
        assert_int_equal(t.links[k].listener, -1);
    close_all(&t);
}

// An address that leads nowhere, and one where somebody else listens.
static void wrong_addresses_are_passed_over(void **state) {
    (void)state;
    struct team_of_links t;
    struct cli_links other;
    struct cli_link_card elsewhere;
    listen_all(&t);
    assert_true(cli_link_listen(&other, &elsewhere));
    struct cli_link_card *c = &t.card[0];
    c->n_addresses = 3;
    inet_pton(AF_INET6, "::ffff:240.0.0.1", &c->address[0]);
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &c->address[1]);
    c->address[2] = c->address[1];
    uint16_t port = c->port;
    begin_all(&t);
    c->port = elsewhere.port; // which accepts, and does not answer
    for (int i = 0; i < TURNS && t.links[1].at[0].state != CLI_LINK_GREETED; i++) {
        for (int32_t k = 0; k < MEMBERS; k++)
            assert_null(turn(&t, k, -1));
        usleep(200);
    }
    assert_int_equal(t.links[1].at[0].state, CLI_LINK_GREETED);
    c->port = port;
    greet_all(&t);
    cli_link_close(&other);
    close_all(&t);
}

static void strangers_are_not_let_in(void **state) {
    (void)state;
    struct team_of_links t;
    listen_all(&t);
    begin_all(&t);
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons(t.card[0].port),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char lie[24] = {0}; // as long as a greeting, from 0 to 0, without the secret
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(send(fd, lie, sizeof lie, 0), sizeof lie);
    greet_all(&t);
    assert_true(recv(fd, lie, sizeof lie, 0) <= 0); // and they are told nothing
    close(fd);
    close_all(&t);
}

// What it has sent arrives, then the stream is broken; the others are not.
static void one_that_leaves_breaks_its_streams_alone(void **state) {
    (void)state;
    struct team_of_links t;
    listen_all(&t);
    begin_all(&t);
    greet_all(&t);
    put(&t, 1, 0, 5, "last", 4);
    turn(&t, 1, -1);
    cli_link_close(&t.links[1]);
    put(&t, 0, 1, 6, "to the dead", 11); // must not end this process
    struct cli_message *m = await(&t, 1, 0);
    assert_int_equal(m->header.kind, 5);
    cli_post_free(&t.scene.mem, m);
    for (int i = 0; i < TURNS && !cli_link_is_broken(&t.links[0], 1); i++) {
        put(&t, 0, 1, 6, "to the dead", 11);
        assert_null(turn(&t, 0, 1));
        usleep(200);
    }
    assert_true(cli_link_is_broken(&t.links[0], 1));
    put(&t, 0, 2, 7, NULL, 0);
    m = await(&t, 0, 2);
    assert_int_equal(m->header.kind, 7);
    cli_post_free(&t.scene.mem, m);
    close_all(&t);
}

// Nor does a message without sense, or without room for it.
static void nonsense_breaks_a_stream(void **state) {
    (void)state;
    static const int64_t sizes[] = {-1, (int64_t)1 << 40};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct team_of_links t;
        listen_all(&t);
        begin_all(&t);
        greet_all(&t);
        struct cli_message_header header = {1, sizes[k]};
        assert_int_equal(cli_link_send(&t.links[1], 0, &header, sizeof header), sizeof header);
        for (int i = 0; i < TURNS && !cli_link_is_broken(&t.links[0], 1); i++) {
            assert_null(turn(&t, 0, 1));
            usleep(200);
        }
        assert_true(cli_link_is_broken(&t.links[0], 1));
        close_all(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_meets_everybody),
        cmocka_unit_test(wrong_addresses_are_passed_over),
        cmocka_unit_test(strangers_are_not_let_in),
        cmocka_unit_test(one_that_leaves_breaks_its_streams_alone),
        cmocka_unit_test(nonsense_breaks_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
