// Searches that work together, here on threads: they agree on the incumbent, give the same strategy
// every time, end together at a signal, and go on when one of them fails.
#include "tests/unit/random_placement.h"

#include <pthread.h>
#include <stdlib.h>

#include "solver/place.h"

enum { RANKS = 3, MESSAGES = 4096 };

// Messages from each to each, in order.
struct post {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct message {
        char *bytes;
        size_t n;
    } box[RANKS][RANKS][MESSAGES];
    int n_sent[RANKS][RANKS], n_read[RANKS][RANKS];
    int n_until_failure[RANKS]; // exchanges; -1: it does not fail
};

struct member {
    struct post *post;
    int32_t rank;
    const struct placement *p;
    struct place_options options;
    struct stop stop;
    struct scene scene;
    struct place_result result;
    status st;
};

static bool has_failed(const struct post *post, int32_t rank) {
    return post->n_until_failure[rank] == 0;
}

static void send_message(struct post *post, int32_t from, int32_t to, const void *bytes, size_t n) {
    assert_true(post->n_sent[from][to] < MESSAGES);
    struct message *m = &post->box[from][to][post->n_sent[from][to]++];
    m->bytes = malloc(n);
    m->n = n;
    memcpy(m->bytes, bytes, n);
}

static const void *exchange(void *context, int32_t peer, const void *bytes, size_t n_bytes,
                            size_t *n_received) {
    struct member *m = context;
    struct post *post = m->post;
    pthread_mutex_lock(&post->lock);
    int k = post->n_read[peer][m->rank];
    if (!has_failed(post, m->rank))
        send_message(post, m->rank, peer, bytes, n_bytes);
    pthread_cond_broadcast(&post->changed);
    while (post->n_sent[peer][m->rank] <= k && !has_failed(post, peer) &&
           !has_failed(post, m->rank))
        pthread_cond_wait(&post->changed, &post->lock);
    bool is_there = post->n_sent[peer][m->rank] > k && !has_failed(post, m->rank);
    post->n_read[peer][m->rank] += is_there;
    struct message got = is_there ? post->box[peer][m->rank][k] : (struct message){0};
    if (post->n_until_failure[m->rank] > 0 && --post->n_until_failure[m->rank] == 0)
        pthread_cond_broadcast(&post->changed);
    pthread_mutex_unlock(&post->lock);
    *n_received = got.n;
    return got.bytes;
}

static void *run_member(void *context) {
    struct member *m = context;
    struct team team = {m->rank, RANKS, m, exchange};
    struct place_hooks hooks = {.stop = &m->stop};
    m->options.team = &team;
    scene_open(&m->scene);
    m->st = place(m->p, &m->options, &hooks, &m->scene.arena, &m->scene.diags, &m->result);
    return NULL;
}

static struct member *make_team(const struct placement *p, int32_t n_chains) {
    struct member *m = calloc(RANKS, sizeof *m);
    struct post *post = calloc(1, sizeof *post);
    pthread_mutex_init(&post->lock, NULL);
    pthread_cond_init(&post->changed, NULL);
    for (int32_t k = 0; k < RANKS; k++) {
        post->n_until_failure[k] = -1;
        m[k] = (struct member){.post = post,
                               .rank = k,
                               .p = p,
                               .options = place_defaults(),
                               .stop = {.deadline_ns = STOP_NEVER}};
        m[k].options.work = RANKS * n_chains * 36000 + 1;
        m[k].options.n_chains = n_chains;
        m[k].options.threads = 1;
        m[k].options.seconds = 0;
    }
    return m;
}

static void run_team(struct member *m) {
    pthread_t thread[RANKS];
    for (int32_t k = 0; k < RANKS; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, run_member, &m[k]), 0);
    for (int32_t k = 0; k < RANKS; k++)
        pthread_join(thread[k], NULL);
}

static void free_team(struct member *m) {
    struct post *post = m->post;
    for (int i = 0; i < RANKS * RANKS; i++)
        for (int k = 0; k < post->n_sent[i / RANKS][i % RANKS]; k++)
            free(post->box[i / RANKS][i % RANKS][k].bytes);
    for (int32_t k = 0; k < RANKS; k++)
        scene_close(&m[k].scene);
    pthread_cond_destroy(&post->changed);
    pthread_mutex_destroy(&post->lock);
    free(post);
    free(m);
}

static void open_problem(struct scene *s, struct placement *p) {
    const struct random_shape shape = {
        .max_nodes = 40, .n_devices = 3, .groups = true, .sizes = true, .memory = 150};
    scene_open(s);
    random_placement(s, 11, &shape, p);
}

static void the_same_every_time(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    open_problem(&s, &p);
    struct member *a = make_team(&p, 2), *b = make_team(&p, 2);
    run_team(a);
    run_team(b);
    for (int k = 0; k < RANKS; k++) {
        const struct place_result *x = &a[k].result, *y = &b[k].result;
        assert_int_equal(a[k].st, ST_OK);
        assert_int_equal(b[k].st, ST_OK);
        assert_true(x->value == a[0].result.value); // all know the best
        assert_int_equal(x->n_proposals, a[0].result.n_proposals);
        assert_int_equal(x->n_left, 0);
        assert_int_equal(x->n_refused, 0);
        assert_int_equal(x->best.n, y->best.n);
        assert_memory_equal(x->best.at, y->best.at, (size_t)x->best.n * sizeof *x->best.at);
    }
    assert_true(a[0].result.n_proposals >= a[0].options.work);
    assert_true(a[0].result.n_exchanges > 0);
    free_team(a);
    free_team(b);
    scene_close(&s);
}

// Whichever fails, at whichever meeting: the others end with a strategy, and agree.
static void the_others_go_on(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    open_problem(&s, &p);
    for (int victim = 0; victim < RANKS; victim++)
        for (int n_meetings = 0; n_meetings < 3; n_meetings++) {
            struct member *m = make_team(&p, 1);
            m->post->n_until_failure[victim] = n_meetings * (RANKS - 1);
            run_team(m);
            int one = victim == 0 ? 1 : 0, other = 3 - victim - one;
            assert_int_equal(m[one].st, ST_OK);
            assert_int_equal(m[other].st, ST_OK);
            assert_true(m[one].result.value == m[other].result.value);
            assert_int_equal(m[one].result.n_left, 1);
            assert_int_equal(m[other].result.n_left, 1);
            assert_int_equal(m[one].result.n_refused, 0);
            free_team(m);
        }
    scene_close(&s);
}

// A signal to one rank ends all of them, long before the work is done.
static void a_signal_ends_all(void **state) {
    (void)state;
    struct scene s;
    struct placement p;
    open_problem(&s, &p);
    for (int first = 0; first < RANKS; first++) {
        struct member *m = make_team(&p, 1);
        for (int k = 0; k < RANKS; k++)
            m[k].options.work = INT64_MAX / 2;
        stop_raise(&m[first].stop, 15);
        run_team(m);
        for (int k = 0; k < RANKS; k++) {
            assert_int_equal(m[k].st, ST_OK);
            assert_int_equal(atomic_load(&m[k].stop.raised), 15);
            assert_true(m[k].result.value == m[0].result.value);
        }
        free_team(m);
    }
    scene_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_every_time),
                                       cmocka_unit_test(the_others_go_on),
                                       cmocka_unit_test(a_signal_ends_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
